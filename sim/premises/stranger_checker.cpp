#include "sim/premises/stranger_checker.h"

#include <algorithm>
#include <string>

#include "node/wire/evidence_codec.h"

namespace ostraka::sim {
namespace {

// Blocks after a change of the members by which a handover proves it. The next seal A may lack the
// COMMITs that it takes, while members are absent; the one after it has others.
constexpr std::uint64_t kProvenWithin = 6;

bool IsOfJudges(const base::Bytes& bytes) {
  const auto file = wire::DecodeEvidence(bytes);
  return file.ok() && !evidence::IsOwnWord(file->kind);
}

}  // namespace

base::Status StrangerChecker::OnAction(std::uint32_t peer, const protocol::Action& action) {
  if (const auto* done = Observed<protocol::StepDone>(action)) OnBlock(*done->block);
  const auto* store = std::get_if<protocol::Store>(&action);
  if (store == nullptr) return base::OkStatus();
  for (const protocol::Record& record : store->records) {
    if (record.kind == protocol::RecordKind::kHandover) handovers_.insert({peer, record.value});
    const bool is_file = record.kind == protocol::RecordKind::kEvidence;
    if (is_file && IsOfJudges(record.value)) files_.insert({peer, record.value});
  }
  return base::OkStatus();
}

void StrangerChecker::OnBlock(const wire::Block& block) {
  if (HeightOf(block) <= height_) return;
  height_ = HeightOf(block);
  if (block.members != members_) changed_ = height_;
  members_ = block.members;
}

base::Status StrangerChecker::AtEnd() {
  std::vector<base::Bytes> handovers;
  for (const Stored& stored : handovers_) handovers.push_back(stored.file);
  const auto views = evidence::FollowAll(genesis_, handovers);
  if (!views.ok()) return base::FailedPrecondition(base::MessageOf(views.status()));
  RETURN_IF_ERROR(CheckHandovers(*views));
  RETURN_IF_ERROR(CheckFiles(*views));
  const bool is_proven = views->back().members == members_;
  if (is_proven || height_ < changed_ + kProvenWithin) return base::OkStatus();
  return base::FailedPrecondition("no handover leads to the members since step " +
                                  std::to_string(changed_ - 1));
}

base::Status StrangerChecker::CheckHandovers(const evidence::Views& views) const {
  for (const Stored& stored : handovers_) {
    const auto handover = wire::DecodeHandover(stored.file);
    if (!handover.ok()) return handover.status();
    ASSIGN_OR_RETURN(const wire::Block block, wire::DecodeBlock(handover->block));
    const bool leads = std::any_of(views.begin(), views.end(), [&](const auto& view) {
      return view.since == HeightOf(block) && view.members == block.members;
    });
    if (leads) continue;
    return base::FailedPrecondition(Named(roster_, stored.peer) + " stored a handover of step " +
                                    std::to_string(block.step) +
                                    " that leads on from no view since the genesis");
  }
  return base::OkStatus();
}

base::Status StrangerChecker::CheckFiles(const evidence::Views& views) const {
  for (const Stored& stored : files_) {
    const evidence::Finding finding = evidence::VerifyInViews(stored.file, views);
    if (finding.outcome == evidence::Outcome::kProven) continue;
    return base::FailedPrecondition(Named(roster_, stored.peer) + " stored a " +
                                    evidence::EvidenceKindName(finding.kind) + " of step " +
                                    std::to_string(finding.slot.step) + ": " + finding.reason);
  }
  return base::OkStatus();
}

}  // namespace ostraka::sim
