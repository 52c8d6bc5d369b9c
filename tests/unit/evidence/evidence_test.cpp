#include "proofs/evidence/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "node/base/rng.h"
#include "node/wire/limits.h"
#include "tests/unit/evidence/scene.h"
#include "tests/unit/wire/samples.h"
#include "tests/unit/wire/vector_file.h"

namespace ostraka::evidence::evidence_test {
namespace {

using testing::HasSubstr;
using wire::MessageType;

const Turn kCheat = {.key = &CheaterKey(), .incarnation = 0, .step = 7, .coin_count = 5};
const Turn kFair = {.key = &HonestKey(), .incarnation = 0, .step = 7, .coin_count = 5};

// One to three edits: a bit, a byte, a cut, a copied or a swapped stretch.
Bytes Mutated(Bytes bytes, base::Rng& rng) {
  for (std::uint64_t edits = 1 + rng.Below(3); edits > 0 && !bytes.empty(); --edits) {
    const std::size_t at = rng.Below(bytes.size());
    const std::size_t other = rng.Below(bytes.size());
    const std::size_t length =
        std::min<std::size_t>(1 + rng.Below(64), bytes.size() - std::max(at, other));
    switch (rng.Below(5)) {
      case 0:
        bytes[at] ^= static_cast<std::uint8_t>(1U << rng.Below(8));
        break;
      case 1:
        bytes[at] = static_cast<std::uint8_t>(rng.Below(256));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        std::copy_n(Bytes(bytes).begin() + static_cast<std::ptrdiff_t>(other), length,
                    bytes.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 4:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), 8 * rng.Below(4), 0);
        break;
    }
  }
  return bytes;
}

// The second message of a slot whose first is CommitFrame(kCheat).
Bytes OtherCommit() {
  wire::Commit commit = CommitOf(kCheat);
  commit.gradient_root.reset();
  return FrameWithBody(kCheat, MessageType::kCommit, Encode(commit));
}

// Against the cheater, in a run whose fault bound is `faults`.
base::StatusOr<Bytes> SealedBan(std::size_t faults) {
  const wire::Block block = BanningBlock();
  return MakeSealedBan(CheaterKey().id(), block, CommitsBuildingOn(block), RunOfJudges(faults));
}

Bytes RevealWith(const Turn& turn, std::uint32_t draw, const wire::Reveal& reveal) {
  return FrameWithBody(turn, MessageType::kReveal, Encode(reveal), draw);
}

TEST(EvidenceTest, TwoMessagesOfOneSlotProveEquivocation) {
  const auto file = MakeEquivocation(CommitFrame(kCheat), OtherCommit());
  ASSERT_TRUE(file.ok()) << file.status();
  const Finding finding = Verify(*file);
  EXPECT_EQ(finding.outcome, Outcome::kProven);
  EXPECT_EQ(finding.kind, EvidenceKind::kEquivocation);
  EXPECT_EQ(finding.accused, CheaterKey().id());
  EXPECT_EQ(finding.slot.step, kCheat.step);
  EXPECT_EQ(finding.slot.type, MessageType::kCommit);
  EXPECT_EQ(finding.slot.run_id, wire::Filled(0xa1));
  EXPECT_THAT(finding.reason, HasSubstr("two different messages"));
}

TEST(EvidenceTest, TheOrderOfTheFramesDoesNotMatter) {
  const auto one = MakeEquivocation(CommitFrame(kCheat), OtherCommit());
  const auto two = MakeEquivocation(OtherCommit(), CommitFrame(kCheat));
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(*one, *two);
  EXPECT_EQ(IdOf(*one), IdOf(*two));
  EXPECT_NE(IdOf(*one), IdOf(Bytes{}));
}

// A signer may vary nothing within a slot, not even the parent.
TEST(EvidenceTest, AnotherParentIsEquivocationToo) {
  const auto frame = wire::Open(std::make_shared<const Bytes>(CommitFrame(kCheat)));
  ASSERT_TRUE(frame.ok());
  wire::Envelope other = frame->envelope;
  other.entry = wire::Filled(0x77);
  const auto file = MakeEquivocation(*frame->frame, *wire::Seal(other, CheaterKey()).frame);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Verify(*file).outcome, Outcome::kProven);
}

