// The implementation of MakePeer: the machine that owns the parts (node/protocol/parts) and reads
// the step (node/protocol/rules/step_reading.h). Its functions live in one file per concern.
//   peer_machine.cpp   inputs, signing, halting
//   peer_messages.cpp  what is let in: window, relays, equivocation
//   peer_seals.cpp     the seal in progress and the past ones
//   peer_pull.cpp      asking for what is missing, answering those who ask
//   peer_genesis.cpp   start, restart and the genesis seal
//   peer_collect.cpp   COMMIT, PARTs, AGG, RESULT and seal A
//   peer_coin.cpp      REVEAL and seal B
//   peer_prove.cpp     PROOF + VERDICT and seal C
//   peer_evidence.cpp  the sealed frames from which charges are made
//   peer_forks.cpp     the run has split: what proves it, and who caused it
//   peer_cases.cpp     jobs and questions of cases, parts of disputed pairs
//   peer_settle.cpp    the block, the update, the next step
//   peer_end.cpp       the run is over here, but not for all others
//   peer_follow.cpp    away from the run: catching up, asking to come back
//   peer_echoes.cpp    whose ECHO no honest member sends
//   peer_late.cpp      who lets the others wait, measured here
//   peer_progress.cpp  what people are told
//
// Flow: every input changes the inbox or the round, and then Advance() takes as many transitions as
// the sealed and received data allow. Nothing is decided anywhere else.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/protocol/ground/roles.h"
#include "node/protocol/member/peer.h"
#include "node/protocol/parts/chain.h"
#include "node/protocol/parts/charges.h"
#include "node/protocol/parts/duties.h"
#include "node/protocol/parts/followers.h"
#include "node/protocol/parts/genesis_seal.h"
#include "node/protocol/parts/inbox.h"
#include "node/protocol/parts/journal.h"
#include "node/protocol/parts/ration.h"
#include "node/protocol/parts/reports.h"
#include "node/protocol/parts/stage.h"
#include "node/protocol/parts/stay.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/judgement.h"
#include "node/protocol/rules/step_reading.h"
#include "node/protocol/seal/seal.h"
#include "node/protocol/sync/catch_up.h"
#include "node/protocol/watch/fork_trial.h"
#include "node/protocol/watch/fork_watch.h"

namespace ostraka::protocol {

inline constexpr TimerId kEchoTimer = 1;    // the phase's deadline: echo what is there
inline constexpr TimerId kBulkTimer = 2;    // parts or results do not come: go on without them
inline constexpr TimerId kSealTimer = 3;    // the seal's own clock
inline constexpr TimerId kPullTimer = 4;    // ask for what is missing
inline constexpr TimerId kFollowTimer = 5;  // the way back

// A state is stored once in so many blocks, the results in between with each.
inline constexpr std::uint64_t kStateEvery = 16;

inline constexpr char kAllDone[] = "all steps are done";

// The step in progress.
struct Round {
  explicit Round(StepReading before) : reading(std::move(before)) {}

  StepReading reading;                   // what the seals have decided
  Digest entry_a, entry_b, entry_c;      // decisions that open the seals
  std::optional<std::uint32_t> my_part;  // index that this member aggregates
  std::set<PeerId> asleep;  // of reading.absent, who is not waited for and not heard any more

  // Collecting.
  std::vector<SharedBlob> parts;  // own gradient, one a column
  bool parts_lost = false;        // committed before a crash, and not the same bits any more
  struct HeldPart {
    SharedBlob blob;
    Digest commit;  // digest of the COMMIT that the part is under
    base::SharedBytes frame;
  };
  std::map<PeerId, HeldPart> held;  // for my_part, checked
  std::set<PeerId> refused;         // senders whose part can never be included
  std::set<PeerId> to_judge;        // of whom something came since: only their parts are looked at
  bool parts_closed = false;        // complete, or the part timer fired
  bool aggregation_started = false;
  std::vector<LivePair> pairs;  // disputed, and meeting in this step
  Time forward_until;           // what a pair owes each other and came later is not passed on
  // Of those (by index in view.disputes): whose part or result I passed on to the other party.
  std::set<std::size_t> forwarded_parts, forwarded_results;
  std::set<std::size_t> spoilt_parts;  // of those: nobody may take the part in

