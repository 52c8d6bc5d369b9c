// The implementation of MakePeer: one class, whose member functions live in one file per phase.
//   peer_machine.cpp  inputs, signing, seals, halting
//   peer_collect.cpp  genesis; COMMIT, PARTs, AGG, RESULT and seal A
//   peer_coin.cpp     REVEAL and seal B
//   peer_prove.cpp    PROOF + VERDICT and seal C
//   peer_settle.cpp   the block, the update, the next step
//   peer_progress.cpp what it waits for, and from whom
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

#include "node/protocol/columns.h"
#include "node/protocol/inbox.h"
#include "node/protocol/judgement.h"
#include "node/protocol/peer.h"
#include "node/protocol/roles.h"
#include "node/protocol/seal.h"
#include "node/protocol/signer.h"

namespace ostraka::protocol {

// What is kept of a past step, so that claims about it can be checked.
struct PastStep {
  ModelState state;  // x^s
  double tau = 0;
  Digest previous_randomness;   // r^{s-1}
  std::vector<Column> applied;  // with results and directions
  std::map<PeerId, wire::Proof> proofs;
};
inline constexpr std::uint64_t kPastSteps = 16;

inline constexpr TimerId kSealTimer = 1;  // a phase takes too long: the fast path has failed
inline constexpr TimerId kBulkTimer = 2;  // parts or results do not come: go on without them

// The step in progress.
struct Round {
  SealedStep sealed;  // step, roles and tau from the start; the rest as the seals decide
  Digest entry_a, entry_b, entry_c;  // decisions that open the seals
  std::uint32_t coin_count = 0;
  std::optional<std::uint32_t> my_part;  // index that this member aggregates

  // Collecting.
  std::vector<SharedBlob> parts;  // own gradient, one a column
  struct HeldPart {
    SharedBlob blob;
    Digest root;
    Digest commit;  // digest of the COMMIT that the part is under
  };
  std::map<PeerId, HeldPart> held;  // for my_part, checked
  std::set<PeerId> refused;         // senders whose part can never be included
  bool parts_closed = false;        // complete, or the part timer fired
  bool aggregation_started = false;

  // Coin.
  std::uint32_t draw = 0;
  std::map<PeerId, Digest> coins;
  std::set<PeerId> false_revealers;
  Digest randomness;
  std::vector<Assignment> next_drawn;

  // Proving.
  std::vector<SharedBlob> results;  // one a column; null until held
  bool results_closed = false;
  bool prove_started = false;
  std::optional<std::vector<wire::ColumnNumbers>> numbers;
  std::size_t recomputations_pending = 0;
  std::optional<wire::Accusation> accusation;
  bool root_pending = false;
  std::optional<Digest> my_state_root;
  bool proof_prepared = false;

  // Settling.
  Digest decision_c;
  SealedFaults faults;
  std::vector<ColumnFate> fates;
  StepTimes times;
};

class PeerMachine final : public Machine {
 public:
  explicit PeerMachine(PeerOptions options);

  void Step(Time now, const Input& input, Outbox& out) override;
  void CheckInvariants() const override;
  Digest Fingerprint() const override;
  Progress progress() const override;

 private:
  enum class Stage : std::uint8_t {
    kUnstarted,
    kGenesis,  // BOOT and the genesis seal
    kCollect,  // seal A
    kReveal,   // seal B
    kProve,    // seal C
    kSettle,   // waiting for results that the block needs
    kUpdate,   // waiting for the new state
    kHalted,   // at most LinkChanged is answered: resends_
  };
  enum class Purpose : std::uint8_t {
    kGradient,
    kPack,
    kAggregate,
    kProve,
    kCrossCheck,
    kAccuse,
    kVote,
    kRoot,
    kUpdate,
  };
  struct PendingJob {
    Purpose purpose = Purpose::kGradient;
    std::uint64_t step = 0;
    PeerId accuser, target;  // kAccuse, kVote
  };
  struct CaseKey {
    PeerId accuser, target;
    std::uint64_t step = 0;
    auto operator<=>(const CaseKey&) const = default;
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

  // --- messages ---
  std::uint64_t CurrentStep() const { return round_ ? round_->sealed.step : 0; }
  wire::Slot SlotOf(wire::Phase phase, wire::MessageType type, std::uint32_t draw = 0,
                    std::uint32_t iteration = 0) const;
  bool InWindow(const wire::Slot& slot) const;
  void Accept(wire::SignedEnvelope message, SharedBlob blob);
  void KeepEquivocation(const Inbox::Item& item);
  const Digest& EntryOf(wire::Phase phase) const;
  // A message that names the right entry decision; null if there is none (yet).
  const Inbox::Item* Usable(const Inbox::Place& place, const PeerId& sender) const;
  Draft MakeDraft(const wire::Slot& slot, Bytes body, std::vector<PeerId> to,
                  SharedBlob blob = nullptr) const;
  void Prepare(std::vector<Draft> drafts);