// Bodies are not decoded: two different unreadable bodies are still two messages.
TEST(EvidenceTest, UnreadableBodiesEquivocateToo) {
  const auto file = MakeEquivocation(FrameWithBody(kCheat, MessageType::kProof, Bytes(3, 1)),
                                     FrameWithBody(kCheat, MessageType::kProof, Bytes(4, 1)));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Verify(*file).outcome, Outcome::kProven);
}

TEST(EvidenceTest, TheSameMessageTwiceProvesNothing) {
  const auto file = MakeEquivocation(CommitFrame(kCheat), CommitFrame(kCheat));
  EXPECT_THAT(base::MessageOf(file.status()), HasSubstr("same message"));
}

TEST(EvidenceTest, MessagesOfDifferentSlotsProveNothing) {
  Turn next = kCheat;
  ++next.step;
  EXPECT_FALSE(MakeEquivocation(CommitFrame(kCheat), CommitFrame(next)).ok());
  next = kCheat;
  ++next.incarnation;
  EXPECT_FALSE(MakeEquivocation(CommitFrame(kCheat), CommitFrame(next)).ok());
  EXPECT_FALSE(MakeEquivocation(RevealFrame(kCheat, 0), RevealFrame(kCheat, 1)).ok());
}

TEST(EvidenceTest, MessagesOfTwoPeersProveNothing) {
  EXPECT_FALSE(MakeEquivocation(CommitFrame(kCheat), CommitFrame(kFair)).ok());
  EXPECT_FALSE(MakeFalseReveal(CommitFrame(kCheat), RevealFrame(kFair, 0)).ok());
}

// The accused's signature under an envelope that names another sender is no message of the accused.
// By its digest it may come first or second.
TEST(EvidenceTest, AMessageInAnothersNameProvesNothing) {
  const auto own = wire::Open(std::make_shared<const Bytes>(CommitFrame(kCheat)));
  ASSERT_TRUE(own.ok());
  bool came_first = false;
  bool came_second = false;
  for (std::uint8_t i = 0; i < 16; ++i) {
    wire::Envelope envelope = own->envelope;
    envelope.sender = HonestKey().id();
    envelope.body.assign(8, i);
    const Digest digest = wire::DigestOf(envelope);
    const crypto::Signature signature = CheaterKey().Sign(digest);
    Bytes frame(signature.bytes.begin(), signature.bytes.end());
    const base::SharedBytes core = wire::EncodeUnsigned(envelope);
    frame.insert(frame.end(), core->begin(), core->end());
    const bool first = digest < own->digest;
    (first ? came_first : came_second) = true;
    wire::EvidenceFile file = {.kind = EvidenceKind::kEquivocation,
                               .accused = CheaterKey().id(),
                               .slot = envelope.slot,
                               .frames = {*own->frame, frame},
                               .attachments = {}};
    if (first) std::swap(file.frames[0], file.frames[1]);
    const Finding finding = Verify(wire::EncodeEvidence(file));
    EXPECT_EQ(finding.outcome, Outcome::kNotProven);
    EXPECT_THAT(finding.reason, HasSubstr("not both of the accused"));
  }
  EXPECT_TRUE(came_first && came_second);
}

TEST(EvidenceTest, GenesisIsNeverEvidence) {
  const Turn start = {.key = &CheaterKey(), .incarnation = 0, .step = 0, .coin_count = 1};
  const auto boots = MakeEquivocation(
      FrameWithBody(start, MessageType::kBoot, Encode(wire::Boot{.boot_id = wire::Filled(1)})),
      FrameWithBody(start, MessageType::kBoot, Encode(wire::Boot{.boot_id = wire::Filled(2)})));
  EXPECT_THAT(base::MessageOf(boots.status()), HasSubstr("genesis"));

  wire::Envelope echo = wire::SampleEnvelope(MessageType::kEcho);
  echo.slot.phase = wire::Phase::kGenesis;
  echo.slot.draw = 0;
  echo.sender = CheaterKey().id();
  wire::Envelope other = echo;
  other.body = Encode(wire::Echo{});
  const auto echoes = MakeEquivocation(*wire::Seal(echo, CheaterKey()).frame,
                                       *wire::Seal(other, CheaterKey()).frame);
  EXPECT_THAT(base::MessageOf(echoes.status()), HasSubstr("genesis"));
}

