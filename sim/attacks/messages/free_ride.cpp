// free_ride: harm that once cost its author nothing. Each kind breaks the assumption behind a rule
// without breaking the rule itself.
//   kind 1  sends messages as late as no rule charges: params commit, agg, reveal, result, proof
//           (in Delta after the phase began), echo (after the first honest ECHO of the seal)
//   kind 2  sends, after the gate, an ECHO that lacks an entry: not hasty, not silent, and shown
//   kind 3  sends AGG, REVEAL and PROOF to one honest member only, a different one for each seal:
//           the others ask for them, a quarter of Delta later, and that counts as lag
//   kind 4  sends a disputed part early to all others, and fills the owner's places for early parts
//           before that: the owner leaves out a part that all others held
//   kind 5  all colluders leave out one worker twice; the other members, kept a little behind, have
//           no places for its parts
//   kind 6  an owner names an honest worker falsely, and shows the exhibit to few members, so that
//           the bar stays low
//   kind 7  kind 3, and kind 1 with `echo`
//   kind 8  sends its AGG a little late and names an honest worker as the slowest: up to `all` of
//           them
//   kind 9  one colluder is late with its own messages (commit), the others with their AGGs (agg),
//           and they name the first: it pays for both
//
// Rule: the bounds on time, frames and traffic that a member may cost (docs/protocol/waits.md).
// Cost to honest members: time and frames up to those bounds.
// Found by: the charges for lateness and disputes; below the bounds nothing, as promised.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "node/base/check.h"
#include "node/protocol/seal/seal_vector.h"
#include "node/wire/codec.h"
#include "sim/adversary/frames.h"
#include "sim/adversary/later.h"
#include "sim/adversary/substitute.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

using wire::MessageType;
using wire::Phase;

struct SealId {
  std::uint64_t step = 0;
  Phase phase = Phase::kA;
  std::uint32_t draw = 0;
  auto operator<=>(const SealId&) const = default;
};
SealId SealOfSlot(const wire::Slot& slot) { return {slot.step, slot.phase, slot.draw}; }

class Base : public Editor {
 public:
  explicit Base(const EditorOptions& options)
      : from_step_(options.from_step),
        victims_(options),
        manifest_(options.manifest),
        delta_(options.manifest->delta) {
    for (const protocol::Member& member : manifest_->members) members_.push_back(member.id);
  }

 protected:
  // Notes Delta, members and disputes of the head, and the times at which phases began here.
  void See(EditorTurn& turn, const protocol::Action& action) {
    const auto* observe = std::get_if<protocol::Observe>(&action);
    if (!observe) return;
    if (const auto* done = std::get_if<protocol::StepDone>(&observe->what)) {
      delta_ = base::Microseconds(static_cast<std::int64_t>(done->block->delta_us));
      members_ = done->block->members;
      block_ = done->block;
      OnBlock(turn);
    } else if (const auto* started = std::get_if<protocol::StepStarted>(&observe->what)) {
      opened_[{started->step, Phase::kA, 0}] = turn.now();
      while (opened_.size() > 40) opened_.erase(opened_.begin());
      OnOpened(turn, {started->step, Phase::kA, 0});
    } else if (const auto* sealed = std::get_if<protocol::Sealed>(&observe->what)) {
      const auto phase = static_cast<Phase>(sealed->phase);
      if (phase == Phase::kA) Open(turn, {sealed->step, Phase::kB, 0});
      if (phase == Phase::kB) Open(turn, {sealed->step, Phase::kC, 0});
    }
  }
  void Open(EditorTurn& turn, const SealId& seal) {
    opened_[seal] = turn.now();
    OnOpened(turn, seal);
  }
  virtual void OnOpened(EditorTurn&, const SealId&) {}
  virtual void OnBlock(EditorTurn&) {}
  base::Duration Deltas(double count) const {
    return {static_cast<std::int64_t>(count * static_cast<double>(delta_.ns))};
  }
  bool IsHonest(const EditorTurn& turn, const base::PeerId& peer) const {
    return !turn.coven().Contains(peer);
  }
  bool IsMember(const base::PeerId& peer) const {
    return std::find(members_.begin(), members_.end(), peer) != members_.end();
  }
  // The index of this peer among the colluders.
  std::size_t Place(const EditorTurn& turn) const {
    const auto& all = turn.coven().members();
    return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), turn.self()) -
                                    all.begin());
  }

  std::uint64_t from_step_;
  Victims victims_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  base::Duration delta_;
  std::vector<base::PeerId> members_;
  std::shared_ptr<const wire::Block> block_;
  std::map<SealId, base::Time> opened_;
  FrameReader in_, out_;
};