  // --- seals ---
  // The entry of one member's message in a vector.
  SealEntry EntryFor(const Inbox::Place& place, const PeerId& sender) const;
  // Echoes `complete` once it is given; true when the fast path has decided own_vector_.
  bool DriveSeal(wire::Phase phase, std::uint32_t draw, const std::optional<SealVector>& complete);
  void BeginPhase();  // arms the seal timer
  std::string DescribeWait() const;

  // --- what it waits for (peer_progress.cpp) ---
  struct Awaited {
    wire::MessageType type;
    PeerId sender;
  };
  wire::Phase PhaseNow() const;
  // The messages without which the current stage cannot end, own ones too.
  std::vector<Awaited> AwaitedMessages() const;

  void Halt(Halted::Why why, std::string reason);
  void Suspect(const PeerId& peer, std::string check, std::string reason);
  template <typename Spec>
  void StartJob(PendingJob job, Spec spec);

  // --- genesis and seal A (peer_collect.cpp) ---
  void BeginGenesis();
  bool TryGenesis();
  void BeginStep();
  void StartRecomputations();
  bool StartRecomputation(const PendingJob& job);
  void OnGradient(const GradientResult& result);
  void OnPacked(const PackResult& result);
  void PrepareCommit(std::optional<Digest> gradient_root, const std::vector<Digest>& part_roots);
  void JudgeParts();
  // Why the part of `worker` is refused; nullopt and the part held if it is good.
  std::optional<std::string> JudgePart(const PeerId& worker, const Inbox::Item& commit,
                                       const Inbox::Item& part);
  void TryAggregate();
  void OnAggregated(const AggregateResult& result);
  void PrepareAggregate(const SharedBlob& result);
  bool TrySealA();
  bool CommitIsComplete(const PeerId& member, const wire::Commit& commit) const;
  void TakeSealA();

  // --- seal B (peer_coin.cpp) ---
  crypto::Coin CoinOf(std::uint32_t draw) const;
  std::vector<Digest> CoinCommitments() const;
  bool MustReveal(const PeerId& peer) const;
  void PrepareReveal();
  bool TrySealB();
  // Opens the reveals that seal B fixed; true if all were good and the coin of the step is known.
  bool OpenReveals();
  bool RevealIsGood(const PeerId& peer);
  void MixCoins();

  // --- seal C (peer_prove.cpp) ---
  void BeginProve();
  void JudgeResults();
  bool ResultIsGood(std::size_t column, const Inbox::Item& item) const;
  bool ResultWanted(std::size_t column) const;
  void TryProve();
  void OnRecomputed(const PendingJob& job, const RecomputeResult& result);
  void TryPrepareProof();
  bool TrySealC();
  void TakeSealC();

  // --- block and update (peer_settle.cpp) ---
  bool TrySettle();
  void TakeBlock(std::shared_ptr<const Block> block);
  void JudgeInlineEvidence();
  void StartCrossCheck();
  void OnCrossChecked(const PendingJob& job, const CrossCheckResult& result);
  void StartUpdate();
  void OnUpdated(const UpdateResult& result);
  void RememberStep();
  Column ColumnOf(std::size_t index) const;

  // Fixed.
  std::shared_ptr<const Manifest> manifest_;
  std::shared_ptr<crypto::Verifier> verifier_;
  base::TensorLayout layout_;
  PeerId self_;

  // The chain and the replicated state.
  std::shared_ptr<const Block> view_;  // last block: whose members seal the next one
  ModelState state_;
  std::vector<Assignment> drawn_;       // validators of the current step, as drawn
  std::vector<PeerId> workers_proven_;  // of the last step: PROOF sealed
  std::optional<std::uint64_t> last_removal_step_;
  std::map<std::uint64_t, PastStep> past_;
  std::map<CaseKey, std::optional<wire::Verdict>> my_verdicts_;  // nullopt: being recomputed
  std::map<PeerId, Bytes> evidence_;  // inline evidence against members, to put into VERDICT

  // The step in progress.
  Stage stage_ = Stage::kUnstarted;
  std::optional<Round> round_;
  Digest entry_genesis_;
  std::optional<SealVector> own_vector_;  // echoed; nullopt while still collecting
  std::map<PeerId, wire::Echo> echoes_;   // of the current seal

  Inbox inbox_;
  Signer signer_;
  struct Sent {
    std::uint64_t step = 0;
    SharedBytes frame;
    SharedBlob blob;
    std::vector<PeerId> to;
  };
  std::deque<Sent> sent_;  // of this step and the last, for links that come back
  bool resends_ = true;    // false: halted without having said what the peers need
  std::map<JobId, PendingJob> jobs_;
  JobId next_job_ = 1;
  StoreId next_store_ = 1;
  Digest private_seed_;

  // Of the Step call in progress.
  Time now_;
  Outbox* out_ = nullptr;
  Time mark_;  // when the current part of the step's time began
};

}  // namespace ostraka::protocol
