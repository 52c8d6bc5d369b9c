#include "tests/property/naive_step.h"

#include <algorithm>

#include "crypto/commitment.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol::naive {
namespace {

using State = Entry::State;

// docs/protocol/removals.md, "What the seals prove": an entry that is not present. Absence drops,
// and the member owes nothing more in the step; two messages of a slot ban.
void JudgeEntry(Step& step, const PeerId& member, const Entry& entry, const std::string& type,
                Gravity absence = Gravity::kDrop) {
  if (entry.state == State::kAbsent) {
    step.absent.insert(member);
    Drop(step, kSeals, member, "sealed absent: its " + type + " did not come", absence);
  }
  if (entry.state == State::kEquivocated) {
    Ban(step, kSeals, member, wire::RemovalKind::kEvidence,
        "signed two different " + type + "s of one slot");
  }
}

void BanForBody(Step& step, const PeerId& member, const std::string& type) {
  Ban(step, kSeals, member, wire::RemovalKind::kEvidence, "its " + type + " is malformed");
}

// docs/protocol/step.md, "Counts of batches".
bool CountsRight(const Step& step, const wire::Commit& commit) {
  const TrainingPlan& plan = step.manifest->training;
  if (plan.batches == plan.most_batches) return commit.next_batches == 0;
  return commit.next_batches >= plan.batches && commit.next_batches <= plan.most_batches;
}

// docs/protocol/step.md, the row COMMIT: as many coins as members, and a gradient if and only if
// the sender works.
void ReadCommit(Step& step, const PeerId& member, const wire::SharedMessage& message) {
  step.commit_digests[member] = message->digest;
  const auto body = wire::Decode<wire::Commit>(message->envelope.body);
  const bool good = body.ok() && body->coin_count == step.last->members.size() &&
                    body->gradient_root.has_value() == Has(step.roles.workers, member) &&
                    body->parameters_root.has_value() == IsExact(step) && CountsRight(step, *body);
  if (good) {
    step.commits[member] = *body;
  } else {
    BanForBody(step, member, "COMMIT");
  }
}

// docs/protocol/step.md, the row AGG: about the column that the sender owns.
void ReadAggregate(Step& step, const PeerId& member, std::size_t column,
                   const wire::SharedMessage& message) {
  const auto body = wire::Decode<wire::Aggregate>(message->envelope.body);
  if (body.ok() && body->part_index == column) {
    step.aggregates[column] = *body;
  } else {
    BanForBody(step, member, "AGG");
  }
}

// docs/protocol/step.md, "The run's parameters": those that at least F + 1 COMMITs name, and more
// than name any others. A member that names others is dropped.
void CompareParameters(Step& step) {
  std::optional<Digest> agreed;
  for (const auto& entry : step.commits) {
    const auto named = [&step](const std::optional<Digest>& by) {
      return std::count_if(step.commits.begin(), step.commits.end(),
                           [&by](const auto& one) { return one.second.parameters_root == by; });
    };
    const auto& root = entry.second.parameters_root;
    const auto same = named(root);
    if (same < static_cast<std::ptrdiff_t>(step.fault_bound) + 1) continue;
    const bool is_most =
        std::all_of(step.commits.begin(), step.commits.end(), [&](const auto& one) {
          return one.second.parameters_root == root || named(one.second.parameters_root) < same;
        });
    if (is_most) agreed = root;
  }
  if (!agreed) return;
  for (const auto& [member, commit] : step.commits) {
    if (commit.parameters_root == agreed) continue;
    step.other_parameters.insert(member);
    Drop(step, kSeals, member, "its COMMIT names other parameters than the run's");
  }
}

// docs/protocol/step.md: SEAL A fixes COMMITs and AGGs.
void ReadSealA(Step& step, const Sealed& sealed) {
  for (std::size_t i = 0; i < step.last->members.size(); ++i) {
    const PeerId& member = step.last->members[i];
    std::optional<std::size_t> column;
    for (std::size_t j = 0; j < step.columns(); ++j) {
      if (step.roles.owners[j] == member) column = j;
    }
    const Entry& commit = sealed.commits[i];
    const Entry& aggregate = sealed.aggregates[i];
    JudgeEntry(step, member, commit, "COMMIT");
    if (column) JudgeEntry(step, member, aggregate, "AGG");
    if (commit.state == State::kEquivocated) step.two_commits.insert(member);
    if (commit.state != State::kPresent) step.missing_in_a.insert(member);
    if (column && aggregate.state != State::kPresent) step.missing_in_a.insert(member);
    if (commit.state == State::kPresent) ReadCommit(step, member, commit.message);
    if (column && aggregate.state == State::kPresent) {
      ReadAggregate(step, member, *column, aggregate.message);
    }
  }
  if (IsExact(step)) CompareParameters(step);
}

bool OpensItsCommit(const Step& step, const PeerId& member, std::size_t draw,
                    const wire::SharedMessage& message, Digest& coin) {
  const auto reveal = wire::Decode<wire::Reveal>(message->envelope.body);
  if (!reveal.ok()) return false;
  coin = reveal->opening.coin.value;
  const wire::Commit& commit = step.commits.at(member);
  return crypto::VerifyOpening(member, step.number, draw, commit.coin_count, commit.coins_root,
                               reveal->opening);
}

// docs/protocol/step.md, "The coin". A draw is good if every member that owes its coin shows it; a
// member that spoils a draw is left out of all further ones. True once there is a coin.
bool ReadSealB(Step& step, const Sealed& sealed) {
  std::set<PeerId> spoilers;
  for (std::size_t draw = 0; draw < sealed.reveals.size(); ++draw) {
    std::map<PeerId, Digest> coins;
    bool spoilt = false;
    for (std::size_t i = 0; i < step.last->members.size(); ++i) {
      const PeerId& member = step.last->members[i];
      const Entry& entry = sealed.reveals[draw][i];
      const bool owes = step.commits.contains(member) && !step.absent.contains(member) &&
                        !spoilers.contains(member);
      if (!owes) continue;
      Digest coin;
      if (entry.state == State::kPresent &&
          OpensItsCommit(step, member, draw, entry.message, coin)) {
        coins[member] = coin;
        continue;
      }
      spoilt = true;
      spoilers.insert(member);
      JudgeEntry(step, member, entry, "REVEAL", Gravity::kDropAtReveal);
      if (entry.state == State::kPresent) {
        Ban(step, kSeals, member, wire::RemovalKind::kEvidence,
            "its REVEAL does not open its COMMIT");
      }
    }
    if (spoilt || coins.empty()) continue;
    step.randomness = RandomnessOf(step.manifest->run_id, step.number, coins);
    return true;
  }
  return false;
}

// docs/protocol/step.md, the row PROOF: a worker states numbers of every column, any other member
// of none.
void ReadSealC(Step& step, const Sealed& sealed) {
  for (std::size_t i = 0; i < step.last->members.size(); ++i) {
    const PeerId& member = step.last->members[i];
    if (step.absent.contains(member) || step.two_commits.contains(member)) continue;
    JudgeEntry(step, member, sealed.proofs[i], "PROOF");
    if (sealed.proofs[i].state != State::kPresent) continue;
    const auto body = wire::Decode<wire::Proof>(sealed.proofs[i].message->envelope.body);
    const std::size_t owed = Has(step.roles.workers, member) ? step.columns() : 0;
    if (body.ok() && body->columns.size() == owed) {
      step.proofs[member] = *body;
    } else {
      BanForBody(step, member, "PROOF");
    }
  }
}

// docs/protocol/removals.md: inline evidence of this run is judged from its bytes alone.
void ReadEvidence(Step& step, crypto::Verifier& verifier) {
  for (const auto& [member, proof] : step.proofs) {
    for (const base::Bytes& file : proof.evidence) {
      const evidence::Finding finding = evidence::Verify(file, verifier);
      const bool proven = finding.outcome == evidence::Outcome::kProven;
      if (!proven || finding.slot.run_id != step.manifest->run_id) continue;
      Ban(step, kSeals, finding.accused, wire::RemovalKind::kEvidence,
          wire::TextOf({.cause = wire::Cause::kEvidence,
                        .count = static_cast<std::uint64_t>(finding.kind)}));
    }
  }
}

}  // namespace

