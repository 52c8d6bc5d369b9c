// seal_trick: each `idea` breaks an assumption that a rule of the seals once made.
//
//   1  stray_halt    the first colluder's ECHO in seal A reaches one honest member only, as the
//      third of three frames signed for a slot of phase C. That member counts it in seal A, and
//      nobody else ever can. All colluders are silent to the others.
//   2  stray_drop    as idea 1, but it reaches as many honest members as make a quorum with the
//      colluders, and the colluders continue with those alone.
//   3  third_echo    its ECHO in seal A reaches one honest member only, after two false ones; a
//      member that asks this one gets the first two.
//   4  spoilt_copy   a disputed part reaches its owner late; it reaches all others on time, but
//      with a header that nobody can accept.
//   5  settle_skew   a result reaches one honest validator last; then ECHOs at the others' deadline
//      look hasty to it, and colluders testify so too.
//   6  third_echo_c  as idea 3 in seal C, to all but one member, which then opens seal A 2 Delta
//      late
//   7  forward_skew  as in idea 5 an honest member begins late; a disputed part reaches that member
//      alone, so late that the owner no longer waits when it is forwarded
//   8  crowded       all colluders leave out the part of one honest worker, twice; in between, one
//      honest member ends the step 0.3 Delta late, with places for two parts only
//   9  ratchet       Delta is driven up by messages to one honest member alone; then an honest
//      member begins so late that its AGG comes after the others' deadline
//
// Rule: no seal may count what it cannot forward, and no honest member may be removed for lateness
// that others caused (seal.md; docs/protocol/removals.md).
// Cost to honest members: time, up to deadlines of the seal.
// Found by: evidence for extra signed messages; disputes and charges for the rest. Contained:
// honest members stay.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/protocol/rules/columns.h"
#include "sim/adversary/frames.h"
#include "sim/adversary/later.h"
#include "sim/adversary/substitute.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

using base::PeerId;
using wire::MessageType;
using wire::Phase;

class Trick : public Editor {
 public:
  explicit Trick(const EditorOptions& options)
      : from_step_(options.from_step),
        seed_(options.coven_seed),
        key_(options.key),
        manifest_(options.manifest),
        delta_(options.manifest->delta),
        substitutes_(options) {}

  void OnInput(EditorTurn& turn, protocol::Input input) final {
    Sort(turn);
    if (substitutes_.OnInput(turn, input)) return;
    if (!later_.OnInput(turn, input)) Hear(turn, std::move(input));
  }

