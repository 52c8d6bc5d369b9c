// Away from the run: why, the way back (catch_up.h), and the REJOIN that ends it.
//
// One who is away signs nothing but REJOIN. It is a member again when a block admits it; or, if no
// block dropped it while it was away, as soon as it has the newest block: what it said it said in
// steps that are over.
#include <algorithm>
#include <utility>

#include "crypto/stream.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/schedule.h"
#include "node/protocol/member/peer_machine.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

bool PeerMachine::NoteAhead(const PeerId& sender) {
  if (IsMember(chain_.head().members, sender)) ahead_.insert(sender);
  return ahead_.size() > FaultBound(chain_.head().thresholds);
}

void PeerMachine::LeaveIfBehind(const PeerId& sender) {
  // The view is of the new block and the state still of the old one: BeginStep asks anew.
  if (!NoteAhead(sender) || stage_ == Stage::kUpdate) return;
  Leave("the others are steps ahead: this node was too slow, or cut off");
}

void PeerMachine::Leave(std::string reason, bool trust_state) {
  const std::uint64_t step = ExpectedStep();
  if (InStep()) left_step_ = step;
  charges_.StoreVerdicts();
  ++era_;
  said_barred_ = false;
  turn_.Do(Observe{Away{step, std::move(reason)}});
  for (const TimerId timer : {kEchoTimer, kBulkTimer, kSealTimer, kPullTimer}) {
    turn_.Do(CancelTimer{timer});
  }
  decided_c_.reset();
  // A step that was not finished left the view and the state as they were before it.
  round_.reset();
  seal_.reset();
  pull_at_.reset();
  duties_.Clear();
  past_seals_.clear();
  chain_.ForgetPast();
  ahead_.clear();
  replaying_ = false;
  to_replay_.clear();
  Enter(Stage::kFollow);
  // An answer takes two ways, each a quarter of Delta at most.
  const base::Duration round_trip{chain_.delta().ns / 2};
  catch_up_.emplace(self_, layout_, chain_.shared_head(), chain_.state(), trust_state, round_trip);
  for (const auto& [height, kept] : chain_.recent().all()) {
    if (height <= HeightOf(chain_.head())) continue;
    const auto block = wire::DecodeBlock(kept.encoded);
    OSTRAKA_CHECK(block.ok());  // encoded here
    catch_up_->OnBlock(self_, *block, 0);
  }
  Follow();
}

// Asks every member to send what it sends to members. Again now and then: some may have restarted.
void PeerMachine::Follow() {
  wire::Slot slot = SlotOf(Phase::kC, MessageType::kPull);
  slot.step = HeightOf(chain_.head());
  for (const Member& member : manifest_->members) {
    Ask(member.id, slot, {.kind = wire::PullKind::kFollow});
  }
  turn_.Do(SetTimer{kFollowTimer, turn_.now() + chain_.delta()});
}

void PeerMachine::AdvanceFollowing() {
  std::vector<Record> fresh;
  for (const SharedBlock& block : catch_up_->TakeBlocks()) {
    // Stored when it is applied if it was sealed here before the crash.
    const bool stored = chain_.recent().Find(HeightOf(*block)) != nullptr;
    const RecentBlocks::Kept& kept = chain_.KeepBlock(*block);
    if (!stored) fresh.push_back(Journal::RecordOf(kept.genesis, kept.step, kept.encoded));
  }
  if (!fresh.empty()) journal_.StoreBlocks(std::move(fresh));
  if (auto state = catch_up_->TakeState()) {
    ++era_;  // an update of the old way may be under way
    replaying_ = false;
    chain_.AdvanceHead(state->first);
    chain_.SetState(state->second);
    // The blocks that were taken may begin after this one.
    journal_.StoreBlock(chain_.head(), wire::EncodeBlock(chain_.head()));
    journal_.StoreState(chain_.head(), chain_.state());
    turn_.Do(Observe{StepDone{chain_.shared_head(), chain_.state()}});
  }
  for (const CatchUp::Request& request : catch_up_->Wants(turn_.now())) {
    wire::Slot slot = SlotOf(request.phase, MessageType::kPull);
    slot.step = request.step;
    Ask(request.to, slot, request.pull);
  }
  if (const auto wake = catch_up_->wake())
    turn_.Do(SetTimer{kFollowTimer, std::max(*wake, turn_.now())});
  ApplyNext();
}

void PeerMachine::ApplyNext() {
  if (replaying_) return;
  const auto next = catch_up_->Next();
  if (!next) {
    if (catch_up_->at_head()) AtHead();
    return;
  }
  replaying_ = true;
  to_replay_.clear();
  to_replay_.emplace_back(next->block, next->results);
  ReplayNext();
}

