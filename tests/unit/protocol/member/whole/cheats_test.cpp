// A member among others of whom one cheats: each cheat ends as docs/protocol/ says.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "node/protocol/ground/known_run.h"
#include "proofs/evidence/evidence.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/member/whole/four_peers.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::cheats_test {
namespace {

using scene::Cluster;
using scene::ClusterOptions;
using scene::ExpectAllApplied;
using scene::ExpectHonestFinished;
using scene::ExpectNoSuspicionOf;
using scene::kCheat;
using scene::kHonest;
using scene::RemovalsOf;
using scene::Resigned;
using scene::SlotOf;
using scene::Steps;
using wire::MessageType;
using wire::Phase;

// The cheat and nobody else was banned, by `kind`; the others agree to the end.
void ExpectBanned(Cluster& cluster, wire::RemovalKind kind) {
  const auto removals = RemovalsOf(cluster);
  ASSERT_EQ(removals.size(), 1u);
  EXPECT_EQ(removals[0].peer, cluster.node(kCheat).id());
  EXPECT_EQ(removals[0].kind, kind) << wire::TextOf(removals[0].reason);
  ExpectHonestFinished(cluster);
}

void FlipGradients(Cluster& cluster) {
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node != kCheat || !std::holds_alternative<GradientSpec>(spec)) return;
    auto flipped = *std::get<GradientResult>(result).gradient;
    for (float& value : flipped) value *= -3;
    result = GradientResult{std::make_shared<const std::vector<float>>(std::move(flipped))};
  };
}

TEST(CheatTest, AFlippedGradientIsFoundByAValidatorAndBannedByVerdict) {
  Cluster cluster(Steps(30));
  FlipGradients(cluster);
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kVerdict);
  ASSERT_TRUE(cluster.node(kCheat).halted);
  EXPECT_EQ(cluster.node(kCheat).halted->why, Halted::Why::kBanned);
  for (const float x : *cluster.node(0).states.back().parameters) EXPECT_NEAR(x, 1.0, 0.5);
}

// By kind, of files against the cheat that a node stored; all must be proven in this run.
std::set<evidence::EvidenceKind> KindsOf(Cluster& cluster, std::size_t node) {
  std::set<evidence::EvidenceKind> kinds;
  for (const auto& [key, record] : cluster.node(node).durable) {
    if (key.first != RecordKind::kEvidence) continue;
    const auto finding = evidence::VerifyInRun(record.value, KnownRunOf(cluster.manifest()));
    EXPECT_EQ(finding.outcome, evidence::Outcome::kProven) << finding.reason;
    EXPECT_EQ(finding.accused, cluster.node(kCheat).id());
    kinds.insert(finding.kind);
  }
  return kinds;
}

// The block that bans is built on by nobody: the other honest members are gone, and the COMMITs of
// the next step with them. The votes were signed before.
TEST(CheatTest, AVerdictKeepsItsProofThoughNobodyIsLeftToBuildOnIt) {
  Cluster cluster(Steps(30));
  FlipGradients(cluster);
  cluster.Start();
  const auto banned = [&](std::size_t node) {
    const auto& blocks = cluster.node(node).blocks;
    return !blocks.empty() && !blocks.back()->removals.empty();
  };
  cluster.RunUntil([&] { return banned(0) || banned(1) || banned(3); });
  const std::size_t last = banned(0) ? 0 : banned(1) ? 1 : 3;
  EXPECT_TRUE(KindsOf(cluster, last).empty());
  for (const std::size_t other : kHonest) {
    if (other != last) cluster.Kill(other);
  }
  cluster.RunUntil([&] { return !KindsOf(cluster, last).empty(); });
  EXPECT_EQ(KindsOf(cluster, last), std::set{evidence::EvidenceKind::kVerdict});
}

TEST(CheatTest, WhereTheRunGoesOnTheBlockIsTheProof) {
  Cluster cluster(Steps(30));
  FlipGradients(cluster);
  cluster.Start();
  cluster.RunToEnd();
  for (const std::size_t node : kHonest) {
    EXPECT_EQ(KindsOf(cluster, node), std::set{evidence::EvidenceKind::kSealedBan});
  }
}

TEST(CheatTest, AFalseAccuserIsBannedAndTheAccusedIsNot) {
  Cluster cluster(Steps(30));
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node != kCheat || !std::holds_alternative<RecomputeSpec>(spec)) return;
    result = RecomputeResult{.accuse = true, .convict = true, .worst_ratio = 9};
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kVerdict);
}

