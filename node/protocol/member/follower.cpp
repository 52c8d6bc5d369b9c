#include "node/protocol/member/follower.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "crypto/stream.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/invite.h"
#include "node/protocol/ground/reach.h"
#include "node/protocol/ground/schedule.h"
#include "node/protocol/ground/stored_state.h"
#include "node/protocol/lasting/chain_server.h"
#include "node/protocol/mail/timers.h"
#include "node/protocol/rules/standing.h"
#include "node/protocol/step/settling.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

// Blocks between two times that a key shows by what invite it came in, while it follows.
constexpr std::uint64_t kCredentialEvery = 16;

bool Observes(const Arrival& arrival) {
  return arrival.voucher && arrival.voucher->kind == wire::InviteKind::kObserve;
}

Outcome Refused(const std::string& why) {
  return Outcome::Halt(Halted::Why::kRefused, "this key may not come in: " + why);
}

}  // namespace

bool Follower::MustBeAdmitted() const {
  return must_rejoin_ && !base::Planted(base::Bug::kReturnsWithoutAdmission);
}

void Follower::Leave(std::optional<std::uint64_t> step, bool trust_state) {
  if (step) left_step_ = step;
  said_barred_ = false;
  unconfirmed_since_.reset();
  replay_.Clear();
  // An answer takes two ways, each a quarter of Delta at most.
  const base::Duration round_trip{core_.chain.delta().ns / 2};
  catch_up_.emplace(core_.self, core_.layout, core_.manifest->codecs.results,
                    core_.chain.shared_head(), core_.chain.state(), trust_state, round_trip,
                    std::exchange(kept_, std::nullopt));
  for (const auto& [height, kept] : core_.chain.recent().all()) {
    if (height <= HeightOf(core_.chain.head())) continue;
    auto block = wire::DecodeBlock(kept.encoded);
    OSTRAKA_CHECK(block.ok());  // encoded here
    catch_up_->OnBlock(core_.self, *std::move(block), crypto::MakeBlob(kept.encoded));
  }
  if (next_ != nullptr) catch_up_->Trust(std::exchange(next_, nullptr));
  ShowCredential();
  ShowCredentialAsKey();
  FollowAll();
}

// Asks a key of the run to send what it sends to members.
void Follower::Follow(const PeerId& key) const {
  core_.voice.Ask(key, ServiceSlot(HeightOf(core_.chain.head()), Phase::kC, MessageType::kPull),
                  {.kind = wire::PullKind::kFollow});
}

void Follower::Send(const CatchUp::Request& request) const {
  core_.voice.Ask(request.to, ServiceSlot(request.step, request.phase, MessageType::kPull),
                  request.pull);
}

void Follower::FollowAll() const {
  for (const PeerId& key : KeysOf(core_.chain.head())) Follow(key);
  core_.turn.Do(SetTimer{kFollowTimer, core_.turn.now() + core_.chain.delta()});
}

// --- answers ------------------------------------------------------------------------------------

// A COMMIT names the block before its step as its parent: enough of these prove it (catch_up.h).
void Follower::NoteAttestation(const wire::SignedEnvelope& message, const PeerId& from) {
  const wire::Envelope& envelope = message.envelope;
  const wire::Slot& slot = envelope.slot;
  if (slot.phase != Phase::kA || slot.type != MessageType::kCommit) return;
  if (slot.step < HeightOf(core_.chain.head())) return;
  const bool known = catch_up_->histories().HasAttest(envelope.sender, slot.step, envelope.entry);
  if (!known && !check_.VerifiedOdd(message, from)) return;
  catch_up_->OnAttest(envelope.sender, slot.step, envelope.entry);
}

void Follower::OnChunk(const PeerId& from, const wire::Slot& slot, const wire::Chunk& chunk,
                       const SharedBlob& blob) {
  if (slot.phase == kStateChunk) return catch_up_->OnState(from, slot, chunk, blob);
  catch_up_->OnResult(from, slot.step, chunk.index, blob);
}

// --- the way back -------------------------------------------------------------------------------

Outcome Follower::Advance() {
  if (const auto& two = catch_up_->histories().found()) {
    return Outcome::Halt(Halted::Why::kForked, two->Line());
  }
  StoreParts();
  NameLiars();
  if (const auto refusal = RefusalByNewest()) return Refused(*refusal);
  // A store that has a state does not remember from where it came: it is compared first.
  const bool is_compared = !catch_up_->histories().Waits(core_.turn.now());
  if (is_compared) TakeState();
  if (is_compared) StoreFresh();
  Ask();
  return is_compared ? ApplyNext() : Outcome::Wait();
}