  void OnAction(EditorTurn& turn, protocol::Action action) final {
    Sort(turn);
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) See(turn, observe->what);
    if (const auto* store = std::get_if<protocol::Store>(&action)) Prepare(turn, *store);
    const wire::SignedEnvelope* message = frames_.Read(action);
    if (!message || message->envelope.slot.phase == Phase::kGenesis) {
      return turn.Emit(std::move(action));
    }
    Say(turn, *message, std::get<protocol::Send>(std::move(action)));
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint).UpdateU64(later_.size()).Finish();
  }

 protected:
  virtual void Hear(EditorTurn& turn, protocol::Input input) { turn.Deliver(input); }
  // Handles an outgoing frame, the attacker's own or a forwarded one.
  virtual void Say(EditorTurn& turn, const wire::SignedEnvelope& message, protocol::Send send) {
    (void)message;
    turn.Emit(std::move(send));
  }
  // Nullopt: the inner machine's own PROOF is sent.
  virtual std::optional<wire::Proof> OtherProof(const EditorTurn&, const wire::Envelope&,
                                                const wire::Proof&) {
    return std::nullopt;
  }

  bool IsHonest(const EditorTurn& turn, const PeerId& peer) const {
    return !turn.coven().Contains(peer);
  }
  const PeerId& Star(const EditorTurn& turn) const { return turn.coven().members().front(); }
  const std::vector<PeerId>& honest() const { return honest_; }
  // Honest member number k, counted from a drawn one.
  const PeerId& Honest(std::size_t k) const { return honest_[(seed_ + k) % honest_.size()]; }
  bool IsAmongFirst(const PeerId& peer, std::size_t count) const {
    for (std::size_t k = 0; k < count; ++k) {
      if (Honest(k) == peer) return true;
    }
    return false;
  }
  base::SharedBytes Sign(wire::Envelope envelope) const {
    return wire::Seal(std::move(envelope), *key_).frame;
  }
  void SayLater(EditorTurn& turn, base::Time due, protocol::Action action) {
    later_.Hold(turn, std::max(due, turn.now()), std::move(action));
  }
  base::Duration Share(double share, base::Duration of) const {
    return base::Duration{static_cast<std::int64_t>(share * static_cast<double>(of.ns))};
  }
  static bool IsService(const wire::SignedEnvelope& message) {
    return wire::IsService(message.envelope.slot.type);
  }
  static bool IsSealWord(MessageType type) {
    return type == MessageType::kClose ||
           (type >= MessageType::kEcho && type <= MessageType::kLock);
  }

  std::uint64_t from_step_;
  std::uint64_t seed_;
  std::shared_ptr<const crypto::SigningKey> key_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  base::Duration delta_;
  std::shared_ptr<const wire::Block> view_;
  std::optional<base::Time> opened_a_, opened_c_;

 private:
  void Sort(const EditorTurn& turn) {
    if (!honest_.empty()) return;
    for (const protocol::Member& member : manifest_->members) {
      if (IsHonest(turn, member.id)) honest_.push_back(member.id);
    }
    std::sort(honest_.begin(), honest_.end());
  }
  void See(EditorTurn& turn, const protocol::Observation& what) {
    if (const auto* done = std::get_if<protocol::StepDone>(&what)) {
      view_ = done->block;
      delta_ = base::Microseconds(static_cast<std::int64_t>(done->block->delta_us));
    } else if (std::holds_alternative<protocol::StepStarted>(what)) {
      opened_a_ = turn.now();
      opened_c_.reset();
    } else if (const auto* sealed = std::get_if<protocol::Sealed>(&what)) {
      if (sealed->phase == static_cast<std::uint8_t>(Phase::kB)) opened_c_ = turn.now();
    }
  }
  void Prepare(const EditorTurn& turn, const protocol::Store& store) {
    substitutes_.Prepare(store, [&](wire::Envelope& own) {
      if (own.slot.type != MessageType::kProof) return false;
      const auto proof = wire::Decode<wire::Proof>(own.body);
      const auto other = proof.ok() ? OtherProof(turn, own, *proof) : std::nullopt;
      if (other) own.body = wire::Encode(*other);
      return other.has_value();
    });
  }

  FrameReader frames_;
  std::vector<PeerId> honest_;
  Later later_;
  Substitutes substitutes_;
};

wire::Envelope WithVector(wire::Envelope envelope, std::uint8_t change) {
  auto echo = wire::Decode<wire::Echo>(envelope.body);
  if (echo.ok()) {
    echo->vector.bytes[0] ^= change;
    envelope.body = wire::Encode(*echo);
  }
  return envelope;
}

// Ideas 1 and 2.
class Stray final : public Trick {
 public:
  Stray(const EditorOptions& options, int idea) : Trick(options), idea_(idea) {}

 private:
  std::size_t Ahead(const EditorTurn& turn) const {
    if (idea_ != 2) return 1;
    const std::size_t quorum = view_ ? view_->thresholds.quorum() : 1;
    const std::size_t colluders = turn.coven().members().size();
    return quorum > colluders ? quorum - colluders : 1;
  }

  void Say(EditorTurn& turn, const wire::SignedEnvelope& message, protocol::Send send) override {
    const wire::Envelope& envelope = message.envelope;
    const bool here = envelope.slot.step == from_step_ && envelope.slot.phase == Phase::kA &&
                      !IsService(message) && turn.coven().Contains(envelope.sender) &&
                      IsSealWord(envelope.slot.type) && IsHonest(turn, send.to);
    if (!here) return turn.Emit(std::move(send));
    const bool ahead = IsAmongFirst(send.to, Ahead(turn));
    if (envelope.slot.type != MessageType::kEcho) {
      turn.Confess();
      return;  // colluders send honest members nothing of a slow path
    }
    if (envelope.sender != Star(turn)) return turn.Emit(std::move(send));
    turn.Confess();
    if (!ahead || turn.self() != Star(turn)) return;
    wire::Envelope stray = envelope;
    stray.slot.phase = Phase::kC;
    for (const std::uint8_t change : {1, 2, 0}) {
      turn.Emit(protocol::Send{send.to, Sign(WithVector(stray, change)), nullptr});
    }
  }
  int idea_;
};

// Ideas 3 and 6.
class ThirdEcho final : public Trick {
 public:
  ThirdEcho(const EditorOptions& options, Phase phase, bool to_all_but_one)
      : Trick(options), phase_(phase), to_all_but_one_(to_all_but_one) {}