// Lies of step 1 in the numbers of column 0.
void LieInNumbers(Cluster& cluster, std::function<void(wire::ColumnNumbers&)> lie) {
  auto proofs = std::make_shared<int>(0);
  cluster.on_job = [proofs, lie = std::move(lie)](std::size_t node, const JobSpec& spec,
                                                  JobResult& result) {
    if (node != kCheat || !std::holds_alternative<ProveSpec>(spec) || ++*proofs != 2) return;
    lie(std::get<ProveResult>(result).columns[0]);
  };
}

// True gradients, and in each step a false norm in the column that the cheat owns itself: V1 and V2
// see nothing, and a validator does. The file of a false gradient would prove nothing.
TEST(CheatTest, FalseNumbersStepAfterStepAreBannedAndLeaveNoFileOfAFalseGradient) {
  ClusterOptions options = Steps(30);
  options.edit = [](Manifest& manifest) {
    manifest.compute_profile = kExact;
    manifest.eps_g = 0;
  };
  Cluster cluster(options);
  cluster.on_job = [&](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node != kCheat || !std::holds_alternative<ProveSpec>(spec)) return;
    const Cluster::Node& cheat = cluster.node(kCheat);
    const auto own = cheat.started.back().roles.PartOwnedBy(cheat.id());
    if (own) std::get<ProveResult>(result).columns[*own].norm *= 1.5;
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kVerdict);
  for (const std::size_t node : kHonest) {
    EXPECT_EQ(KindsOf(cluster, node), std::set{evidence::EvidenceKind::kSealedBan});
  }
}

// The same of its gradients: all that voted show them.
TEST(CheatTest, FalseGradientsInTheExactProfileLeaveAFileEach) {
  ClusterOptions options = Steps(30);
  options.edit = [](Manifest& manifest) {
    manifest.compute_profile = kExact;
    manifest.eps_g = 0;
  };
  Cluster cluster(options);
  FlipGradients(cluster);
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kVerdict);
  std::size_t with_file = 0;
  for (const std::size_t node : kHonest) {
    std::set<evidence::EvidenceKind> kinds;
    for (const auto& [key, record] : cluster.node(node).durable) {
      if (key.first != RecordKind::kEvidence) continue;
      kinds.insert(evidence::Verify(record.value).kind);
    }
    EXPECT_TRUE(kinds.contains(evidence::EvidenceKind::kSealedBan));
    with_file += kinds.contains(evidence::EvidenceKind::kGradient) ? 1 : 0;
  }
  EXPECT_EQ(with_file, 2u) << "the third is the accuser, who has no vote";
}

TEST(CheatTest, AFalseSumVoidsItsColumnAndTheAggregatorKnowsTheLiar) {
  Cluster cluster(Steps(8));
  LieInNumbers(cluster, [](wire::ColumnNumbers& numbers) { numbers.s[0] += 1e-4; });
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kVerdict);
  const Cluster::Node& node = cluster.node(0);
  for (std::size_t step = 0; step < node.blocks.size(); ++step) {
    for (std::size_t j = 0; j < node.blocks[step]->columns.size(); ++j) {
      EXPECT_EQ(node.blocks[step]->columns[j],
                step == 1 && j == 0 ? wire::ColumnFate::kSumCheck : wire::ColumnFate::kApplied);
    }
  }
  // Its coordinates stayed as they were, on all peers alike.
  const PartRange part = node.started[1].roles.parts[0];
  for (std::uint64_t c = part.begin; c < part.end; ++c) {
    EXPECT_EQ((*node.states[1].parameters)[c], (*node.states[0].parameters)[c]);
    EXPECT_EQ((*VelocityOf(node.states[1]))[c], (*VelocityOf(node.states[0]))[c]);
  }
  EXPECT_NE((*node.states[1].parameters)[part.end], (*node.states[0].parameters)[part.end]);
  const std::size_t owner = cluster.IndexOf(node.started[1].roles.owners[0]);
  const auto& suspicions = cluster.node(owner).suspicions;
  ASSERT_EQ(suspicions.size(), 1u);
  EXPECT_EQ(suspicions[0].check, "V1");
  EXPECT_EQ(suspicions[0].peer, cluster.node(kCheat).id());
  ExpectNoSuspicionOf(cluster, kHonest);
}

TEST(CheatTest, NumbersThatNoHonestPeerStatesAreBanned) {
  for (const double norm :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    Cluster cluster(Steps(6));
    LieInNumbers(cluster, [norm](wire::ColumnNumbers& numbers) { numbers.norm = norm; });
    cluster.Start();
    cluster.RunToEnd();
    ExpectBanned(cluster, wire::RemovalKind::kEvidence);
    for (const auto& block : cluster.node(0).blocks) EXPECT_TRUE(std::isfinite(block->tau)) << norm;
  }
}