void Follower::StoreFresh() {
  std::vector<Record> fresh;
  for (const SharedBlock& block : catch_up_->TakeBlocks()) {
    // Stored when it is applied if it was sealed here before the crash.
    const bool stored = core_.chain.recent().Find(HeightOf(*block)) != nullptr;
    const RecentBlocks::Kept& kept = core_.chain.KeepBlock(*block);
    if (!stored) fresh.push_back(Journal::RecordOf(kept.genesis, kept.step, kept.encoded));
  }
  if (!fresh.empty()) core_.journal.StoreBlocks(std::move(fresh));
}

// So that a fetch goes on if this process is killed.
void Follower::StoreParts() {
  const StateParts fresh = catch_up_->TakeParts();
  if (fresh.parts.empty()) return;
  core_.journal.StoreStateParts(fresh.step, fresh.parts);
  SayHowFar();
}

void Follower::SayHowFar() {
  std::string how_far = catch_up_->Describe();
  const Links links = CountLinks();
  if (!IsKey(core_.chain.head(), core_.self) && !links.enough()) {
    how_far += "; it has links with " + std::to_string(links.linked) + " of the " +
               std::to_string(links.could) +
               " members that it can have one with, and asks to come "
               "in when it lacks " +
               std::to_string(links.may_lack) + " at most";
  }
  core_.turn.Do(Observe{
      CatchingUp{HeightOf(core_.chain.head()), HeightOf(*catch_up_->head()), std::move(how_far)}});
}

Follower::Links Follower::CountLinks() const {
  const Block& newest = *catch_up_->head();
  const bool only_dials = core_.voice.wishes().OnlyDials(false);
  Links links{.may_lack = FaultBound(newest.thresholds)};
  for (const PeerId& member : only_dials ? ReachableIn(newest) : newest.members) {
    if (member == core_.self) continue;
    ++links.could;
    links.linked += post_.IsLinked(member) ? 1 : 0;
  }
  return links;
}

void Follower::NameLiars() {
  for (const auto& [liar, step] : catch_up_->TakeLiars()) {
    core_.turn.Do(Observe{Suspicion{step, liar, "state",
                                    "sent a false part of the state of step " +
                                        std::to_string(step) + ": others are asked for it"}});
  }
}

void Follower::TakeState() {
  auto state = catch_up_->TakeState();
  if (!state) return;
  core_.jobs.EndEra();  // an update of the old way may be under way
  replay_.Clear();
  Chain& chain = core_.chain;
  chain.AdvanceHead(state->first);
  chain.KeepBlock(chain.head());
  chain.SetState(state->second);
  ForgetBefore(HeightOf(chain.head()));
  // The blocks that were taken may begin after this one.
  chain.StateIsStored(core_.journal.StoreBlockAndState(chain.head(), chain.state()));
  core_.turn.Do(Observe{StepDone{chain.shared_head(), chain.state()}});
  ShowCredential();
}

void Follower::Ask() {
  const bool stranger = !IsKey(core_.chain.head(), core_.self);
  // Bulk answers come over links alone. Without this, a newcomer asks members that it is not linked
  // with, waits for each, stays some steps behind, and is never admitted.
  const auto is_linked = [this](const PeerId& peer) { return post_.IsLinked(peer); };
  for (const CatchUp::Request& request : catch_up_->Wants(core_.turn.now(), is_linked)) {
    // Resend our REJOIN: the peer may have evicted us as a guest.
    if (stranger && request.pull.kind == wire::PullKind::kFollow) {
      core_.journal.Repeat(request.to);
    }
    Send(request);
  }
  if (const auto wake = catch_up_->wake()) {
    core_.turn.Do(SetTimer{kFollowTimer, std::max(*wake, core_.turn.now())});
  }
}

Outcome Follower::ApplyNext() {
  if (replay_.busy()) return Outcome::Wait();
  const auto next = catch_up_->Next();
  if (!next) return catch_up_->at_head() ? AtHead() : Outcome::Wait();
  AskOnTheWay();
  replay_.Clear();
  replay_.Add({next->block, next->results});
  replay_.Start(core_.jobs, *core_.manifest, core_.layout, core_.chain.state(), core_.voice.step());
  return Outcome::Wait();
}