TEST(EvidenceTest, TwoMessagesOfOneIterationProveEquivocation) {
  for (const MessageType type :
       {MessageType::kStatus, MessageType::kPropose, MessageType::kVote, MessageType::kLock}) {
    wire::Envelope first = wire::SampleEnvelope(type);
    first.sender = CheaterKey().id();
    wire::Envelope second = first;
    second.body = Encode(wire::Lock{.value = wire::Filled(0x99)});
    const auto file = MakeEquivocation(*wire::Seal(first, CheaterKey()).frame,
                                       *wire::Seal(second, CheaterKey()).frame);
    ASSERT_TRUE(file.ok()) << wire::MessageTypeName(type) << file.status();
    EXPECT_EQ(Verify(*file).outcome, Outcome::kProven) << wire::MessageTypeName(type);
    // The next iteration is another slot.
    ++second.slot.iteration;
    EXPECT_FALSE(MakeEquivocation(*wire::Seal(first, CheaterKey()).frame,
                                  *wire::Seal(second, CheaterKey()).frame)
                     .ok())
        << wire::MessageTypeName(type);
  }
}

// A member that lost its disk asks again, and cannot know what it asked before.
TEST(EvidenceTest, RejoinIsNeverEvidence) {
  const auto rejoin = [](std::uint8_t nonce) {
    return FrameWithBody(kCheat, MessageType::kRejoin,
                         Encode(wire::Rejoin{.nonce = wire::Filled(nonce)}));
  };
  const auto file = MakeEquivocation(rejoin(1), rejoin(2));
  EXPECT_THAT(base::MessageOf(file.status()), HasSubstr("REJOIN is never evidence"));
}

// Services are unsigned, so an accuser can make any of them.
TEST(EvidenceTest, ServicesAreNeverEvidence) {
  for (const MessageType type : wire::AllMessageTypes()) {
    if (!wire::IsService(type)) continue;
    wire::Envelope first = wire::SampleEnvelope(type);
    wire::Envelope second = first;
    second.body.assign(8, 1);
    const auto file = MakeEquivocation(*wire::EncodeService(first), *wire::EncodeService(second));
    EXPECT_THAT(base::MessageOf(file.status()), HasSubstr("service is never evidence"));
  }
}

TEST(EvidenceTest, AnotherCoinProvesAFalseReveal) {
  wire::Reveal reveal = RevealOf(kCheat, 3);
  reveal.opening.coin.value.bytes[0] ^= 1;
  const auto file = MakeFalseReveal(CommitFrame(kCheat), RevealWith(kCheat, 3, reveal));
  ASSERT_TRUE(file.ok()) << file.status();
  const Finding finding = Verify(*file);
  EXPECT_EQ(finding.outcome, Outcome::kProven);
  EXPECT_EQ(finding.kind, EvidenceKind::kFalseReveal);
  EXPECT_EQ(finding.accused, CheaterKey().id());
  EXPECT_EQ(finding.slot.type, MessageType::kReveal);
  EXPECT_EQ(finding.slot.draw, 3u);
}

// An attacker must not escape by a message too large for an honest PROOF.
TEST(EvidenceTest, EvidenceOfAllMessagesButProofsFitsInline) {
  for (const MessageType type : wire::SignedMessageTypes()) {
    if (type == MessageType::kProof) continue;
    if (type == MessageType::kBoot || type == MessageType::kRejoin) continue;  // never evidence
    const auto frame = [&](std::uint8_t byte) {
      return FrameWithBody(kCheat, type, Bytes(wire::kMaxSmallBodyBytes, byte));
    };
    const auto file = MakeEquivocation(frame(1), frame(2));
    ASSERT_TRUE(file.ok()) << wire::MessageTypeName(type) << file.status();
    EXPECT_LE(file->size(), wire::kMaxEvidenceBytes);
  }
  const auto reveal = MakeFalseReveal(
      CommitFrame(kCheat),
      FrameWithBody(kCheat, MessageType::kReveal, Bytes(wire::kMaxSmallBodyBytes, 1), 2));
  ASSERT_TRUE(reveal.ok()) << reveal.status();
  EXPECT_LE(reveal->size(), wire::kMaxEvidenceBytes);
}