TEST(CheatTest, ASecondCommitShownToOnePeerIsBannedByItsEvidence) {
  Cluster cluster(Steps(6));
  base::SharedBytes commit;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Slot slot = SlotOf(send);
    if (from != kCheat || slot.step != 1 || cluster.IndexOf(send.to) != 0) return true;
    if (slot.type == MessageType::kCommit) commit = send.frame;
    if (slot.type == MessageType::kReveal) {  // seal A is decided
      cluster.Deliver(0, kCheat, Resigned(commit, *cluster.node(kCheat).key, [](wire::Envelope& e) {
                        e.body.push_back(0);
                      }));
    }
    return true;
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kEvidence);
  EXPECT_EQ(RemovalsOf(cluster)[0].step, 1u);
  EXPECT_EQ(cluster.node(0).evidence_stored, 2u) << "the two COMMITs, and the block that bans";
  EXPECT_EQ(cluster.node(1).evidence_stored, 1u) << "the block that bans";
}

// No step follows whose COMMITs prove the ban: the last ones do.
TEST(CheatTest, BanInTheClosingStepHasItsFileToo) {
  constexpr std::uint64_t kClosingStep = 6;
  Cluster cluster(Steps(kClosingStep));
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Slot slot = SlotOf(send);
    if (from != kCheat || slot.step != kClosingStep || wire::IsService(slot.type)) return true;
    if (slot.type != MessageType::kCommit) return false;
    const auto malformed = [](wire::Envelope& envelope) {
      auto commit = *wire::Decode<wire::Commit>(envelope.body);
      commit.coin_count += 1;
      envelope.body = wire::Encode(commit);
    };
    cluster.Deliver(cluster.IndexOf(send.to), from,
                    Resigned(send.frame, *cluster.node(kCheat).key, malformed));
    return false;
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kEvidence);
  EXPECT_EQ(RemovalsOf(cluster)[0].step, kClosingStep);
  EXPECT_TRUE(wire::RunIsOver(*cluster.node(0).blocks.back()));
  for (const std::size_t node : kHonest) {
    EXPECT_EQ(KindsOf(cluster, node), std::set{evidence::EvidenceKind::kSealedBan});
  }
}

// The cheat signs the ECHOs and PROOFs of peer 0 as well, so that the seals are decided: it has no
// machine of its own from here on.
void ShadowPeerZero(Cluster& cluster, const Send& send) {
  const wire::Slot slot = SlotOf(send);
  if (slot.type != MessageType::kEcho && slot.type != MessageType::kProof) return;
  const auto frame = Resigned(send.frame, *cluster.node(kCheat).key, [&](wire::Envelope& envelope) {
    if (slot.type == MessageType::kProof) envelope.body = wire::Encode(wire::Proof{});
  });
  for (const std::size_t i : kHonest) cluster.Deliver(i, kCheat, frame);
}

TEST(CheatTest, AFalseRevealCostsAnIdentityAndBuysOneRedraw) {
  Cluster cluster(Steps(8));
  std::set<std::uint32_t> draws;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Slot slot = SlotOf(send);
    if (slot.step != 1 || slot.phase == Phase::kA) return true;
    if (from == 0) ShadowPeerZero(cluster, send);
    if (from != kCheat) {
      if (slot.type == MessageType::kReveal) draws.insert(slot.draw);
      return true;
    }
    if (slot.type == MessageType::kReveal && cluster.IndexOf(send.to) != kCheat) {
      cluster.Deliver(cluster.IndexOf(send.to), kCheat,
                      Resigned(send.frame, *cluster.node(kCheat).key, [](wire::Envelope& e) {
                        auto reveal = *wire::Decode<wire::Reveal>(e.body);
                        reveal.opening.coin.value.bytes[0] ^= 1;
                        e.body = wire::Encode(reveal);
                      }));
    }
    return false;
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kEvidence);
  EXPECT_EQ(RemovalsOf(cluster)[0].step, 1u);
  EXPECT_EQ(wire::TextOf(RemovalsOf(cluster)[0].reason), "its REVEAL does not open its COMMIT");
  EXPECT_EQ(draws, (std::set<std::uint32_t>{0, 1}));
}

// Bytes that are not under the root that their author signed are no part of anybody's column.
TEST(CheatTest, BytesOtherThanThePartsAreLeftOut) {
  Cluster cluster({.n = 5, .dimension = 64, .steps = 6});
  cluster.on_send = [&](std::size_t from, const Send& send) {
    if (from != kCheat || SlotOf(send).type != MessageType::kPart ||
        cluster.IndexOf(send.to) != 0) {
      return true;
    }
    base::Bytes other = send.blob->data;
    other[0] ^= 1;
    cluster.Deliver(0, kCheat, send.frame, crypto::MakeBlob(std::move(other)));
    return false;
  };
  cluster.Start();
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectAgreement();
  ExpectAllApplied(cluster.node(0));  // four of five are enough
  ASSERT_FALSE(cluster.node(0).suspicions.empty());
  for (const Suspicion& suspicion : cluster.node(0).suspicions) {
    EXPECT_EQ(suspicion.peer, cluster.node(kCheat).id());
    EXPECT_EQ(suspicion.check, "blob");
  }
}

