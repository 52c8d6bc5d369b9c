#include "tests/unit/protocol/fingerprint.h"

#include "node/protocol/mail/inbox.h"
#include "node/protocol/mail/job_desk.h"
#include "node/protocol/mail/post.h"
#include "node/protocol/mail/pull_timer.h"
#include "node/protocol/mail/ration.h"
#include "node/protocol/mail/voice.h"
#include "tests/unit/protocol/keys.h"

namespace ostraka::protocol {

struct FingerprintProbe {
  static void OfInbox() {
    Inbox inbox;
    wire::SignedEnvelope message;
    EXPECT_FEEDS(inbox, wanted_);
    EXPECT_FEEDS_AFTER(inbox, inbox.places_[{}][{}].message = wire::Share(message));
    message.digest.bytes[0] = 1;
    EXPECT_FEEDS_AFTER(inbox, inbox.places_[{}][{}].message = wire::Share(message));
    EXPECT_FEEDS_AFTER(inbox, inbox.places_[{}][{}].blob = crypto::MakeBlob({1}));
    EXPECT_FEEDS_AFTER(inbox,
                       inbox.places_[{}][{}].rivals.push_back({wire::Share(message), nullptr}));
  }
  static void OfJobDesk() {
    const Turn turn;
    JobDesk desk(turn);
    EXPECT_FEEDS(desk, open_);
    EXPECT_FEEDS(desk, open_.begin()->second.job.about);
    EXPECT_FEEDS(desk, open_.begin()->second.job.asked_in);
    EXPECT_FEEDS(desk, open_.begin()->second.wanted);
    EXPECT_FEEDS(desk, next_);
  }
  static void OfJournal() {
    const Turn turn;
    Journal journal(scene::KeyNumber(1), turn);
    EXPECT_FEEDS(journal, signer_.pending_);
    EXPECT_FEEDS(journal, signer_.pending_.begin()->second);
    Draft& draft = journal.signer_.pending_.begin()->second[0];
    EXPECT_FEEDS_AFTER(journal, Alter(draft.envelope.slot.step));
    EXPECT_FEEDS_AFTER(journal, Alter(draft.envelope.entry));
    EXPECT_FEEDS_AFTER(journal, Alter(draft.envelope.sender));
    EXPECT_FEEDS_AFTER(journal, Alter(draft.envelope.body));
    EXPECT_FEEDS_AFTER(journal, draft.blob = crypto::MakeBlob({1}));
    EXPECT_FEEDS_AFTER(journal, Alter(draft.to));
    EXPECT_FEEDS(journal, signer_.said_);
    EXPECT_FEEDS(journal, next_store_);
    EXPECT_FEEDS(journal, sent_);
    EXPECT_FEEDS(journal, sent_[0].slot.step);
    EXPECT_FEEDS_AFTER(
        journal, journal.sent_[0].frame = std::make_shared<const base::Bytes>(base::Bytes{1}));
    EXPECT_FEEDS_AFTER(
        journal, journal.sent_[0].frame = std::make_shared<const base::Bytes>(base::Bytes{2}));
    EXPECT_FEEDS_AFTER(journal, journal.sent_[0].blob = crypto::MakeBlob({1}));
    EXPECT_FEEDS_AFTER(journal, journal.sent_[0].blob = crypto::MakeBlob({2}));
    EXPECT_FEEDS(journal, sent_[0].to);
    EXPECT_FEEDS(journal, sent_[0].bulk);
  }
  static void OfPullTimer() {
    const Turn turn;
    PullTimer timer(turn);
    EXPECT_FEEDS(timer, at_);
    EXPECT_FEEDS(timer, attempts_);
  }
  static void OfRation() {
    Ration ration(1000);
    EXPECT_FEEDS(ration, bytes_a_second_);
    EXPECT_FEEDS(ration, pruned_);
    EXPECT_FEEDS(ration, used_);
    EXPECT_FEEDS(ration, used_.begin()->second.since);
    EXPECT_FEEDS(ration, used_.begin()->second.answers);
    EXPECT_FEEDS(ration, used_.begin()->second.bytes);
    EXPECT_FEEDS(ration, used_.begin()->second.odd_messages);
    EXPECT_FEEDS(ration, used_.begin()->second.forgeries);
    EXPECT_FEEDS(ration, used_.begin()->second.repeats);
    EXPECT_FEEDS(ration, used_.begin()->second.forwards);
    EXPECT_FEEDS(ration, used_.begin()->second.forwarded_bytes);
    EXPECT_FEEDS(ration, used_.begin()->second.services);
    EXPECT_FEEDS(ration, used_.begin()->second.service_bytes);
    EXPECT_FEEDS(ration, used_.begin()->second.carried_answers);
    EXPECT_FEEDS(ration, used_.begin()->second.carried_answer_bytes);
    EXPECT_FEEDS(ration, used_.begin()->second.rejoins);
  }
  static void OfGuestRation() {
    GuestRation ration({1, 1, 1});
    EXPECT_FEEDS(ration, owes_until_);
    EXPECT_FEEDS(ration, owes_until_.begin()->second[0]);
    EXPECT_FEEDS(ration, pruned_);
  }
  static void OfPost() {
    Post post({}, {});
    EXPECT_FEEDS_AFTER(post, post.head_ = std::make_shared<const wire::Block>());
    EXPECT_FEEDS(post, linked_);
  }
  static void OfVoice() {
    const Turn turn;
    Journal journal(scene::KeyNumber(1), turn);
    Voice voice({}, {}, turn, journal);
    EXPECT_FEEDS(voice, step_);
    EXPECT_FEEDS(voice, wishes_.only_dials_);
    EXPECT_FEEDS(voice, wishes_.leave_);
    EXPECT_FEEDS(voice, wishes_.said_);
    EXPECT_FEEDS(voice, wishes_.revocations_);
    EXPECT_FEEDS(voice, own_);
    EXPECT_FEEDS_AFTER(voice, voice.own_[0].message = wire::Share({}));
    EXPECT_FEEDS_AFTER(voice, voice.own_[0].blob = crypto::MakeBlob({1}));
  }
};

TEST(Fingerprint, FeedsEveryFieldOfTheInbox) { FingerprintProbe::OfInbox(); }
TEST(Fingerprint, FeedsEveryFieldOfTheGuestRation) { FingerprintProbe::OfGuestRation(); }
TEST(Fingerprint, FeedsEveryFieldOfThePost) { FingerprintProbe::OfPost(); }
TEST(Fingerprint, FeedsEveryFieldOfTheJobDesk) { FingerprintProbe::OfJobDesk(); }
TEST(Fingerprint, FeedsEveryFieldOfTheJournalAndItsSigner) { FingerprintProbe::OfJournal(); }
TEST(Fingerprint, FeedsEveryFieldOfThePullTimer) { FingerprintProbe::OfPullTimer(); }
TEST(Fingerprint, FeedsEveryFieldOfTheRation) { FingerprintProbe::OfRation(); }
TEST(Fingerprint, FeedsEveryFieldOfTheVoice) { FingerprintProbe::OfVoice(); }

}  // namespace ostraka::protocol