bool IsMember(const Step& step, const PeerId& peer) { return Has(step.last->members, peer); }

bool MayBeBanned(const Step& step, const PeerId& peer) {
  bool known = IsMember(step, peer);
  for (const wire::Standing& standing : step.last->standings) {
    if (standing.peer == peer && standing.banned) return false;
    known = known || standing.peer == peer;
  }
  return known;
}

void Drop(Step& step, Pass pass, const PeerId& peer, const std::string& reason, Gravity gravity) {
  if (!IsMember(step, peer)) return;
  step.losses.push_back({pass, peer, gravity, wire::RemovalKind::kDrop, reason});
}

void Ban(Step& step, Pass pass, const PeerId& peer, wire::RemovalKind kind,
         const std::string& reason) {
  if (!MayBeBanned(step, peer)) return;
  step.losses.push_back({pass, peer, Gravity::kBan, kind, reason});
}

void Suspend(Step& step, Pass pass, const PeerId& peer, const std::string& reason) {
  if (!MayBeBanned(step, peer)) return;
  step.losses.push_back({pass, peer, Gravity::kSuspension, wire::RemovalKind::kDrop, reason});
}

bool IsExact(const Step& step) { return step.manifest->compute_profile == "exact/1"; }

bool StaysBefore(const Step& step, Pass pass, const PeerId& peer) {
  for (const Loss& loss : step.losses) {
    if (loss.peer == peer && loss.pass < pass) return false;
  }
  return IsMember(step, peer);
}

bool IsBanned(const Step& step, const PeerId& peer) {
  for (const Loss& loss : step.losses) {
    if (loss.peer == peer && loss.gravity == Gravity::kBan) return true;
  }
  return false;
}

const Loss* WorstOf(const Step& step, const PeerId& peer) {
  const Loss* worst = nullptr;
  for (const Loss& loss : step.losses) {
    if (loss.peer != peer) continue;
    if (worst == nullptr || loss.gravity > worst->gravity) worst = &loss;
  }
  return worst;
}

std::vector<PeerId> Losers(const Step& step) {
  std::set<PeerId> losers;
  for (const Loss& loss : step.losses) losers.insert(loss.peer);
  return {losers.begin(), losers.end()};
}

std::optional<Step> ReadStep(const Block& last, const Manifest& manifest, std::uint64_t dimension,
                             const Sealed& sealed, crypto::Verifier& verifier) {
  Step step;
  step.last = &last;
  step.manifest = &manifest;
  step.number = last.genesis ? 0 : last.step + 1;
  step.fault_bound = std::max(last.thresholds.t_s, last.thresholds.t_a);
  step.roles = AssignRoles(last, dimension);
  step.aggregates.resize(step.columns());
  ReadSealA(step, sealed);
  if (!ReadSealB(step, sealed)) return std::nullopt;
  ReadSealC(step, sealed);
  ReadEvidence(step, verifier);
  return step;
}

}  // namespace ostraka::protocol::naive