TEST(EvidenceTest, EveryWayNotToOpenIsAFalseReveal) {
  const auto convicts = [](std::uint32_t draw, const wire::Reveal& reveal) {
    return MakeFalseReveal(CommitFrame(kCheat), RevealWith(kCheat, draw, reveal)).ok();
  };
  wire::Reveal reveal = RevealOf(kCheat, 2);
  EXPECT_FALSE(convicts(2, reveal));
  EXPECT_TRUE(convicts(1, reveal)) << "the coin of another draw";
  EXPECT_TRUE(convicts(kCheat.coin_count, reveal)) << "a coin that was never committed to";
  EXPECT_TRUE(convicts(~0u, reveal));
  reveal.opening.coin.salt.bytes[0] ^= 1;
  EXPECT_TRUE(convicts(2, reveal)) << "another salt";
  reveal = RevealOf(kCheat, 2);
  reveal.opening.path.pop_back();
  EXPECT_TRUE(convicts(2, reveal)) << "a short path";
  reveal = RevealOf(kCheat, 2);
  reveal.opening.path.push_back(wire::Filled(0));
  EXPECT_TRUE(convicts(2, reveal)) << "a long path";
}

// The attack that made COMMIT include the count: with a count chosen by the accuser an honest
// REVEAL fails its path. Here the accuser can only replace the whole COMMIT, which it cannot sign.
TEST(EvidenceTest, AForgedCoinCountConvictsNobody) {
  ASSERT_TRUE(crypto::VerifyOpening(HonestKey().id(), kFair.step, 1, kFair.coin_count,
                                    CommitOf(kFair).coins_root, RevealOf(kFair, 1).opening));
  ASSERT_FALSE(crypto::VerifyOpening(HonestKey().id(), kFair.step, 1, kFair.coin_count + 3,
                                     CommitOf(kFair).coins_root, RevealOf(kFair, 1).opening));
  auto commit = wire::Open(std::make_shared<const Bytes>(CommitFrame(kFair)));
  ASSERT_TRUE(commit.ok());
  wire::Commit body = CommitOf(kFair);
  body.coin_count += 3;
  wire::Envelope forged = commit->envelope;
  forged.body = Encode(body);
  Bytes frame(commit->signature.bytes.begin(), commit->signature.bytes.end());
  const base::SharedBytes core = wire::EncodeUnsigned(forged);
  frame.insert(frame.end(), core->begin(), core->end());
  const auto file = MakeFalseReveal(frame, RevealFrame(kFair, 1));
  EXPECT_THAT(base::MessageOf(file.status()), HasSubstr("signature"));
}

TEST(EvidenceTest, ACommitOfAnotherStepProvesNothing) {
  Turn before = kCheat;
  --before.step;
  EXPECT_FALSE(MakeFalseReveal(CommitFrame(before), RevealFrame(kCheat, 0)).ok());
  Turn again = kCheat;
  ++again.incarnation;
  EXPECT_FALSE(MakeFalseReveal(CommitFrame(again), RevealFrame(kCheat, 0)).ok());
}

TEST(EvidenceTest, SwappedOrForeignFramesProveNothing) {
  EXPECT_FALSE(MakeFalseReveal(RevealFrame(kCheat, 0), CommitFrame(kCheat)).ok());
  EXPECT_FALSE(MakeFalseReveal(CommitFrame(kCheat), CommitFrame(kCheat)).ok());
  EXPECT_FALSE(MakeFalseReveal({}, {}).ok());
  EXPECT_FALSE(MakeEquivocation({}, CommitFrame(kCheat)).ok());
  EXPECT_FALSE(MakeEquivocation(CommitFrame(kCheat), Bytes(300, 7)).ok());
}

// The verifier trusts nobody: everything that Verify proves rests on signatures.
TEST(EvidenceTest, EverySignatureIsVerified) {
  class CountingVerifier final : public crypto::Verifier {
   public:
    explicit CountingVerifier(int good) : good_(good) {}
    bool Verify(const PeerId&, const Digest&, const crypto::Signature&) override {
      return good_-- > 0;
    }

   private:
    int good_;
  };
  const auto file = MakeEquivocation(CommitFrame(kCheat), OtherCommit());
  ASSERT_TRUE(file.ok());
  for (const int good : {0, 1}) {
    CountingVerifier verifier(good);
    EXPECT_EQ(Verify(*file, verifier).outcome, Outcome::kNotProven) << good;
  }
  CountingVerifier both(2);
  EXPECT_EQ(Verify(*file, both).outcome, Outcome::kProven);
}