 private:
  void Say(EditorTurn& turn, const wire::SignedEnvelope& message, protocol::Send send) override {
    const wire::Envelope& envelope = message.envelope;
    const bool here = envelope.slot.step == from_step_ && envelope.slot.phase == phase_ &&
                      envelope.sender == Star(turn) && envelope.slot.type == MessageType::kEcho;
    if (!here) return turn.Emit(std::move(send));
    turn.Confess();
    const bool first = send.to == Honest(0);
    const bool gets = !IsHonest(turn, send.to) ? to_all_but_one_ : first != to_all_but_one_;
    if (!gets || turn.self() != Star(turn)) return;
    if (!said_.insert(send.to).second) return;
    if (to_all_but_one_ && !IsHonest(turn, send.to)) return turn.Emit(std::move(send));
    for (const std::uint8_t change : {1, 2}) {
      turn.Emit(protocol::Send{send.to, Sign(WithVector(envelope, change)), nullptr});
    }
    for (int k = 0; k < 40; ++k) {
      SayLater(turn, turn.now() + base::Milliseconds(8 * k), send);
    }
  }
  Phase phase_;
  bool to_all_but_one_;
  std::set<PeerId> said_;
};

// Idea 4.
class SpoiltCopy final : public Trick {
 public:
  using Trick::Trick;

 private:
  void Say(EditorTurn& turn, const wire::SignedEnvelope& message, protocol::Send send) override {
    const wire::Envelope& envelope = message.envelope;
    const auto column = turn.round() ? turn.round()->roles.PartOwnedBy(Honest(0)) : std::nullopt;
    const bool here = envelope.slot.step >= from_step_ && turn.self() == Star(turn) &&
                      envelope.sender == turn.self() && envelope.slot.type == MessageType::kPart &&
                      column && envelope.slot.iteration == *column && opened_a_ &&
                      envelope.slot.step == turn.step();
    if (!here) return turn.Emit(std::move(send));
    turn.Confess();
    if (send.to == Honest(0)) {
      const base::Duration wait = manifest_->part_timeout + delta_ * 2;
      return SayLater(turn, *opened_a_ + Share(0.97, wait), std::move(send));
    }
    auto part = wire::Decode<wire::Part>(envelope.body);
    if (!part.ok()) return;
    part->header.shape.push_back(1);
    wire::Envelope spoilt = envelope;
    spoilt.body = wire::Encode(*part);
    send.frame = Sign(std::move(spoilt));
    turn.Emit(std::move(send));
  }
};

// Base of ideas 5, 7 and 9. In one step the result of a colluder reaches honest workers at the last
// moment and one honest validator never, so that the validator begins the next step late.
class LateResult : public Trick {
 public:
  using Trick::Trick;

 protected:
  struct Plan {
    std::uint64_t step = 0;
    PeerId late;   // the honest validator
    PeerId owner;  // the colluder whose result is late
    std::uint32_t column = 0;
  };

  // In the step of the plan: returns true if the frame is that result, and holds it back.
  bool KeepsResultBack(EditorTurn& turn, const wire::Envelope& envelope, protocol::Send& send) {
    const wire::Slot& slot = envelope.slot;
    const bool result = slot.type == MessageType::kResult && envelope.sender == plan_->owner;
    bool chunk = false;
    if (slot.type == MessageType::kChunk && slot.phase == Phase::kA) {
      const auto body = wire::Decode<wire::Chunk>(envelope.body);
      chunk = body.ok() && body->index == plan_->column;
    }
    if (!result && !chunk) return false;
    turn.Confess();
    if (send.to != plan_->late && !chunk) waiting_.push_back(std::move(send));
    return true;
  }
  // Once phase C has begun, dates the held results `before` the others' timer for bulk data.
  void SendResults(EditorTurn& turn, base::Duration before) {
    if (waiting_.empty() || !opened_c_) return;
    const base::Time due =
        *opened_c_ + manifest_->part_timeout + delta_ * 2 + base::Duration{-before.ns};
    for (protocol::Send& send : waiting_) SayLater(turn, due, std::move(send));
    waiting_.clear();
  }

  std::optional<Plan> plan_;

 private:
  std::vector<protocol::Send> waiting_;
};

// Idea 5. In a step whose roles allow it, a colluder's result comes so late that one honest
// validator states its PROOF without it; in the next step an AGG comes at the moment when others
// echo.
class SettleSkew final : public LateResult {
 public:
  using LateResult::LateResult;