  // Proving.
  std::vector<SharedBlob> results;  // one a column; null until held
  bool results_closed = false;
  bool bulk_expired = false;  // the phase waits for no more bulk data
  bool prove_started = false;
  std::optional<std::vector<wire::ColumnNumbers>> numbers;
  std::size_t recomputations_pending = 0;  // and votes on exhibits
  std::optional<wire::Accusation> accusation;
  bool root_pending = false;
  std::optional<Digest> my_state_root;
  bool proof_prepared = false;

  // Settling.
  Digest decision_c;
  std::vector<ColumnFate> fates;
  StepTimes times;
};

// A decided seal of this step or the last, for those who are stuck in it.
struct PastSeal {
  SealVector vector;
  std::vector<base::SharedBytes> certificate;
};

class PeerMachine final : public Machine, public SealMessages {
 public:
  explicit PeerMachine(PeerOptions options);

  void Step(Time now, const Input& input, Outbox& out) override;
  void CheckInvariants() const override;
  Digest Fingerprint() const override;
  Progress progress() const override;

 private:
  enum class Purpose : std::uint8_t {
    kGradient,
    kPack,
    kAggregate,
    kProve,
    kCrossCheck,
    kAccuse,
    kVote,
    kExhibit,
    kRoot,
    kUpdate,
    kReplay,  // an update while restoring or catching up
  };
  struct PendingJob {
    Purpose purpose = Purpose::kGradient;
    std::uint64_t step = 0;
    PeerId target = {};          // kAccuse
    wire::CaseId about = {};     // kVote, kExhibit
    std::uint64_t era = 0;       // results of an era that is over are dropped
    std::uint64_t asked_in = 0;  // the step in progress then
  };
  // What one waits for from another, for people.
  struct Awaited {
    PeerId sender;
    wire::MessageType type = wire::MessageType::kBoot;
  };

  // --- inputs (peer_machine.cpp) ---
  void On(const Started& input);
  void On(const MessageReceived& input);
  void On(const LinkChanged& input);
  void On(const TimerFired& input);
  void On(const JobDone& input);
  void On(const Stored& input);
  void Advance();
  bool TryAdvance();
  std::uint64_t CurrentStep() const { return round_ ? round_->reading.sealed.step : 0; }
  void Enter(Stage stage);  // the one place where the stage changes
  bool InStep() const;      // a member at work: a stage from kCollect to kUpdate
  // The step in progress, or the one that the view's members seal next.
  std::uint64_t ExpectedStep() const { return InStep() ? CurrentStep() : HeightOf(chain_.head()); }
  base::Duration moment() const;  // SealOptions::moment
  wire::Slot SlotOf(wire::Phase phase, wire::MessageType type, std::uint32_t draw = 0,
                    std::uint32_t iteration = 0) const;
  Draft MakeDraft(const wire::Slot& slot, Bytes body, std::vector<PeerId> to,
                  SharedBlob blob = nullptr) const;
  void Prepare(std::vector<Draft> drafts);
  void SendService(const PeerId& to, wire::Slot slot, Bytes body, SharedBlob blob = nullptr);
  void Halt(Halted::Why why, std::string reason);
  void Suspect(const PeerId& peer, std::string check, std::string reason);
  // What a job that was asked for in this step gave.
  void OnResult(const PendingJob& job, const JobResult& result);
  // The same, of a step that is over.
  void OnOverdue(const PendingJob& job, const JobResult& result);
  template <typename Spec>
  void StartJob(PendingJob job, Spec spec);
  const Digest& EntryOf(wire::Phase phase) const;