// A sealed ban convinces anyone who knows the members, if more members signed than the fault bound.
TEST(EvidenceTest, ASealedBanNeedsOneJudgeMoreThanFaults) {
  const auto file = SealedBan(kJudges - 1);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Verify(*file).outcome, Outcome::kMissingData);
  EXPECT_EQ(VerifyInRun(*file, RunOfJudges(kJudges - 1)).outcome, Outcome::kProven);
  const Finding few = VerifyInRun(*file, RunOfJudges(kJudges));
  EXPECT_EQ(few.outcome, Outcome::kNotProven);
  EXPECT_THAT(few.reason, HasSubstr("4 members signed"));
  EXPECT_THAT(few.reason, HasSubstr("must be 5"));
  EXPECT_THAT(SealedBan(kJudges).status().message(), HasSubstr("must be 5"));
}

// One proof, one file: with an extra signature there would be two files with one meaning.
TEST(EvidenceTest, SealedBanWithAnExtraJudgeIsRefused) {
  const KnownRun run = RunOfJudges(kJudges - 2);
  const auto four = SealedBan(kJudges - 1);
  const auto three = SealedBan(kJudges - 2);
  ASSERT_TRUE(three.ok()) << three.status();
  EXPECT_EQ(VerifyInRun(*three, run).outcome, Outcome::kProven);
  EXPECT_THAT(VerifyInRun(*four, run).reason, HasSubstr("must be 3"));
  KnownRun with_a_stranger = RunOfJudges(kJudges - 1);
  std::erase(with_a_stranger.members, wire::SampleKey(10).id());
  --with_a_stranger.faults;
  EXPECT_THAT(VerifyInRun(*four, with_a_stranger).reason, HasSubstr("not only members"));
  const wire::Block block = BanningBlock();
  const auto without =
      MakeSealedBan(CheaterKey().id(), block, CommitsBuildingOn(block), with_a_stranger);
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(VerifyInRun(*without, with_a_stranger).outcome, Outcome::kProven);
}

TEST(EvidenceTest, JudgesOfAnotherRunOrStrangersProveNothing) {
  const auto file = SealedBan(kJudges - 1);
  ASSERT_TRUE(file.ok()) << file.status();
  KnownRun other = RunOfJudges(1);
  other.run_id = wire::Filled(0x77);
  EXPECT_THAT(VerifyInRun(*file, other).reason, HasSubstr("another run"));
  KnownRun strangers = RunOfJudges(kJudges - 1);
  std::erase(strangers.members, wire::SampleKey(10).id());
  EXPECT_EQ(VerifyInRun(*file, strangers).outcome, Outcome::kNotProven);
}

TEST(EvidenceTest, SealedBanProvesOnlyTheBansOfItsBlock) {
  const KnownRun run = RunOfJudges(kJudges - 1);
  wire::Block block = BanningBlock();
  EXPECT_FALSE(MakeSealedBan(HonestKey().id(), block, CommitsBuildingOn(block), run).ok());
  block.removals[0].kind = wire::RemovalKind::kDrop;
  EXPECT_FALSE(MakeSealedBan(CheaterKey().id(), block, CommitsBuildingOn(block), run).ok());
  EXPECT_FALSE(MakeSealedBan(CheaterKey().id(), BanningBlock(), {}, run).ok());
  EXPECT_FALSE(
      MakeSealedBan(CheaterKey().id(), BanningBlock(), CommitsBuildingOn(block), run).ok());
}

