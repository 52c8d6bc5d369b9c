#include "tests/unit/protocol/fingerprint.h"

#include "node/protocol/seal/inside/impl.h"
#include "node/protocol/seal/seal_transcript.h"
#include "tests/unit/protocol/seal/inside/parts_fixture.h"

namespace ostraka::protocol {

struct FingerprintProbe {
  // A seal with all its parts: each field of each part counts in the fingerprint of the whole.
  static void OfSeal() {
    parts::HeldMessages messages(5);
    Seal seal(parts::FiveMembers(), &messages);
    Seal::Impl& impl = *seal.impl_;
    EXPECT_FEEDS_AFTER(seal, Alter(impl.opened_));
    EXPECT_FEEDS_AFTER(seal, Alter(impl.slow_));
    EXPECT_FEEDS_AFTER(seal, Alter(impl.values_.known_));
    EXPECT_FEEDS_AFTER(seal, Alter(impl.values_.known_.begin()->second));
    OfEchoes(seal, impl.echoes_);
    EXPECT_FEEDS_AFTER(seal, Alter(impl.gate_.closers_));
    EXPECT_FEEDS_AFTER(seal, Alter(impl.gate_.passed_));
    OfClock(seal, impl.clock_);
    OfCertificates(seal, impl.slow_path_.certificates_);
    OfRounds(seal, impl.slow_path_.rounds_);
    EXPECT_FEEDS_AFTER(seal, Alter(impl.repeats_.next_));
    EXPECT_FEEDS_AFTER(seal, Alter(impl.repeats_.count_));
    EXPECT_FEEDS_AFTER(seal, Alter(impl.asks_.asked_));
    EXPECT_FEEDS_AFTER(seal, (impl.asks_.asked_[SealLack{{}, {}, 1, {}}]));
    EXPECT_FEEDS_AFTER(seal, Alter(impl.asks_.next_look_));
    OfDecision(seal, impl.decision_);
  }
  static void OfEchoes(const Seal& seal, SealEchoes& echoes) {
    EXPECT_FEEDS_AFTER(seal, Alter(echoes.wait_ended_at_));
    EXPECT_FEEDS_AFTER(seal, Alter(echoes.sent_at_));
    EXPECT_FEEDS_AFTER(seal, Alter(echoes.own_value_));
    EXPECT_FEEDS_AFTER(seal, Alter(echoes.own_vector_known_));
    EXPECT_FEEDS_AFTER(seal, Alter(echoes.echoes_));
    EXPECT_FEEDS_AFTER(seal, Alter(echoes.echoes_.begin()->second.body.vector));
    EXPECT_FEEDS_AFTER(seal, Alter(echoes.echoes_.begin()->second.at));
    EXPECT_FEEDS_AFTER(seal, Alter(echoes.lags_));
    EXPECT_FEEDS_AFTER(seal, Alter(echoes.silent_));
  }
  static void OfClock(const Seal& seal, SealClock& clock) {
    EXPECT_FEEDS_AFTER(seal, Alter(clock.delta_));
    EXPECT_FEEDS_AFTER(seal, Alter(clock.step_));
    EXPECT_FEEDS_AFTER(seal, Alter(clock.iteration_));
    EXPECT_FEEDS_AFTER(seal, Alter(clock.began_));
    EXPECT_FEEDS_AFTER(seal, Alter(clock.until_));
    EXPECT_FEEDS_AFTER(seal, Alter(clock.gathered_));
  }
  static void OfCertificates(const Seal& seal, SealCertificates& certificates) {
    EXPECT_FEEDS_AFTER(seal, Alter(certificates.ballots_));
    EXPECT_FEEDS_AFTER(seal, Alter(certificates.ballots_[0].firsts_));
    EXPECT_FEEDS_AFTER(seal, Alter(certificates.ballots_[0].by_value_));
    EXPECT_FEEDS_AFTER(seal, Alter(certificates.locks_.groups_));
    EXPECT_FEEDS_AFTER(seal, (certificates.locks_.groups_[Locks::Group{2, {}}]));
    EXPECT_FEEDS_AFTER(seal, Alter(certificates.lock_.rank));
    EXPECT_FEEDS_AFTER(seal, Alter(certificates.lock_.value));
    EXPECT_FEEDS_AFTER(seal, Alter(certificates.named_));
  }
  static void OfRounds(const Seal& seal, SealRounds& rounds) {
    EXPECT_FEEDS_AFTER(seal, Alter(rounds.reached_));
    EXPECT_FEEDS_AFTER(seal, Alter(rounds.rounds_));
    SealRounds::Round& round = rounds.rounds_.begin()->second;
    EXPECT_FEEDS_AFTER(seal, Alter(round.statuses.by_sender_));
    auto& statuses = round.statuses.by_sender_.begin()->second;
    EXPECT_FEEDS_AFTER(seal, Alter(statuses));
    EXPECT_FEEDS_AFTER(seal, Alter(statuses[0].body.rank));
    EXPECT_FEEDS_AFTER(seal, Alter(statuses[0].body.value));
    EXPECT_FEEDS_AFTER(seal, Alter(statuses[0].digest));
    EXPECT_FEEDS_AFTER(seal, statuses[0].frame = parts::FrameOf(1));
    EXPECT_FEEDS_AFTER(seal, Alter(round.proposals));
    ProposeSeen& proposal = round.proposals[0];
    EXPECT_FEEDS_AFTER(seal, Alter(proposal.leader));
    EXPECT_FEEDS_AFTER(seal, Alter(proposal.body.rank));
    EXPECT_FEEDS_AFTER(seal, Alter(proposal.body.value));
    EXPECT_FEEDS_AFTER(seal, Alter(proposal.body.statuses));
    EXPECT_FEEDS_AFTER(seal, Alter(proposal.body.statuses_root));
    EXPECT_FEEDS_AFTER(seal, Alter(proposal.digest));
    EXPECT_FEEDS_AFTER(seal, proposal.frame = parts::FrameOf(2));
    EXPECT_FEEDS_AFTER(seal, round.refusal += "x");
  }
  static void OfDecision(const Seal& seal, SealDecision& decision) {
    EXPECT_FEEDS_AFTER(seal, Alter(decision.value_));
    EXPECT_FEEDS_AFTER(seal, Alter(decision.certificate_));
    EXPECT_FEEDS_AFTER(seal, Alter(decision.witnesses_));
    EXPECT_FEEDS_AFTER(seal, Alter(decision.vector_));
    EXPECT_FEEDS_AFTER(seal, Alter(decision.asked_));
    EXPECT_FEEDS_AFTER(seal, Alter(decision.alone_));
  }
  static void OfTranscript() {
    SealTranscript words;
    EXPECT_FEEDS(words, shelves_);
    EXPECT_FEEDS(words, shelves_.begin()->second);
    EXPECT_FEEDS(words, shelves_.begin()->second.begin()->second.reach);
    EXPECT_FEEDS_AFTER(words,
                       words.shelves_.begin()->second.begin()->second.frame = parts::FrameOf(1));
    EXPECT_FEEDS(words, bytes_);
    EXPECT_FEEDS(words, slow_);
  }
};

TEST(Fingerprint, FeedsEveryFieldOfASealAndItsParts) { FingerprintProbe::OfSeal(); }
TEST(Fingerprint, FeedsEveryFieldOfATranscript) { FingerprintProbe::OfTranscript(); }

}  // namespace ostraka::protocol