// --- kind 1 --------------------------------------------------------------------------------------

class Linger final : public Base {
 public:
  explicit Linger(const EditorOptions& options) : Base(options), params_(options.params) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    if (later_.OnInput(turn, input)) return;
    if (const auto* received = std::get_if<protocol::MessageReceived>(&input)) {
      const wire::SignedEnvelope* message = in_.Open(received->frame);
      if (message && message->envelope.slot.type == MessageType::kEcho &&
          IsHonest(turn, message->envelope.sender)) {
        NoteEcho(turn, SealOfSlot(message->envelope.slot));
      }
    }
    turn.Deliver(input);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    See(turn, action);
    const wire::SignedEnvelope* message = out_.Read(action);
    if (!message || !turn.round() || message->envelope.slot.phase == Phase::kGenesis ||
        message->envelope.slot.step < from_step_) {
      return turn.Emit(std::move(action));
    }
    const wire::Slot& slot = message->envelope.slot;
    const bool own = message->envelope.sender == turn.self();
    const base::PeerId to = std::get<protocol::Send>(action).to;
    if (own && slot.type == MessageType::kEcho && Param("echo") > 0) {
      const SealId seal = SealOfSlot(slot);
      if (!said_.insert({seal, to}).second) return;  // one copy for each receiver
      while (said_.size() > 4096) said_.erase(said_.begin());
      turn.Confess();
      const auto first = echoed_.find(seal);
      if (first != echoed_.end()) {
        return later_.Hold(turn, std::max(first->second + Deltas(Param("echo")), turn.now()),
                           std::move(action));
      }
      waiting_[seal].push_back(std::move(action));
      return;
    }
    const auto due = DueOf(turn, slot, own);
    if (!due || *due <= turn.now()) return turn.Emit(std::move(action));
    turn.Confess();
    if (wire::IsService(slot.type)) return;
    later_.Hold(turn, *due, std::move(action));
  }

 private:
  double Param(const char* name) const { return params_.at(name); }
  void NoteEcho(EditorTurn& turn, const SealId& seal) {
    if (!echoed_.emplace(seal, turn.now()).second) return;
    while (echoed_.size() > 64) echoed_.erase(echoed_.begin());
    auto waiting = waiting_.extract(seal);
    if (waiting.empty()) return;
    for (auto& action : waiting.mapped()) {
      later_.Hold(turn, turn.now() + Deltas(Param("echo")), std::move(action));
    }
  }
  std::optional<base::Time> After(const SealId& seal, const char* name) const {
    const auto opened = opened_.find(seal);
    if (Param(name) <= 0 || opened == opened_.end()) return std::nullopt;
    return opened->second + Deltas(Param(name));
  }
  std::optional<base::Time> DueOf(EditorTurn& turn, const wire::Slot& slot, bool own) const {
    if (!own && slot.type != MessageType::kChunk) return std::nullopt;
    switch (slot.type) {
      case MessageType::kCommit:
      case MessageType::kPart:
        return After({slot.step, Phase::kA, 0}, "commit");
      case MessageType::kAggregate:
        return After({slot.step, Phase::kA, 0}, "agg");
      case MessageType::kReveal:
        return slot.draw == 0 ? After({slot.step, Phase::kB, 0}, "reveal") : std::nullopt;
      case MessageType::kProof:
        return After({slot.step, Phase::kC, 0}, "proof");
      case MessageType::kResult:
      case MessageType::kChunk: {
        if (slot.phase != Phase::kA || slot.step != turn.step() || Param("result") <= 0) {
          return std::nullopt;
        }
        const auto due = After({slot.step, Phase::kC, 0}, "result");
        return due ? due : turn.now() + Deltas(1000);
      }
      default:
        return std::nullopt;
    }
  }
  void OnOpened(EditorTurn& turn, const SealId& seal) override {
    if (seal.phase != Phase::kC || Param("result") <= 0) return;
    std::multimap<base::Time, protocol::Action> dated;
    for (auto& [due, action] : later_.held()) {
      const bool far = due > turn.now() + Deltas(500);
      dated.emplace(far ? turn.now() + Deltas(Param("result")) : due, std::move(action));
    }
    later_.held() = std::move(dated);
    later_.Arm(turn);
  }

  std::map<std::string, double> params_;
  Later later_;
  std::map<SealId, base::Time> echoed_;
  std::map<SealId, std::vector<protocol::Action>> waiting_;
  std::set<std::pair<SealId, base::PeerId>> said_;
};