 private:
  // Uses public data only, so that all colluders make one plan.
  void MakePlan(const EditorTurn& turn) {
    if (!turn.round() || turn.step() < from_step_ || !view_) return;
    if (plan_ && turn.step() <= plan_->step + 1) return;
    plan_.reset();
    const protocol::Roles& roles = turn.round()->roles;
    const std::vector<PeerId>& members = view_->members;
    const std::size_t n = members.size();
    for (const auto& assignment : roles.validators) {
      if (!IsHonest(turn, assignment.validator)) continue;
      const PeerId& late = assignment.validator;
      const auto useless = [&](std::size_t k) {
        const PeerId& member = members[k % n];
        return member == late || !IsHonest(turn, member);
      };
      for (std::uint32_t j = 0; j < roles.owners.size(); ++j) {
        if (IsHonest(turn, roles.owners[j])) continue;
        if (!useless(j) || !useless(j + 1)) continue;
        plan_ = Plan{turn.step(), late, roles.owners[j], j};
        return;
      }
    }
  }

  // The index of an honest member, not counting the late one.
  std::size_t PlaceOf(const PeerId& peer) const {
    std::size_t place = 0;
    for (const PeerId& member : honest()) {
      if (member == peer) return place;
      if (member != plan_->late) ++place;
    }
    return place;
  }

  void Say(EditorTurn& turn, const wire::SignedEnvelope& message, protocol::Send send) override {
    MakePlan(turn);
    if (!plan_ || !IsHonest(turn, send.to)) return turn.Emit(std::move(send));
    const wire::Envelope& envelope = message.envelope;
    const wire::Slot& slot = envelope.slot;
    if (slot.step == plan_->step) return SayFirst(turn, message, std::move(send));
    // In the next step: the AGG of the first colluder that owns a part.
    if (slot.step == plan_->step + 1 && slot.type == MessageType::kAggregate &&
        !IsHonest(turn, envelope.sender)) {
      const PeerId& who = AggregatorOf(turn);
      if (envelope.sender != who) return turn.Emit(std::move(send));
      turn.Confess();
      const base::Time deadline = *opened_a_ + manifest_->part_timeout * 2 + delta_ * 2;
      const bool early = send.to != plan_->late && PlaceOf(send.to) == honest().size() - 2;
      const base::Duration before = Share(0.30, delta_);
      return SayLater(turn, early ? deadline + base::Duration{-before.ns} : deadline + delta_,
                      std::move(send));
    }
    turn.Emit(std::move(send));
  }

  const PeerId& AggregatorOf(const EditorTurn& turn) const {
    for (const PeerId& member : turn.coven().members()) {
      if (turn.round()->roles.PartOwnedBy(member)) return member;
    }
    return turn.coven().members().front();
  }

  void SayFirst(EditorTurn& turn, const wire::SignedEnvelope& message, protocol::Send send) {
    const wire::Envelope& envelope = message.envelope;
    const wire::Slot& slot = envelope.slot;
    if (KeepsResultBack(turn, envelope, send)) return;
    // The late validator gets this ECHO of seal C late, since it has to ask for it.
    const bool echo = slot.phase == Phase::kC && slot.type == MessageType::kEcho &&
                      envelope.sender == plan_->owner && send.to == plan_->late;
    if (echo) {
      turn.Confess();
      return;
    }
    turn.Emit(std::move(send));
  }

  void Hear(EditorTurn& turn, protocol::Input input) override {
    turn.Deliver(input);
    SendResults(turn, Share(0.12, delta_));
  }

  std::optional<wire::Proof> OtherProof(const EditorTurn&, const wire::Envelope& own,
                                        const wire::Proof& proof) override {
    if (!plan_ || own.slot.step != plan_->step + 1 || !view_) return std::nullopt;
    wire::Proof lie = proof;
    lie.hasty.assign((view_->members.size() + 7) / 8, 0);
    for (const PeerId& peer : honest()) {
      if (peer == plan_->late || PlaceOf(peer) >= 3) continue;
      const auto at = std::lower_bound(view_->members.begin(), view_->members.end(), peer);
      if (at == view_->members.end() || *at != peer) continue;
      const auto i = static_cast<std::size_t>(at - view_->members.begin());
      lie.hasty[i / 8] = static_cast<std::uint8_t>(lie.hasty[i / 8] | 1U << (i % 8));
    }
    return lie;
  }
};

// Idea 7. Makes an honest member begin late, as idea 5. Then a disputed part reaches that member
// alone, just before it would stop forwarding it, when the owner no longer waits.
class ForwardSkew final : public LateResult {
 public:
  using LateResult::LateResult;