// Whoever equivocates chooses how long its messages are. Evidence too long to travel inline must
// not spoil the PROOF of the peer that found it. (Cluster reads every PROOF that is sent.)
TEST(CheatTest, AHugeEquivocationDoesNotSpoilTheFindersProof) {
  for (const std::size_t length : {20'000u, 120'000u}) {
    Cluster cluster(Steps(8));
    cluster.on_send = [&](std::size_t from, const Send& send) {
      const wire::Slot slot = SlotOf(send);
      const bool echo_c = slot.type == MessageType::kEcho && slot.phase == Phase::kC;
      if (from != kCheat || slot.step != 1 || !echo_c || cluster.IndexOf(send.to) == kCheat) {
        return true;
      }
      // Two PROOFs of the next step would be early; a second one of this step is not.
      cluster.Deliver(cluster.IndexOf(send.to), kCheat,
                      Resigned(send.frame, *cluster.node(kCheat).key, [&](wire::Envelope& e) {
                        e.slot.type = MessageType::kProof;
                        e.body.assign(length, 0xcc);
                      }));
      return true;
    };
    cluster.Start();
    cluster.RunToEnd();
    for (const std::size_t i : kHonest) {
      ASSERT_TRUE(cluster.node(i).halted);
      EXPECT_EQ(cluster.node(i).halted->why, Halted::Why::kFinished)
          << cluster.node(i).halted->reason;
      EXPECT_GT(cluster.node(i).evidence_stored, 0u);
    }
    cluster.ExpectAgreement(kHonest);
    ExpectAllApplied(cluster.node(0));
  }
}

// The proof of a large equivocation cannot travel; it must not stand in the way of one that can.
TEST(CheatTest, AHugeEquivocationDoesNotShieldFromASmallOne) {
  Cluster cluster(Steps(6));
  base::SharedBytes commit;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    const wire::Slot slot = SlotOf(send);
    if (from != kCheat || cluster.IndexOf(send.to) != 0) return true;
    const auto again = [&](const base::SharedBytes& frame, base::Bytes body, MessageType type) {
      cluster.Deliver(0, kCheat, Resigned(frame, *cluster.node(kCheat).key, [&](wire::Envelope& e) {
                        e.slot.type = type;
                        e.body = std::move(body);
                      }));
    };
    const bool echo_c = slot.type == MessageType::kEcho && slot.phase == Phase::kC;
    if (slot.step == 1 && echo_c) {
      again(send.frame, base::Bytes(20'000, 0xcc), MessageType::kProof);
    }
    if (slot.step == 2 && slot.type == MessageType::kCommit) commit = send.frame;
    if (slot.step == 2 && slot.type == MessageType::kReveal) {
      again(commit, {1}, MessageType::kCommit);
    }
    return true;
  };
  cluster.Start();
  cluster.RunToEnd();
  ExpectBanned(cluster, wire::RemovalKind::kEvidence);
  EXPECT_EQ(RemovalsOf(cluster)[0].step, 2u);
}

// Evidence that some members hold must not end their wait while others go on waiting: the early
// ones once had the others dropped as silent, and two quorums could decide differently.
TEST(CheatTest, AFaultShownToSomeMembersCostsNobodyElse) {
  for (const std::size_t shown : {1u, 2u, 4u}) {
    Cluster cluster({.n = 8, .dimension = 128, .steps = 8});
    constexpr std::size_t kLiar = 7;
    cluster.on_send = [&](std::size_t from, const Send& send) {
      const wire::Slot slot = SlotOf(send);
      if (from != kLiar || slot.step != 2) return true;
      const std::size_t to = cluster.IndexOf(send.to);
      if (slot.type == MessageType::kCommit && to < shown) {
        cluster.Deliver(to, kLiar,
                        Resigned(send.frame, *cluster.node(kLiar).key, [](wire::Envelope& e) {
                          e.slot.type = MessageType::kEcho;
                          e.body = {1};
                        }));
      }
      return slot.type != MessageType::kAggregate;
    };
    cluster.Start();
    cluster.RunToEnd();
    for (const wire::Removal& removal : RemovalsOf(cluster)) {
      EXPECT_EQ(cluster.IndexOf(removal.peer), kLiar) << wire::TextOf(removal.reason);
    }
    EXPECT_EQ(RemovalsOf(cluster).size(), 1u) << shown;
    cluster.ExpectAgreement({0, 1, 2, 3, 4, 5, 6});
  }
}

}  // namespace
}  // namespace ostraka::protocol::cheats_test