// `innocent` convicts the accuser, `guilty` the target.
TEST(EvidenceTest, AVerdictNeedsOneVoterMoreThanFaultsInOneCase) {
  const KnownRun run = RunOfJudges(kJudges - 1);
  const PeerId accuser = CheaterKey().id();
  const auto innocent = ProofsVoting(wire::Verdict::kInnocent);
  const auto file = MakeVerdict(accuser, innocent, run);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Verify(*file).outcome, Outcome::kMissingData);
  const Finding finding = VerifyInRun(*file, run);
  EXPECT_EQ(finding.outcome, Outcome::kProven) << finding.reason;
  EXPECT_EQ(finding.accused, accuser);
  EXPECT_THAT(VerifyInRun(*file, RunOfJudges(kJudges)).reason, HasSubstr("must be 5"));
  EXPECT_THAT(VerifyInRun(*file, RunOfJudges(kJudges - 2)).reason, HasSubstr("must be 3"));
  EXPECT_FALSE(MakeVerdict(accuser, {innocent.begin(), innocent.end() - 1}, run).ok());
  EXPECT_FALSE(MakeVerdict(HonestKey().id(), innocent, run).ok())
      << "the target was found innocent";
  const auto guilty = ProofsVoting(wire::Verdict::kGuilty);
  EXPECT_TRUE(MakeVerdict(HonestKey().id(), guilty, run).ok());
  EXPECT_FALSE(MakeVerdict(accuser, guilty, run).ok());
  EXPECT_FALSE(
      MakeVerdict(HonestKey().id(), {guilty[0], guilty[1], guilty[2], innocent[3]}, run).ok());
}

// Profile exact/1: F + 1 such votes may have cost a key its place for one flipped bit, and it is no
// banned one.
TEST(EvidenceTest, VotesThatOnlySuspendAreNoVerdict) {
  KnownRun run = RunOfJudges(kJudges - 1);
  const PeerId target = HonestKey().id();
  const auto guilty = MakeVerdict(target, ProofsVoting(wire::Verdict::kGuilty), run);
  const auto innocent = MakeVerdict(CheaterKey().id(), ProofsVoting(wire::Verdict::kInnocent), run);
  const auto twice = MakeVerdict(target, ProofsVoting(wire::Verdict::kTwice), run);
  ASSERT_TRUE(guilty.ok() && innocent.ok() && twice.ok());
  run.suspending = {wire::CaseKind::kGradient, wire::CaseKind::kNumbers};
  EXPECT_THAT(VerifyInRun(*guilty, run).reason, HasSubstr("such votes suspend"));
  EXPECT_EQ(VerifyInRun(*guilty, run).outcome, Outcome::kNotProven);
  EXPECT_EQ(VerifyInRun(*innocent, run).outcome, Outcome::kNotProven);
  EXPECT_EQ(VerifyInRun(*twice, run).outcome, Outcome::kProven);
  EXPECT_FALSE(MakeVerdict(target, ProofsVoting(wire::Verdict::kGuilty), run).ok());
  run.suspending = {wire::CaseKind::kNumbers};  // the case is of kind gradient
  EXPECT_EQ(VerifyInRun(*guilty, run).outcome, Outcome::kProven);
}

TEST(EvidenceTest, AbstentionsAndAcquittalsCondemnNobody) {
  wire::Vote vote{
      {.kind = wire::CaseKind::kCover, .accuser = CheaterKey().id(), .target = HonestKey().id()},
      wire::Verdict::kInnocent};
  EXPECT_FALSE(CondemnedBy(vote)) << "the convicted worker of the case is no accuser";
  vote.about.kind = wire::CaseKind::kNumbers;
  EXPECT_EQ(CondemnedBy(vote), CheaterKey().id());
  vote.verdict = wire::Verdict::kAbstain;
  EXPECT_FALSE(CondemnedBy(vote));
}

// Other kinds need no manifest, and a manifest cannot refute them.
TEST(EvidenceTest, RunIdMattersOnlyToFilesOfJudges) {
  const auto file = MakeEquivocation(CommitFrame(kCheat), OtherCommit());
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(VerifyInRun(*file, KnownRun{}).outcome, Outcome::kProven);
}

// The kinds of damage in proofs/verifier's test: truncations, bits, bytes, swaps and copies.
TEST(EvidenceTest, TenThousandMutationsOfEachProvenFileProveNothing) {
  const KnownRun run = RunOfJudges(kJudges - 1);
  base::Rng rng(20240601);
  for (const NamedFile& file : AllFiles()) {
    if (VerifyInRun(file.bytes, run).outcome != Outcome::kProven) continue;
    for (int i = 0; i < 10'000; ++i) {
      const Bytes mutant = Mutated(file.bytes, rng);
      if (mutant == file.bytes) continue;
      const Finding finding = VerifyInRun(mutant, run);
      ASSERT_NE(finding.outcome, Outcome::kProven) << file.name << " mutation " << i;
      ASSERT_FALSE(finding.reason.empty());
    }
  }
}