 private:
  const PeerId& Victim() const { return Honest(0); }
  std::optional<std::size_t> Dispute(const EditorTurn& turn) const {
    if (!view_) return std::nullopt;
    for (std::size_t d = 0; d < view_->disputes.size(); ++d) {
      if (view_->disputes[d].worker == Star(turn) && view_->disputes[d].aggregator == Victim()) {
        return d;
      }
    }
    return std::nullopt;
  }
  void MakePlan(const EditorTurn& turn) {
    if (!turn.round() || turn.step() < from_step_ || !view_) return;
    if (plan_ && turn.step() <= plan_->step + 1) return;
    plan_.reset();
    began_.reset();
    if (!Dispute(turn)) return;
    const protocol::Roles& roles = turn.round()->roles;
    const std::vector<PeerId>& members = view_->members;
    const std::size_t n = members.size();
    for (const auto& assignment : roles.validators) {
      const PeerId& late = assignment.validator;
      if (!IsHonest(turn, late) || late == Victim()) continue;
      const auto useless = [&](std::size_t k) {
        return members[k % n] == late || !IsHonest(turn, members[k % n]);
      };
      for (std::uint32_t j = 0; j < roles.owners.size(); ++j) {
        if (IsHonest(turn, roles.owners[j])) continue;
        if (!useless(j) || !useless(j + 1) || !useless(j + 2) || !useless(j + 3)) continue;
        plan_ = Plan{turn.step(), late, roles.owners[j], j};
        return;
      }
    }
  }
  void Hear(EditorTurn& turn, protocol::Input input) override {
    const auto* received = std::get_if<protocol::MessageReceived>(&input);
    if (received && plan_) {
      const wire::SignedEnvelope* message = incoming_.Open(received->frame);
      if (message && message->envelope.slot.type == MessageType::kCommit &&
          message->envelope.sender == plan_->late &&
          message->envelope.slot.step == plan_->step + 1 && !began_) {
        began_ = turn.now();
        Time(turn);
      }
    }
    turn.Deliver(input);
    SendResults(turn, Share(0.42, delta_));
  }
  void Time(EditorTurn& turn) {
    if (!began_ || !part_) return;
    const base::Time due =
        *began_ + manifest_->part_timeout + base::Duration{-Share(0.55, delta_).ns};
    SayLater(turn, due, std::move(*part_));
    part_.reset();
  }
  void Say(EditorTurn& turn, const wire::SignedEnvelope& message, protocol::Send send) override {
    MakePlan(turn);
    const wire::Envelope& envelope = message.envelope;
    const wire::Slot& slot = envelope.slot;
    const auto column = turn.round() ? turn.round()->roles.PartOwnedBy(Victim()) : std::nullopt;
    const bool own_part = slot.type == MessageType::kPart && turn.self() == Star(turn) && column &&
                          envelope.sender == turn.self() && slot.iteration == *column &&
                          slot.step == turn.step() && slot.step >= from_step_;
    if (own_part && !Dispute(turn)) {  // late once, which opens the dispute
      if (send.to != Victim()) return turn.Emit(std::move(send));
      turn.Confess();
      return SayLater(turn, *opened_a_ + Share(0.95, manifest_->part_timeout + delta_ * 2),
                      std::move(send));
    }
    if (!plan_) return turn.Emit(std::move(send));
    if (own_part && slot.step == plan_->step + 1) {
      turn.Confess();
      if (send.to != plan_->late) return;
      part_ = std::move(send);
      return Time(turn);
    }
    if (slot.step != plan_->step || !IsHonest(turn, send.to)) return turn.Emit(std::move(send));
    if (KeepsResultBack(turn, envelope, send)) return;
    const bool echo = slot.phase == Phase::kC && slot.type == MessageType::kEcho &&
                      envelope.sender == plan_->owner && send.to == plan_->late;
    if (echo) return turn.Confess();
    turn.Emit(std::move(send));
  }
  std::optional<wire::Proof> OtherProof(const EditorTurn& turn, const wire::Envelope& own,
                                        const wire::Proof& proof) override {
    const auto dispute = Dispute(turn);
    if (!plan_ || own.slot.step != plan_->step + 1 || !dispute) return std::nullopt;
    wire::Proof lie = proof;
    lie.held.resize((2 * view_->disputes.size() + 7) / 8);
    lie.held[*dispute / 8] =
        static_cast<std::uint8_t>(lie.held[*dispute / 8] | 1U << (*dispute % 8));
    return lie;
  }
  FrameReader incoming_;
  std::optional<base::Time> began_;
  std::optional<protocol::Send> part_;
};