// --- kind 2 --------------------------------------------------------------------------------------

class AfterGate final : public Base {
 public:
  explicit AfterGate(const EditorOptions& options)
      : Base(options),
        after_(options.Param("echo") > 0 ? options.Param("echo") : 2.4),
        forger_(options.key) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    if (later_.OnInput(turn, input)) return;
    if (const auto* received = std::get_if<protocol::MessageReceived>(&input)) {
      const wire::SignedEnvelope* message = in_.Open(received->frame);
      if (message) {
        Note(message->envelope, message->digest);
        if (message->envelope.slot.type == MessageType::kPull && Answered(turn, *message)) return;
        if (message->envelope.slot.type == MessageType::kEcho &&
            IsHonest(turn, message->envelope.sender)) {
          const SealId seal = SealOfSlot(message->envelope.slot);
          if (echoed_.emplace(seal, turn.now()).second) Release(turn, seal);
          while (echoed_.size() > 64) echoed_.erase(echoed_.begin());
        }
      }
    }
    turn.Deliver(input);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    See(turn, action);
    if (const wire::SignedEnvelope* any = out_.Read(action)) Note(any->envelope, any->digest);
    const wire::SignedEnvelope* message = out_.ReadOwn(turn, action, from_step_);
    if (!message) return turn.Emit(std::move(action));
    const wire::Slot& slot = message->envelope.slot;
    switch (slot.type) {
      case MessageType::kStatus:
      case MessageType::kPropose:
      case MessageType::kVote:
      case MessageType::kLock:
        return;  // without them: all honest members make a quorum
      case MessageType::kEcho:
        break;
      default:
        return turn.Emit(std::move(action));
    }
    const SealId seal = SealOfSlot(slot);
    auto send = std::get<protocol::Send>(std::move(action));
    if (!said_.insert({seal, send.to}).second) return;
    if (!forger_.Knows(slot)) {
      if (const auto lie = Lie(turn, *message)) {
        turn.Confess();
        forger_.Forge(*message, wire::Encode(*lie));
      } else {
        forger_.Forge(*message, message->envelope.body);
      }
    }
    send.frame = forger_.Forge(*message, {});
    const auto first = echoed_.find(seal);
    if (first == echoed_.end()) {
      waiting_[seal].push_back(std::move(send));
    } else {
      later_.Hold(turn, std::max(turn.now(), first->second + Deltas(after_)), std::move(send));
    }
  }

 private:
  void Release(EditorTurn& turn, const SealId& seal) {
    auto waiting = waiting_.extract(seal);
    if (waiting.empty()) return;
    for (auto& action : waiting.mapped()) {
      later_.Hold(turn, turn.now() + Deltas(after_), std::move(action));
    }
  }
  void Note(const wire::Envelope& envelope, const base::Digest& digest) {
    const wire::Slot& slot = envelope.slot;
    const bool entry = slot.type == MessageType::kCommit || slot.type == MessageType::kAggregate ||
                       slot.type == MessageType::kReveal || slot.type == MessageType::kProof;
    if (!entry) return;
    digests_[SealOfSlot(slot)][{slot.type, envelope.sender}] = digest;
    while (digests_.size() > 16) digests_.erase(digests_.begin());
  }
  std::optional<wire::Echo> Lie(const EditorTurn& turn, const wire::SignedEnvelope& own) {
    const auto* echo = own.As<wire::Echo>();
    if (echo == nullptr) return std::nullopt;
    const wire::Slot& slot = own.envelope.slot;
    const std::size_t n = members_.size();
    const std::size_t entries = slot.phase == Phase::kA ? 2 * n : n;
    protocol::SealVector vector(entries);
    std::optional<std::size_t> left_out;
    for (std::size_t i = 0; i < entries; ++i) {
      const auto state = protocol::StateIn(*echo, i);
      if (state == protocol::SealEntry::State::kAbsent) continue;
      MessageType type = MessageType::kCommit;
      if (slot.phase == Phase::kA && i >= n) type = MessageType::kAggregate;
      if (slot.phase == Phase::kB) type = MessageType::kReveal;
      if (slot.phase == Phase::kC) type = MessageType::kProof;
      vector[i] = {state, digests_[SealOfSlot(slot)][{type, members_[i % n]}]};
      if (state == protocol::SealEntry::State::kEquivocated) vector[i].digest = {};
      if (IsHonest(turn, members_[i % n])) left_out = i;
    }
    if (protocol::EchoOf(vector).vector != echo->vector || !left_out) return std::nullopt;
    vector[*left_out] = {};
    const wire::Echo lie = protocol::EchoOf(vector);
    shown_[lie.vector] = protocol::WireOf(vector);
    return lie;
  }
  bool Answered(EditorTurn& turn, const wire::SignedEnvelope& asked) {
    const auto* pull = asked.As<wire::Pull>();
    if (pull == nullptr || pull->kind != wire::PullKind::kVector || pull->digests.empty())
      return false;
    const auto shown = shown_.find(pull->digests[0]);
    if (shown == shown_.end()) return false;
    wire::Slot slot = asked.envelope.slot;
    slot.type = MessageType::kVector;
    turn.Emit(protocol::Send{
        asked.envelope.sender,
        wire::EncodeService({slot, base::Digest{}, turn.self(), wire::Encode(shown->second)}),
        nullptr});
    return true;
  }

  double after_;
  Later later_;
  Forger forger_;
  std::map<SealId, base::Time> echoed_;
  std::map<SealId, std::vector<protocol::Action>> waiting_;
  std::set<std::pair<SealId, base::PeerId>> said_;
  std::map<SealId, std::map<std::pair<MessageType, base::PeerId>, base::Digest>> digests_;
  std::map<base::Digest, wire::Vector> shown_;
};