TEST(EvidenceTest, MalformedFindingsAccuseNobody) {
  const Finding finding = Verify(Bytes(64, 0xff));
  EXPECT_EQ(finding.outcome, Outcome::kMalformed);
  EXPECT_TRUE(finding.accused.is_zero());
}

TEST(EvidenceTest, NamesAreAsInJson) {
  EXPECT_STREQ(OutcomeName(Outcome::kProven), "proven");
  EXPECT_STREQ(OutcomeName(Outcome::kNotProven), "not_proven");
  EXPECT_STREQ(OutcomeName(Outcome::kMalformed), "malformed");
  EXPECT_STREQ(OutcomeName(Outcome::kMissingData), "missing_data");
}

// Makers refuse messages that are no offence.
TEST(EvidenceTest, MakersRefuseGoodMessages) {
  EXPECT_FALSE(MakeUnreadable(CommitFrame(kFair)).ok());
  EXPECT_FALSE(MakeFalsePart(CommitFrame(kFair), RevealFrame(kFair, 0)).ok());
  EXPECT_FALSE(MakeImpossibleNumbers(CommitFrame(kFair)).ok());
  EXPECT_FALSE(MakeBrokenLock(CommitFrame(kFair), CommitFrame(kFair)).ok());
  EXPECT_FALSE(MakeFalseStatus(CommitFrame(kFair), CommitFrame(kFair)).ok());
  EXPECT_FALSE(MakeUnreadable({}).ok());
}

class EvidenceVectorTest : public testing::TestWithParam<NamedFile> {};

TEST_P(EvidenceVectorTest, VerdictMatchesItsName) {
  const NamedFile& file = GetParam();
  const auto golden = wire::ReadVector("tests/vectors/evidence/" + file.name + ".hex");
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(base::ToHex(*golden), base::ToHex(file.bytes));
  const Finding finding = Verify(*golden);
  EXPECT_EQ(finding.outcome, file.expected) << finding.reason;
  EXPECT_TRUE(file.name.starts_with(OutcomeName(finding.outcome)));
}

// Messages got more fields in protocol version 2; older files are judged as before.
TEST(EvidenceTest, FilesOfVersion1AreJudgedAsTheyWere) {
  for (const std::string name : {"proven_overlong_aggregate", "not_proven_readable_aggregate",
                                 "proven_overlong_proof", "not_proven_readable_proof"}) {
    const auto golden = wire::ReadVector("tests/vectors/evidence/version1/" + name + ".hex");
    ASSERT_TRUE(golden.ok()) << golden.status();
    EXPECT_TRUE(name.starts_with(OutcomeName(Verify(*golden).outcome))) << name;
  }
}

TEST_P(EvidenceVectorTest, NoTruncationLeavesItProven) {
  const Bytes& bytes = GetParam().bytes;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(Verify(ByteView(bytes).first(length)).outcome, Outcome::kMalformed) << length;
  }
}

// Only proven files, since damage to another could just repair it.
TEST(EvidenceTest, NoDamagedByteLeavesAFileProven) {
  int proven = 0;
  for (const NamedFile& file : AllFiles()) {
    if (file.expected != Outcome::kProven) continue;
    ++proven;
    for (std::size_t i = 0; i < file.bytes.size(); ++i) {
      for (const int mask : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
        Bytes damaged = file.bytes;
        damaged[i] ^= static_cast<std::uint8_t>(mask);
        EXPECT_NE(Verify(damaged).outcome, Outcome::kProven) << file.name << " byte " << i;
      }
    }
  }
  EXPECT_GE(proven, wire::kEvidenceKindCount - 2);  // a sealed ban and a verdict need a run
}

INSTANTIATE_TEST_SUITE_P(AllFiles, EvidenceVectorTest, testing::ValuesIn(AllFiles()),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace ostraka::evidence::evidence_test