  // --- what is let in (peer_messages.cpp) ---
  void OnSigned(const wire::SharedMessage& shared, const MessageReceived& input);
  static bool IsSealMessage(wire::MessageType type) {
    return (type >= wire::MessageType::kEcho && type <= wire::MessageType::kLock) ||
           type == wire::MessageType::kClose;
  }
  bool InWindow(const wire::Slot& slot) const;
  bool IsOldBallot(const wire::Slot& slot) const;
  void TakeToSeal(const wire::SignedEnvelope& message, const PeerId& from);
  bool BulkWanted(const wire::Envelope& envelope, const PeerId& from, std::uint64_t bytes) const;
  // Why the bulk data cannot be what the message announces; nullopt if it is.
  static std::optional<std::string> BlobFault(const wire::Envelope& envelope,
                                              const SharedBlob& blob);
  bool Verified(const wire::SignedEnvelope& message, const PeerId& from);
  void Accept(const wire::SharedMessage& shared, SharedBlob blob);
  void KeepEquivocation(const Inbox::Item& item);
  // --- the run has split (peer_forks.cpp) ---
  // False if nothing more is to be done with the message: forged, or the run has split.
  bool WatchForFork(const wire::SignedEnvelope& message, const PeerId& from);
  bool IsOtherHistory(std::uint64_t step, const Digest& entry) const;
  void TraceHistory(const PeerId& from, std::uint64_t step);
  void AskHeadsOfDropped();
  void AnswerProofs(const PeerId& from, std::uint64_t step);
  void Freeze(const Fork& fork);
  void ShowFork(const PeerId& to);
  void HearOfFork(const wire::SignedEnvelope& message, const PeerId& from);
  void StoreForkLine(bool last);
  void EndTrial();
  // --- peer_evidence.cpp
  void ProveFalseReveals();
  void KeepUnreadable();
  std::vector<SharedBytes> SealedCommits() const;
  SealedMessages MessagesOf(const SealVector& vector) const;
  void NoteAttestation(const wire::SignedEnvelope& message, const PeerId& from);
  // A message that names the right entry decision; null if there is none (yet).
  const Inbox::Item* Usable(const Inbox::Place& place, const PeerId& sender) const;

  // --- seals (peer_seals.cpp) ---
  SealEntry EntryNow(std::size_t index) const override;
  bool Holds(std::size_t index, const Digest& digest) const override;
  // Entries of the current seal: two a member in phase A, else one.
  std::size_t EntryCount() const;
  // Where entry `index` of the current seal is found; nullopt if nobody fills it.
  std::optional<std::pair<Inbox::Place, PeerId>> PlaceOfEntry(std::size_t index) const;
  void OpenSeal(wire::Phase phase, std::uint32_t draw, base::Duration deadline);
  bool WaitsForLastCoin() const;
  // Echoes once `complete`; true when the seal has decided.
  bool DriveSeal(bool complete);
  // No entry of the member is waited for, as the ECHO shows why.
  bool OwesNothing(std::size_t index, const PeerId& member) const;
  bool EntriesComplete();  // nothing that somebody awake owes is absent
  void FeedSeal(const wire::SignedEnvelope& message);
  void Perform(SealOutput output);
  Digest CloseSeal();  // remembers it; returns the decision's digest
  void OnPastSealMessage(const SealKey& key, const wire::SignedEnvelope& message,
                         const PeerId& from);

  // --- services (peer_pull.cpp) ---
  void OnService(const PeerId& from, const wire::Envelope& envelope, const SharedBlob& blob);
  void Answer(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull);
  void AnswerMessages(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull);
  void AnswerHead(const PeerId& to);
  void SayWaiting(const PeerId& to);
  void ShowHead(const PeerId& to);
  void SendFrame(const PeerId& to, const base::SharedBytes& frame);
  void AnswerBlocks(const PeerId& to, const wire::Slot& slot, std::uint64_t count);
  void AnswerResult(const PeerId& to, std::uint64_t step, std::uint64_t column);
  void AnswerPart(const PeerId& to, const wire::Slot& slot, const wire::Pull& pull);
  void AnswerPartOfThisStep(const PeerId& to, const PeerId& worker, std::uint32_t column);
  void AnswerState(const PeerId& to, std::uint64_t step, std::uint64_t index);
  void Ask(const PeerId& to, wire::Slot slot, const wire::Pull& pull);
  void AskHeads();
  bool IsStuck() const;
  void ArmPull(base::Duration after);
  void OnPullTimer();
  bool PullEntries();
  bool PullEchoes();
  bool PullResults();
  void AskForRefusedParts();  // the step begins