// --- kind 3 --------------------------------------------------------------------------------------

class OneHearer final : public Base {
 public:
  explicit OneHearer(const EditorOptions& options) : Base(options) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    See(turn, action);
    const wire::SignedEnvelope* message = out_.ReadOwn(turn, action, from_step_);
    if (!message) return turn.Emit(std::move(action));
    const wire::Slot& slot = message->envelope.slot;
    const bool entry = slot.type == MessageType::kAggregate || slot.type == MessageType::kReveal ||
                       slot.type == MessageType::kProof;
    const std::uint64_t turn_of = slot.step * 3 + static_cast<std::uint64_t>(slot.phase);
    if (!entry || std::get<protocol::Send>(action).to == victims_.At(turn, turn_of)) {
      return turn.Emit(std::move(action));
    }
    turn.Confess();
  }
};

// --- kind 4 --------------------------------------------------------------------------------------

// Only the first colluder that is still a member attacks.
class FrameOwner final : public Base {
 public:
  explicit FrameOwner(const EditorOptions& options)
      : Base(options), all_(options.Param("all") != 0) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    if (!later_.OnInput(turn, input)) turn.Deliver(input);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    See(turn, action);
    const wire::SignedEnvelope* message = out_.ReadOwn(turn, action, from_step_);
    const auto victim = Victim(turn);
    if (!message || !victim || !IsMine(turn)) return turn.Emit(std::move(action));
    const wire::Slot slot = message->envelope.slot;
    const auto& send = std::get<protocol::Send>(action);
    // The owner gets this ECHO of seal C from others, half a Delta later, and so begins the next
    // step after all others.
    if (slot.type == MessageType::kEcho && slot.phase == Phase::kC && InDispute(turn) &&
        send.to == *victim) {
      return;
    }
    if (slot.type != MessageType::kPart || slot.step != turn.step()) {
      return turn.Emit(std::move(action));
    }
    const auto column = turn.round()->roles.PartOwnedBy(*victim);
    if (!column) return turn.Emit(std::move(action));
    if (!InDispute(turn)) {
      if (slot.iteration == *column) return turn.Confess();  // once, which opens the dispute
      return turn.Emit(std::move(action));
    }
    if (slot.iteration == *column) {
      if (send.to == *victim) return;
      turn.Confess();
      return later_.Hold(turn, turn.now() + base::Milliseconds(120), std::move(action));
    }
    // Parts of other columns fill the owner's places for parts of a step that it has not begun.
    turn.Emit(protocol::Send{*victim, send.frame, send.blob});
    turn.Emit(std::move(action));
  }

 private:
  std::optional<base::PeerId> Victim(const EditorTurn& turn) const {
    for (std::size_t k = 0; k < manifest_->members.size(); ++k) {
      const auto victim = victims_.At(turn, k + (all_ ? Place(turn) : 0));
      if (victim && IsMember(*victim)) return victim;
    }
    return std::nullopt;
  }
  bool IsMine(const EditorTurn& turn) const {
    if (all_) return true;
    for (const base::PeerId& colluder : turn.coven().members()) {
      if (IsMember(colluder)) return colluder == turn.self();
    }
    return false;
  }
  bool InDispute(const EditorTurn& turn) const {
    const auto victim = Victim(turn);
    return block_ && victim &&
           std::any_of(block_->disputes.begin(), block_->disputes.end(),
                       [&](const wire::Dispute& dispute) {
                         return dispute.worker == turn.self() && dispute.aggregator == *victim;
                       });
  }

  Later later_;
  bool all_;
};