void PeerMachine::OnCaughtUp(const ModelState& state) {
  const auto [block, results] = to_replay_.front();
  to_replay_.clear();
  replaying_ = false;
  for (std::uint32_t j = 0; j < results.size(); ++j) {
    if (results[j] != nullptr) KeepResult(block->step, j, results[j]);
  }
  chain_.TrimResults();
  chain_.AdvanceHead(block);
  chain_.SetState(state);
  if (HeightOf(chain_.head()) % kStateEvery == 0)
    journal_.StoreState(chain_.head(), chain_.state());
  if (must_rejoin_ && AdmitsThisStore(chain_.head())) {
    must_rejoin_ = false;
    journal_.StoreMembership(chain_.head());
  }
  catch_up_->Applied(chain_.shared_head(), chain_.state());
  turn_.Do(Observe{StepDone{chain_.shared_head(), chain_.state()}});
  turn_.Do(Observe{
      CatchingUp{HeightOf(chain_.head()), HeightOf(*catch_up_->head()), catch_up_->Describe()}});
  inbox_.ForgetBefore(HeightOf(chain_.head()));
}

// `probation` blocks in a row confirmed it, so it is this store's if the first of them could be.
bool PeerMachine::AdmitsThisStore(const Block& block) const {
  const bool joins =
      std::find(block.joined.begin(), block.joined.end(), self_) != block.joined.end();
  return joins && asks_since_ && HeightOf(block) >= *asks_since_ + manifest_->probation - 1;
}

bool PeerMachine::MustBeAdmitted() const {
  return must_rejoin_ && !base::Planted(base::Bug::kReturnsWithoutAdmission);
}

// The newest block that is known here: a member again, or one who asks to be.
void PeerMachine::AtHead() {
  if (chain_.head().decision.is_zero()) return;  // not even the genesis block yet
  const Standing* standing = StandingOf(chain_.head().standings, self_);
  if (standing != nullptr && standing->banned) {
    return Halt(Halted::Why::kBanned, "banned: see `ostraka ledger explain`");
  }
  if (RunIsOver(chain_.head())) {
    Follow();  // says by its step that it has all: nobody need wait for it
    return Halt(Halted::Why::kFinished, kAllDone);
  }
  if (!IsMember(chain_.head().members, self_)) return SendRejoin();
  if (left_step_ && HeightOf(chain_.head()) <= *left_step_)
    return;  // asleep in it: it ends without us
  // Until a block has dropped the one who signed from the lost store.
  if (MustBeAdmitted()) return;
  catch_up_.reset();
  turn_.Do(CancelTimer{kFollowTimer});
  turn_.Do(Observe{Back{HeightOf(chain_.head())}});
  BeginStep();
}

void PeerMachine::SendRejoin() {
  const std::uint64_t step = HeightOf(chain_.head());
  if (!MayRejoin(chain_.head(), *manifest_, self_, step)) return SayBarred();
  wire::Slot slot = SlotOf(Phase::kC, MessageType::kRejoin);
  slot.step = step;
  if (journal_.Said(slot)) return;
  wire::Rejoin rejoin;
  rejoin.nonce = crypto::DeriveCoin(private_seed_.view(), step, ~std::uint64_t{0}).salt;
  if (must_rejoin_ && !asks_since_) {
    asks_since_ = step + 1;
    journal_.StoreAsks(step);
  }
  Draft draft{wire::Envelope{slot, wire::BlockDigest(chain_.head()), self_, wire::Encode(rejoin)},
              nullptr, chain_.head().members};
  Prepare({std::move(draft)});
}

void PeerMachine::SayBarred() {
  const Standing* standing = StandingOf(chain_.head().standings, self_);
  if (standing == nullptr || said_barred_) return;
  said_barred_ = true;
  turn_.Do(Observe{Barred{standing->last_drop_step, standing->barred_until}});
}

void PeerMachine::OnRejoin(const wire::SignedEnvelope& message, const PeerId& from) {
  const PeerId& sender = message.envelope.sender;
  if (!InStep() || sender != from) return;
  if (!MayRejoin(chain_.head(), *manifest_, sender, CurrentStep())) return;
  if (followers_.HasRejoin(sender, message.envelope.entry)) return;
  if (!Verified(message, from)) return;
  followers_.OnRejoin(sender, message.envelope.entry, turn_.now());
}

}  // namespace ostraka::protocol