  // --- start (peer_genesis.cpp) ---
  base::Status Restore(const Restored& restored);
  void ReplayNext();
  void OnReplayed(const UpdateResult& result);
  void BeginGenesis();
  void OnBegun(const PeerId& from, const Digest& block);
  void LeaveGenesis();
  void ShowGenesisEchoes(const PeerId& to);
  bool TryGenesis();

  // --- seal A (peer_collect.cpp) ---
  void BeginStep();
  void StartRecomputations();
  bool StartRecomputation(PendingJob job, const PeerId& target);
  void OnGradient(const GradientResult& result);
  void OnPacked(const PackResult& result);
  void PrepareCommit(std::optional<Digest> gradient_root, const std::vector<Digest>& part_roots);
  std::vector<PeerId> RecipientsOfPart(std::uint32_t column) const;
  void JudgeParts();
  // Why nobody may take the part in for that column; nullopt if it is good. All who hold both
  // messages find the same: else others would say that they held what its owner refused.
  std::optional<std::string> PartFault(const Inbox::Item& commit, const Inbox::Item& part,
                                       std::uint32_t column) const;
  void TryAggregate();
  void OnAggregated(const AggregateResult& result);
  void PrepareAggregate(const SharedBlob& result);
  Draft ResultDraft(const SharedBlob& result) const;
  void SendResultAgain();
  bool TrySealA();
  void TakeSealA(const SealVector& vector);
  void PutAbsentToSleep();

  // --- seal B (peer_coin.cpp) ---
  crypto::Coin CoinOf(std::uint32_t draw) const;
  std::vector<Digest> CoinCommitments() const;
  void OpenSealB();
  void PrepareReveal();
  bool TrySealB();

  // --- seal C (peer_prove.cpp) ---
  void BeginProve();
  void JudgeResults();
  bool ResultWanted(std::size_t column) const;
  bool TakeResult(std::size_t column, const SharedBlob& blob);
  void KeepResult(std::uint64_t step, std::uint32_t column, const SharedBlob& blob);
  void TryProve();
  void TryPrepareProof();
  bool TrySealC();
  void TakeSealC(const SealVector& vector);
  Column ColumnOf(std::size_t index) const;

  // --- cases and disputes (peer_cases.cpp) ---
  std::size_t DisputesOfWorker(const PeerId& worker) const;
  bool CanPassOn(const LivePair& pair);
  void ForwardDisputed();
  void StartCrossCheck();
  void OnCrossChecked(const PendingJob& job, const CrossCheckResult& result);
  bool PullExhibits();
  void OnExhibit(const wire::SignedEnvelope& message, const PeerId& from, const SharedBlob& blob);
  void TryJudgeExhibits();

  // --- block and update (peer_settle.cpp) ---
  bool TrySettle();
  void TakeBlock(std::shared_ptr<const Block> block);
  void RememberStep();
  void StartUpdate();
  void OnUpdated(const UpdateResult& result);
  void ShowHeadToFollowers();

  // --- the end of the run (peer_end.cpp) ---
  bool RunIsOver(const Block& block) const;
  void Finish();
  bool HasFinished(const PeerId& member) const;
  void NoteFinished(const PeerId& peer);
  void HaltIfAllFinished();
  void OnLingerTimer();
  void OnSignedAfterEnd(const wire::SharedMessage& shared, const PeerId& from);