// --- kind 5 --------------------------------------------------------------------------------------

class FrameWorker final : public Base {
 public:
  explicit FrameWorker(const EditorOptions& options) : Base(options) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    const auto* received = std::get_if<protocol::MessageReceived>(&input);
    const auto victim = Victim(turn);
    if (received && received->blob && victim) {
      const wire::SignedEnvelope* message = in_.Open(received->frame);
      if (message && message->envelope.slot.type == MessageType::kPart &&
          message->envelope.slot.step >= from_step_ && message->envelope.sender == *victim &&
          message->envelope.slot.step >= turn.step()) {
        early_.push_back(std::move(input));
        return TakeEarly(turn, *victim);
      }
    }
    turn.Deliver(input);
    if (victim) TakeEarly(turn, *victim);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    See(turn, action);
    const wire::SignedEnvelope* message = out_.ReadOwn(turn, action, from_step_);
    if (message && message->envelope.slot.type == MessageType::kEcho &&
        message->envelope.slot.phase == Phase::kC) {
      const base::PeerId& to = std::get<protocol::Send>(action).to;
      if (IsHonest(turn, to) && to != Victim(turn)) return;
    }
    turn.Emit(std::move(action));
  }

 private:
  // Handles the victim's parts once their step has begun here. At first all colluders leave them
  // out; then only the colluder whose column the victim sends last.
  void TakeEarly(EditorTurn& turn, const base::PeerId& victim) {
    for (protocol::Input& input : std::exchange(early_, {})) {
      const auto& received = std::get<protocol::MessageReceived>(input);
      const wire::SignedEnvelope* message = in_.Open(received.frame);
      if (message->envelope.slot.step > turn.step()) {
        early_.push_back(std::move(input));
      } else if (LeavesOut(turn, victim)) {
        turn.Confess();
      } else {
        turn.Deliver(input);
      }
    }
  }
  bool LeavesOut(const EditorTurn& turn, const base::PeerId& victim) const {
    const protocol::Roles& roles = turn.round()->roles;
    std::optional<std::uint32_t> last;
    for (const wire::Dispute& dispute : block_ ? block_->disputes : std::vector<wire::Dispute>{}) {
      const auto column = roles.PartOwnedBy(dispute.aggregator);
      if (dispute.worker != victim || !column || IsHonest(turn, dispute.aggregator)) continue;
      if (!last || *column > *last) last = column;
    }
    return !last || roles.PartOwnedBy(turn.self()) == last;
  }
  std::vector<protocol::Input> early_;

  std::optional<base::PeerId> Victim(const EditorTurn& turn) const {
    for (std::size_t k = 0; k < manifest_->members.size(); ++k) {
      const auto victim = victims_.At(turn, k);
      if (victim && IsMember(*victim)) return victim;
    }
    return std::nullopt;
  }
};