// Idea 9. First drives Delta up to its ceiling by showing the own entries to one honest member
// before the others. Then a step ends late for one honest member, by a share of that Delta which
// exceeds the part timeout; and it waits for a part, so that its AGG comes after the deadline.
class Ratchet final : public LateResult {
 public:
  using LateResult::LateResult;

 private:
  void MakePlan(const EditorTurn& turn) {
    if (!turn.round() || !view_ || delta_ < base::Seconds(28)) return;
    if (plan_ && turn.step() <= plan_->step + 1) return;
    plan_.reset();
    const protocol::Roles& roles = turn.round()->roles;
    const std::vector<PeerId>& members = view_->members;
    for (const auto& assignment : roles.validators) {
      const PeerId& late = assignment.validator;
      if (!IsHonest(turn, late)) continue;
      for (std::uint32_t j = 0; j < roles.owners.size(); ++j) {
        const PeerId& asked = members[j % members.size()];
        if (IsHonest(turn, roles.owners[j]) || (IsHonest(turn, asked) && asked != late)) continue;
        plan_ = Plan{turn.step(), late, roles.owners[j], j};
        return;
      }
    }
  }
  void Hear(EditorTurn& turn, protocol::Input input) override {
    turn.Deliver(input);
    SendResults(turn, base::Milliseconds(120));
  }
  void Say(EditorTurn& turn, const wire::SignedEnvelope& message, protocol::Send send) override {
    MakePlan(turn);
    const wire::Envelope& envelope = message.envelope;
    const wire::Slot& slot = envelope.slot;
    if (!IsHonest(turn, send.to) || slot.step < from_step_) return turn.Emit(std::move(send));
    const bool entry = slot.type == MessageType::kAggregate || slot.type == MessageType::kReveal ||
                       slot.type == MessageType::kProof;
    if (!plan_) {
      if (entry && envelope.sender == Star(turn) && turn.self() == Star(turn) &&
          send.to != Honest(0)) {
        turn.Confess();
        return;  // the members ask for it
      }
      return turn.Emit(std::move(send));
    }
    if (slot.step == plan_->step + 1 && slot.type == MessageType::kPart &&
        turn.self() == Star(turn) && send.to == plan_->late) {
      return turn.Confess();
    }
    if (slot.step != plan_->step) return turn.Emit(std::move(send));
    if (KeepsResultBack(turn, envelope, send)) return;
    turn.Emit(std::move(send));
  }
};

// Idea 8.
class Crowded final : public Trick {
 public:
  using Trick::Trick;

 private:
  void Hear(EditorTurn& turn, protocol::Input input) override {
    const auto* received = std::get_if<protocol::MessageReceived>(&input);
    if (received && received->blob) {
      const wire::SignedEnvelope* message = incoming_.Open(received->frame);
      if (message && message->envelope.slot.type == MessageType::kPart &&
          message->envelope.sender == Honest(0) && message->envelope.slot.step >= from_step_) {
        turn.Confess();
        return;
      }
    }
    turn.Deliver(input);
  }
  void Say(EditorTurn& turn, const wire::SignedEnvelope& message, protocol::Send send) override {
    const wire::Envelope& envelope = message.envelope;
    const bool held = envelope.slot.step >= from_step_ && envelope.slot.phase == Phase::kC &&
                      envelope.sender == Star(turn) && envelope.slot.type == MessageType::kEcho &&
                      send.to == Honest(1);
    if (held) return turn.Confess();
    turn.Emit(std::move(send));
  }
  FrameReader incoming_;
};

}  // namespace

std::unique_ptr<Editor> MakeSealTrick(const EditorOptions& options) {
  const int idea = static_cast<int>(options.Param("idea"));
  switch (idea) {
    case 3:
      return std::make_unique<ThirdEcho>(options, Phase::kA, false);
    case 4:
      return std::make_unique<SpoiltCopy>(options);
    case 5:
      return std::make_unique<SettleSkew>(options);
    case 6:
      return std::make_unique<ThirdEcho>(options, Phase::kC, true);
    case 7:
      return std::make_unique<ForwardSkew>(options);
    case 8:
      return std::make_unique<Crowded>(options);
    case 9:
      return std::make_unique<Ratchet>(options);
    default:
      return std::make_unique<Stray>(options, idea);
  }
}

}  // namespace ostraka::sim