  // --- away (peer_follow.cpp) ---
  // Signs nothing more in this step: the run goes on without this member.
  void Leave(std::string reason, bool trust_state = true);
  void Follow();
  void AdvanceFollowing();
  void ApplyNext();
  void OnCaughtUp(const ModelState& state);
  bool AdmitsThisStore(const Block& block) const;
  bool MustBeAdmitted() const;
  void AtHead();
  void SendRejoin();
  void SayBarred();
  void OnRejoin(const wire::SignedEnvelope& message, const PeerId& from);
  // `sender` is two steps ahead, or in a run that has not begun here. True iff so many members are
  // that one of them is honest.
  bool NoteAhead(const PeerId& sender);
  // The same; then the run went on without this member.
  void LeaveIfBehind(const PeerId& sender);
  bool MayReturn(const PeerId& peer) const;

  // --- others' ECHOs (peer_echoes.cpp) ---
  void WatchEchoes(base::Duration deadline);
  void NoteEcho(const wire::SignedEnvelope& message);
  void TakeWatches(const SealVector& decided);
  bool IsShown(const Digest& value) const;

  // --- slowness (peer_late.cpp) ---
  LateWatch::Options LateWatchOptions() const;
  void WatchSealA();  // just opened
  void WatchSealB();
  void WatchSealC();
  bool IsHere(const LateWatch::Word& word);
  void UpdateLateWatch();
  void PullLate();
  std::optional<PeerId> SlowestSender() const;
  void TellOwnLateness();

  // --- for people (peer_progress.cpp) ---
  wire::Phase PhaseNow() const;
  std::vector<Awaited> AwaitedMessages() const;

  // Fixed.
  std::shared_ptr<const Manifest> manifest_;
  std::shared_ptr<crypto::Verifier> verifier_;
  std::shared_ptr<wire::Opener> opener_;
  base::TensorLayout layout_;
  PeerId self_;

  Chain chain_;
  std::optional<Time> decided_c_;  // when the last step's seal C was decided here
  // By step: whose links brought a PART before it began here, for which there was no room.
  std::map<std::uint64_t, std::set<PeerId>> refused_early_;
  bool told_slow_ = false;  // people were told that this member is slow

  // The step in progress.
  Stage stage_ = Stage::kUnstarted;
  std::optional<Round> round_;
  GenesisSeal genesis_;
  std::unique_ptr<Seal> seal_;
  bool overdue_ = false;  // the last coin of the step
  wire::Slot seal_slot_;  // of its ECHO
  std::map<SealKey, PastSeal> past_seals_;
  SealTranscript words_;  // of the seal in progress
  ForkWatch forks_;
  std::optional<ForkTrial> trial_;  // once the run has split
  std::optional<Time> pull_at_;     // when kPullTimer fires
  std::uint32_t pull_attempts_ = 0;
  std::size_t entries_settled_ = 0;            // of this seal: the first so many lack nothing
  std::map<PeerId, std::size_t> odd_ballots_;  // of this seal, by who sent them: TakeToSeal

  Followers followers_;
  Stay stay_;  // kLinger
  std::set<PeerId> ahead_;
  Ration ration_;

  // Away.
  std::optional<CatchUp> catch_up_;
  bool said_barred_ = false;
  // The step in which this member fell asleep: it takes no part in it any more.
  std::optional<std::uint64_t> left_step_;
  bool replaying_ = false;
  // The store was lost, or began after the run: only what follows an admission may be signed, and
  // one that this store asked for: blocks of the past have those of the stores before it.
  bool must_rejoin_ = false;
  std::optional<std::uint64_t> asks_since_;  // height of the first block that can count its REJOINs
  std::deque<std::pair<std::shared_ptr<const Block>, std::vector<SharedBlob>>> to_replay_;

  Inbox inbox_;
  Turn turn_;
  Journal journal_;
  Charges charges_;
  Reports reports_;
  Duties duties_;
  bool resends_ = true;  // false: halted without having said what the peers need
  std::map<JobId, PendingJob> jobs_;
  std::uint64_t era_ = 0;
  JobId next_job_ = 1;
  Digest private_seed_;
  std::uint64_t store_nonce_ = 0;

  Time mark_;  // when the current part of the step's time began
};

}  // namespace ostraka::protocol
