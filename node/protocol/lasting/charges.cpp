#include "node/protocol/lasting/charges.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/rules/judgement.h"
#include "node/wire/limits.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;

namespace {

constexpr std::uint32_t kLockReach = 4;  // iterations between a LOCK and the VOTE against it

}  // namespace

void Charges::Keep(const base::StatusOr<Bytes>& made) {
  if (made.ok()) journal_.StoreEvidence(*made);
}

// Two large PROOFs of one slot make a file that no frame may carry. Seal C shows that fault itself,
// if it is in time.
void Charges::Show(const PeerId& accused, base::StatusOr<Bytes> made) {
  if (accused == self_ || !made.ok() || shown_.contains(accused)) return;
  Keep(made);
  if (made->size() <= wire::kMaxEvidenceBytes) shown_.emplace(accused, *std::move(made));
}

void Charges::ShowEquivocation(const Inbox::Item& item) {
  auto made = evidence::MakeEquivocation(*item.message->frame, *item.rivals.front().message->frame);
  OSTRAKA_CHECK(made.ok());  // the inbox holds two verified frames of one slot
  Show(item.message->envelope.sender, std::move(made));
}

bool Charges::FindBrokenLock(const Inbox& inbox, const wire::SignedEnvelope& message) {
  const wire::Slot& slot = message.envelope.slot;
  const PeerId& sender = message.envelope.sender;
  const bool is_vote = slot.type == MessageType::kVote;
  if ((!is_vote && slot.type != MessageType::kLock) || sender == self_) return false;
  Inbox::Place other = Inbox::PlaceOf(slot);
  other.type = is_vote ? MessageType::kLock : MessageType::kVote;
  // The inbox holds no more than a few iterations back or ahead.
  for (std::uint32_t apart = 1; apart <= kLockReach; ++apart) {
    if (is_vote && slot.iteration <= apart) return false;
    other.iteration = is_vote ? slot.iteration - apart : slot.iteration + apart;
    const Inbox::Item* held = inbox.Find(other, sender);
    if (held == nullptr) continue;
    const SharedBytes& lock = is_vote ? held->message->frame : message.frame;
    const SharedBytes& vote = is_vote ? message.frame : held->message->frame;
    auto made = evidence::MakeBrokenLock(*lock, *vote);
    if (!made.ok()) continue;
    Show(sender, std::move(made));
    return true;
  }
  return false;
}

void Charges::ProveImpossibleNumbers(const SealedStep& sealed, const Block& head,
                                     const std::map<PeerId, wire::SharedMessage>& proofs) {
  SealedFaults impossible;
  FindImpossibleMessages(sealed, head, impossible);
  for (const auto& [member, proof] : proofs) {
    if (impossible.contains(member)) Keep(evidence::MakeImpossibleNumbers(*proof->frame));
  }
}

bool Charges::AreEnough(const Block& head, const std::vector<PeerId>& signers) const {
  const bool bans =
      std::any_of(head.removals.begin(), head.removals.end(),
                  [](const wire::Removal& removal) { return wire::IsBan(removal.kind); });
  // C4: the genesis, as long as enough of it are left to judge.
  const bool by_genesis = Handovers::Suffice(handovers_.genesis(), head.members);
  const evidence::KnownRun& judges = by_genesis ? handovers_.genesis() : handovers_.view();
  if (bans && !Handovers::Suffice(judges, signers)) return false;
  return !handovers_.AwaitsCommits(head) || Handovers::Suffice(handovers_.view(), signers);
}

// More members of a view than can be at fault convince whoever knows it. Where fewer are left the
// votes convince, if more than can be at fault voted.
void Charges::ProveBlock(const Block& head, const std::vector<SharedBytes>& commits) {
  for (const wire::Removal& removal : head.removals) {
    if (!wire::IsBan(removal.kind)) continue;
    const auto made = ByJudges([&](const evidence::KnownRun& judges) {
      return evidence::MakeSealedBan(removal.peer, head, commits, judges);
    });
    Keep(made);
    if (made.ok()) verdicts_.erase(removal.peer);
  }
  StoreVerdicts();
  handovers_.Extend(head, commits);
}

template <typename Make>
base::StatusOr<Bytes> Charges::ByJudges(const Make& make) const {
  auto made = make(handovers_.genesis());
  return made.ok() ? std::move(made) : make(handovers_.view());
}

void Charges::TakeVotes(const SealedStep& sealed,
                        const std::map<PeerId, wire::SharedMessage>& proofs, const Block& head,
                        const Block& block) {
  for (const auto& [member, body] : sealed.proofs) {
    votes_.Note(member, proofs.at(member), body, head.cases);
  }
  StoreVerdicts();
  for (const wire::Removal& removal : block.removals) {
    if (removal.kind != wire::RemovalKind::kVerdict) continue;
    auto made = ByJudges([&](const evidence::KnownRun& judges) {
      return votes_.ProofAgainst(removal.peer, judges);
    });
    if (made.ok()) verdicts_.emplace(removal.peer, *std::move(made));
  }
  votes_.ForgetAllBut(block.cases);
}

void Charges::StoreVerdicts() {
  for (auto& [accused, file] : verdicts_) Keep(std::move(file));
  verdicts_.clear();
}

std::vector<Bytes> Charges::ForProof() const {
  std::vector<Bytes> files;
  for (const auto& [accused, file] : shown_) {
    if (files.size() < wire::kMaxInlineEvidence) files.push_back(file);
  }
  return files;
}

void Charges::CheckInvariants() const {
  handovers_.CheckInvariants();
  OSTRAKA_CHECK(!shown_.contains(self_));              // C3
  OSTRAKA_CHECK(shown_.size() <= KeysIn(*manifest_));  // C2
  for (const auto& [accused, file] : shown_) OSTRAKA_CHECK(file.size() <= wire::kMaxEvidenceBytes);
}

void Charges::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, handovers_, shown_, votes_, verdicts_);
}

}  // namespace ostraka::protocol