// --- kind 6 --------------------------------------------------------------------------------------

// Colluders take turns. They name the last honest member by key, and show the part to the `all`
// honest members before it.
class HiddenExhibit final : public Base {
 public:
  explicit HiddenExhibit(const EditorOptions& options)
      : Base(options), show_(static_cast<std::size_t>(options.Param("all"))) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    auto* done = std::get_if<protocol::JobDone>(&input);
    const auto* check =
        done ? std::get_if<protocol::CrossCheckResult>(done->result.get()) : nullptr;
    if (check && turn.step() >= from_step_ && IsMyTurn(turn)) {
      const auto spec = turn.SpecOf(done->id);
      const auto* claims = spec ? std::get_if<protocol::CrossCheckSpec>(spec.get()) : nullptr;
      const auto named = Honest(turn, 0);
      if (claims && named && !named_in_[turn.self()] &&
          std::any_of(claims->claims.begin(), claims->claims.end(),
                      [&](const auto& claim) { return claim.peer == *named; })) {
        named_in_[turn.self()] = true;
        turn.Confess();
        done->result =
            std::make_shared<const protocol::JobResult>(protocol::CrossCheckResult{{*named}});
      }
    }
    turn.Deliver(input);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    See(turn, action);
    const wire::SignedEnvelope* message = out_.Read(action);
    if (message && message->envelope.slot.type == MessageType::kPart && turn.round() &&
        message->envelope.slot.step < turn.step()) {
      const base::PeerId& to = std::get<protocol::Send>(action).to;
      bool shown = turn.coven().Contains(to);
      for (std::size_t k = 1; k <= show_; ++k) shown = shown || Honest(turn, k) == to;
      if (!shown) return;
    }
    turn.Emit(std::move(action));
  }

 private:
  // Honest member number `index`, the last by key first.
  std::optional<base::PeerId> Honest(const EditorTurn& turn, std::size_t index) const {
    std::vector<base::PeerId> honest;
    for (const base::PeerId& member : members_) {
      if (IsHonest(turn, member)) honest.push_back(member);
    }
    if (index >= honest.size()) return std::nullopt;
    return honest[honest.size() - 1 - index];
  }
  bool IsMyTurn(const EditorTurn& turn) const {
    const std::uint64_t at = (turn.step() - from_step_) / 6;
    return at % turn.coven().members().size() == Place(turn);
  }

  std::size_t show_;
  std::map<base::PeerId, bool> named_in_;
};

// --- kinds 8 and 9 -------------------------------------------------------------------------------