void Follower::OnJob(JobId id, const JobResult& result) {
  const auto [block, results] = replay_.Take(id);
  Chain& chain = core_.chain;
  for (std::uint32_t j = 0; j < results.size(); ++j) {
    if (results[j] != nullptr) core_.KeepResult(block->step, j, results[j]);
  }
  chain.TrimResults();
  chain.AdvanceHead(block);
  chain.SetState(std::get<UpdateResult>(result).state);
  if (!block->joined.empty()) ShowCredential();
  const std::uint64_t height = HeightOf(chain.head());
  if (StoresState(*core_.manifest, height)) core_.StoreState();
  if (must_rejoin_ && AdmitsThisStore(chain.head())) {
    must_rejoin_ = false;
    core_.journal.StoreMembership(chain.head());
  }
  catch_up_->Applied(chain.shared_head(), chain.state());
  core_.turn.Do(Observe{StepDone{chain.shared_head(), chain.state()}});
  SayHowFar();
  ForgetBefore(height);
  if (height % kCredentialEvery == 0) ShowCredential();
}

// Forget messages of steps that are over: REJOINs, and this member's messages of the step that it
// left. Those of the last step stay for members that are stuck in it.
void Follower::ForgetBefore(std::uint64_t height) {
  core_.inbox.ForgetBefore(height);
  core_.journal.ForgetBefore(height == 0 ? 0 : height - 1);
}

// `probation` blocks in a row confirmed it, so it is this store's if the first of them could be.
bool Follower::AdmitsThisStore(const Block& block) const {
  const bool joins =
      std::find(block.joined.begin(), block.joined.end(), core_.self) != block.joined.end();
  return joins && asks_since_ && HeightOf(block) >= *asks_since_ + core_.manifest->probation - 1;
}

// --- at the head --------------------------------------------------------------------------------

// The newest block that is known here: a member again, or a former member that asks to be one.
Outcome Follower::AtHead() {
  const Block& head = core_.chain.head();
  if (head.decision.is_zero()) return Outcome::Wait();  // not even the genesis block yet
  const Standing* standing = StandingOf(head.standings, core_.self);
  if (standing != nullptr && standing->banned) {
    return Outcome::Halt(Halted::Why::kBanned, "banned: see `ostraka ledger explain`");
  }
  if (wire::RunIsOver(head)) {
    FollowAll();  // says by its step that it has all: nobody need wait for it
    return Outcome::Halt(Halted::Why::kFinished, kAllDone);
  }
  if (!IsMember(head.members, core_.self)) return SendRejoin();
  // Muted in that step: it ends without this member.
  if (left_step_ && HeightOf(head) <= *left_step_) return Outcome::Wait();
  // Until a block has dropped the key that signed from the lost store (F2).
  if (MustBeAdmitted()) return Outcome::Wait();
  catch_up_.reset();
  core_.turn.Do(CancelTimer{kFollowTimer});
  core_.turn.Do(Observe{Back{HeightOf(head)}});
  return Outcome::BeginStep();
}

Arrival Follower::OwnArrival() const {
  Arrival arrival{core_.self, std::nullopt};
  if (credential_ && !IsAllowed(*core_.manifest, core_.self)) {
    arrival.voucher = VoucherOf(core_.manifest->run_id, credential_->invite);
  }
  return arrival;
}

// Of a stranger members answer nothing before. Until it has asked it names no block, so it asks for
// nothing: the admission of an earlier store may lie before the newest block (F2). On the way it is
// shown again, to members that came later and to those that forgot it.
void Follower::ShowCredential() {
  const Block& head = core_.chain.head();
  if (IsKey(head, core_.self)) return;
  SayRejoin(HeightOf(head), asks_since_ ? wire::BlockDigest(head) : Digest{});
}

// Members of this run hear its keys without. [Who came in by an invite, was started again and
// reached only members of a copied run, which did not know its key, waited for ever: nobody
// answered, so nobody showed it the second history.]
void Follower::ShowCredentialAsKey() {
  const Block& head = core_.chain.head();
  if (IsKey(head, core_.self) && OwnArrival().voucher) SayRejoin(HeightOf(head), Digest{});
}

Outcome Follower::SendRejoin() {
  const Block& head = core_.chain.head();
  const std::uint64_t step = HeightOf(head);
  const Standing* standing = StandingOf(head.standings, core_.self);
  if (standing != nullptr && step < standing->barred_until) {
    SayBarred();
    return Outcome::Wait();
  }
  if (!MayReturn(head, core_.self, step)) {
    const Arrival arrival = OwnArrival();
    const auto refusal = RefusalOf(head, *core_.manifest, arrival, step);
    // It asks for no more than to follow. Members forget a guest that asks for nothing, so it shows
    // its invite again with each block.
    if (refusal && Observes(arrival) && !LastingRefusalOf(head, *core_.manifest, arrival, step)) {
      ShowCredential();
      return Outcome::Wait();
    }
    // The next block may admit a candidate of this one. [A newcomer that was killed just when it
    // was admitted came back without its invite, and took the block before for the newest.]
    if (refusal && CandidateOf(head, core_.self) != nullptr) return Outcome::Wait();
    if (refusal) return Refused(*refusal);
  }
  AskToBeAdmitted(step);
  return Outcome::Wait();
}

