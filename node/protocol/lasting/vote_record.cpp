#include "node/protocol/lasting/vote_record.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

bool IsOpen(const std::vector<wire::Case>& open, const wire::CaseId& id) {
  return std::any_of(open.begin(), open.end(), [&](const wire::Case& c) { return c.id == id; });
}

}  // namespace

void VoteRecord::Note(const base::PeerId& voter, const wire::SharedMessage& proof,
                      const wire::Proof& body, const std::vector<wire::Case>& open) {
  for (const wire::Vote& vote : body.votes) {
    if (!evidence::CondemnedBy(vote) || !IsOpen(open, vote.about)) continue;
    cases_[vote.about].try_emplace(voter, Ballot{vote.verdict, proof});
  }
}

base::StatusOr<base::Bytes> VoteRecord::ProofAgainst(const base::PeerId& accused,
                                                     const evidence::KnownRun& run) const {
  base::Status why = base::NotFound("no vote condemns it");
  for (const auto& [id, ballots] : cases_) {
    std::vector<base::SharedBytes> frames;
    for (const auto& [voter, ballot] : ballots) {
      const auto banned = evidence::BannedBy({id, ballot.verdict}, run);
      if (banned == accused && voter != accused) frames.push_back(ballot.proof->frame);
    }
    if (frames.empty()) continue;
    auto made = evidence::MakeVerdict(accused, frames, run);
    if (made.ok()) return made;
    why = made.status();
  }
  return why;
}

void VoteRecord::ForgetAllBut(const std::vector<wire::Case>& open) {
  std::erase_if(cases_, [&](const auto& entry) { return !IsOpen(open, entry.first); });
  OSTRAKA_CHECK(cases_.size() <= open.size());  // V1
}

void VoteRecord::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, cases_); }

}  // namespace ostraka::protocol