class SlowestLie final : public Base {
 public:
  explicit SlowestLie(const EditorOptions& options)
      : Base(options),
        friends_(options.Param("kind") == 9),
        all_(static_cast<std::size_t>(options.Param("all"))),
        commit_(options.Param("commit")),
        agg_(options.Param("agg") > 0 ? options.Param("agg") : 8.3),
        substitutes_(options) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    if (later_.OnInput(turn, input)) return;
    if (const auto* done = std::get_if<protocol::JobDone>(&input)) {
      const auto* result = std::get_if<protocol::AggregateResult>(done->result.get());
      if (result) result_ = result->result;
    }
    const auto send = [&](protocol::Send message) { OnAction(turn, std::move(message)); };
    if (!substitutes_.OnInput(turn, input, result_, send)) turn.Deliver(input);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    See(turn, action);
    if (const auto* store = std::get_if<protocol::Store>(&action)) Prepare(turn, *store);
    const wire::SignedEnvelope* message = out_.ReadOwn(turn, action, from_step_);
    if (!message) return turn.Emit(std::move(action));
    const wire::Slot& slot = message->envelope.slot;
    const auto opened = opened_.find({slot.step, Phase::kA, 0});
    const bool own_words = slot.type == MessageType::kCommit || slot.type == MessageType::kPart;
    if (opened != opened_.end() && friends_ && own_words && turn.self() == Slow(turn)) {
      const base::Time due = opened->second + Deltas(commit_);
      if (due > turn.now()) {
        turn.Confess();
        return later_.Hold(turn, due, std::move(action));
      }
    }
    if (slot.type == MessageType::kAggregate && lied_in_ == slot.step && opened != opened_.end()) {
      const base::Time due = opened->second + Deltas(agg_);
      if (due > turn.now()) return later_.Hold(turn, due, std::move(action));
    }
    turn.Emit(std::move(action));
  }

 private:
  std::optional<base::PeerId> Slow(const EditorTurn& turn) const {
    for (const base::PeerId& colluder : turn.coven().members()) {
      if (IsMember(colluder)) return colluder;
    }
    return std::nullopt;
  }
  std::optional<base::PeerId> Named(const EditorTurn& turn) const {
    if (!turn.round()) return std::nullopt;
    if (friends_) {
      const auto slow = Slow(turn);
      return slow && *slow != turn.self() && turn.round()->roles.IsWorker(*slow) ? slow
                                                                                 : std::nullopt;
    }
    std::size_t disputes = 0;
    std::optional<base::PeerId> named;
    for (const base::PeerId& member : members_) {
      if (!IsHonest(turn, member)) continue;
      const bool there = block_ && std::any_of(block_->disputes.begin(), block_->disputes.end(),
                                               [&](const wire::Dispute& dispute) {
                                                 return dispute.worker == member &&
                                                        dispute.aggregator == turn.self();
                                               });
      if (there) {
        ++disputes;
      } else if (!named && turn.round()->roles.IsWorker(member)) {
        named = member;
      }
    }
    return disputes < all_ ? named : std::nullopt;
  }

  void Prepare(EditorTurn& turn, const protocol::Store& store) {
    const auto named = Named(turn);
    if (!named || turn.step() < from_step_) return;
    substitutes_.Prepare(store, [&](wire::Envelope& own) {
      if (own.slot.type != MessageType::kAggregate) return false;
      auto body = wire::Decode<wire::Aggregate>(own.body);
      if (!body.ok()) return false;
      body->slowest = *named;
      own.body = wire::Encode(*body);
      lied_in_ = own.slot.step;
      return true;
    });
  }

  bool friends_;
  std::size_t all_;
  double commit_, agg_;
  Later later_;
  protocol::SharedBlob result_;
  std::optional<std::uint64_t> lied_in_;
  Substitutes substitutes_;
};

}  // namespace

std::vector<std::unique_ptr<Editor>> MakeFreeRide(const EditorOptions& options) {
  std::vector<std::unique_ptr<Editor>> editors;
  switch (static_cast<int>(options.Param("kind"))) {
    case 1:
      editors.push_back(std::make_unique<Linger>(options));
      break;
    case 2:
      editors.push_back(std::make_unique<AfterGate>(options));
      break;
    case 3:
      editors.push_back(std::make_unique<OneHearer>(options));
      break;
    case 4:
      editors.push_back(std::make_unique<FrameOwner>(options));
      break;
    case 5:
      editors.push_back(std::make_unique<FrameWorker>(options));
      break;
    case 6:
      editors.push_back(std::make_unique<HiddenExhibit>(options));
      break;
    case 7:
      editors.push_back(std::make_unique<OneHearer>(options));
      editors.push_back(std::make_unique<Linger>(options));
      break;
    case 8:
    case 9:
      editors.push_back(std::make_unique<SlowestLie>(options));
      break;
    default:
      editors.push_back(std::make_unique<Editor>());
  }
  return editors;
}

}  // namespace ostraka::sim