// The refusal that AtHead will find, so that a newcomer with a bad invite fetches no state first.
// The block may be an old one. Attack: a member shows one of a time when all seats were taken.
std::optional<std::string> Follower::RefusalByNewest() {
  const Block& newest = *catch_up_->head();
  const std::uint64_t step = HeightOf(newest);
  if (step <= std::max(judged_, HeightOf(core_.chain.head()))) return std::nullopt;
  judged_ = step;
  if (wire::RunIsOver(newest)) return std::nullopt;
  if (IsKey(newest, core_.self) || CandidateOf(newest, core_.self) != nullptr) return std::nullopt;
  return LastingRefusalOf(newest, *core_.manifest, OwnArrival(), step);
}

// F2: an admission up to `newest`, the newest height that is known here, may be an earlier store's.
void Follower::AskToBeAdmitted(std::uint64_t newest) {
  const Block& head = core_.chain.head();
  if (!IsKey(head, core_.self) && !CountLinks().enough()) return;
  SayUnconfirmed();
  if (must_rejoin_ && !asks_since_) {
    asks_since_ = newest + 1;
    core_.journal.StoreAsks(newest);
  }
  SayRejoin(HeightOf(head), wire::BlockDigest(head));
}

// Where steps are shorter than what a block takes to come here, this node is always some blocks
// behind, and at the head by chance alone. [A newcomer to eight members with steps of Delta / 3
// asked so seldom that 230 steps did not admit it.] A REJOIN may name a block that is no longer the
// newest (Followers, F3). In a closed run all is as it was.
void Follower::AskOnTheWay() {
  constexpr std::uint64_t kBehind = 4;  // half of what members allow: the REJOIN travels, too
  const Block& head = core_.chain.head();
  const std::uint64_t step = HeightOf(head);
  const std::uint64_t newest = HeightOf(*catch_up_->head());
  if (!IsOpen(*core_.manifest) || head.decision.is_zero() || newest > step + kBehind) return;
  if (IsMember(head.members, core_.self)) return;
  const Standing* standing = StandingOf(head.standings, core_.self);
  if (standing != nullptr && (standing->banned || step < standing->barred_until)) return;
  const bool returns = MayReturn(head, core_.self, step);
  if (!returns && RefusalOf(head, *core_.manifest, OwnArrival(), step)) return;
  AskToBeAdmitted(newest);
}

void Follower::SayRejoin(std::uint64_t step, const Digest& block) {
  const Block& head = core_.chain.head();
  const wire::Slot slot = core_.voice.SlotOf(step, Phase::kC, MessageType::kRejoin);
  if (core_.journal.Said(slot)) return;
  wire::Rejoin rejoin;
  rejoin.nonce = core_.secrets->RejoinNonce(step);
  if (OwnArrival().voucher) rejoin.credential = credential_;
  core_.voice.Prepare(core_.voice.MakeDraft(slot, block, wire::Encode(rejoin), head.members));
}

// This key asks to come in, and may. Once members confirm it, it is a candidate some blocks later.
// It asks until then, and tells people once if nobody confirms it.
void Follower::SayUnconfirmed() {
  constexpr std::uint64_t kBlocks = 32;
  const Block& head = core_.chain.head();
  const std::uint64_t height = HeightOf(head);
  const bool is_confirmed = CandidateOf(head, core_.self) != nullptr;
  if (is_confirmed || IsKey(head, core_.self)) return unconfirmed_since_.reset();
  const std::uint64_t since = unconfirmed_since_.value_or(height);
  unconfirmed_since_ = since;
  if (said_unconfirmed_ || height < since + kBlocks) return;
  said_unconfirmed_ = true;
  const base::Duration at_most{core_.chain.delta().ns / 2};
  core_.turn.Do(Observe{Unconfirmed{since, at_most}});
}

void Follower::SayBarred() {
  const Standing* standing = StandingOf(core_.chain.head().standings, core_.self);
  if (standing == nullptr || said_barred_) return;
  said_barred_ = true;
  core_.turn.Do(Observe{Barred{standing->last_drop_step, standing->barred_until}});
}

void Follower::CheckInvariants() const {
  if (catch_up_) catch_up_->CheckInvariants();
  replay_.CheckInvariants();
  OSTRAKA_CHECK(!replay_.busy() || catch_up_);
}

void Follower::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, *core_.secrets, catch_up_, replay_, said_barred_, unconfirmed_since_,
               said_unconfirmed_, judged_, left_step_, must_rejoin_, asks_since_, kept_, next_);
}

}  // namespace ostraka::protocol
