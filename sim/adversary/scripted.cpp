#include "sim/adversary/scripted.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "sim/adversary/frames.h"
#include "sim/adversary/shift.h"
#include "sim/engine/checker.h"
#include "sim/script/events.h"

namespace ostraka::sim {
namespace {

using Do = Deviation::Do;
using Side = Happening::Side;
using wire::MessageType;
using wire::Phase;

constexpr protocol::TimerId kHoldTimer = kFirstReservedTimer + (kFirstReservedTimer >> 1);

// Maps members to a script's terms: honest members and colluders by key, and the halves.
class Sorting {
 public:
  Sorting(const protocol::Manifest& manifest, const Coven& coven, const Script& script)
      : friends_(coven.members()), second_half_(script.second_half) {
    for (const protocol::Member& member : manifest.members) {
      if (!coven.Contains(member.id)) honest_.push_back(member.id);
    }
    std::sort(honest_.begin(), honest_.end());
  }

  std::optional<std::uint32_t> Honest(const base::PeerId& peer) const {
    return PlaceIn(honest_, peer);
  }
  std::optional<std::uint32_t> Friend(const base::PeerId& peer) const {
    return PlaceIn(friends_, peer);
  }
  std::uint8_t HalfOf(std::uint32_t honest) const {
    return honest < 64 ? static_cast<std::uint8_t>(second_half_ >> honest & 1) : 0;
  }
  std::uint32_t honest_count() const { return static_cast<std::uint32_t>(honest_.size()); }

  Sides SidesFor(std::size_t quorum) const {
    Sides sides;
    for (std::uint32_t i = 0; i < honest_count(); ++i) ++(HalfOf(i) ? sides.second : sides.first);
    sides.friends = friends_.size() - 1;
    sides.short_of_quorum = quorum > friends_.size() ? quorum - friends_.size() : 1;
    return sides;
  }

 private:
  static std::optional<std::uint32_t> PlaceIn(const std::vector<base::PeerId>& ids,
                                              const base::PeerId& peer) {
    const auto place = std::lower_bound(ids.begin(), ids.end(), peer);
    if (place == ids.end() || *place != peer) return std::nullopt;
    return static_cast<std::uint32_t>(place - ids.begin());
  }
  std::vector<base::PeerId> honest_;
  std::vector<base::PeerId> friends_;
  std::uint64_t second_half_;
};

// The slot of the next or the previous step (or iteration), if it exists.
std::optional<wire::Slot> Shifted(wire::Slot slot, bool later) {
  const bool by_iteration = slot.type == MessageType::kStatus ||
                            slot.type == MessageType::kPropose || slot.type == MessageType::kVote ||
                            slot.type == MessageType::kLock;
  if (by_iteration) {
    if (!later && slot.iteration <= 1) return std::nullopt;
    slot.iteration = later ? slot.iteration + 1 : slot.iteration - 1;
    return slot;
  }
  if (slot.phase == Phase::kGenesis || (!later && slot.step == 0)) return std::nullopt;
  slot.step = later ? slot.step + 1 : slot.step - 1;
  return slot;
}

protocol::AggregateResult Altered(const protocol::AggregateResult& truth, const Deviation& how) {
  if (how.what == Do::kScale) {
    std::vector<float> values = FloatsIn(*truth.result);
    for (float& value : values) value = static_cast<float>(value * how.scale);
    const base::ByteView bytes = base::AsBytes(std::span<const float>(values));
    return {crypto::MakeBlob({bytes.begin(), bytes.end()})};
  }
  crypto::Blob blob = *truth.result;
  if (how.what == Do::kZeroRoot) blob.root = {};
  if (how.what == Do::kWrongRoot) blob.root.bytes[0] ^= 1;
  return {std::make_shared<const crypto::Blob>(std::move(blob))};
}

class Scripted final : public Editor {
 public:
  Scripted(const EditorOptions& options, Script script, Timing timing)
      : script_(std::move(script)),
        timing_(timing),
        wanted_step_(options.from_step),
        from_step_(timing.as_owner ? kNever : options.from_step),
        key_(options.key),
        manifest_(options.manifest),
        another_(options.another),
        delta_(options.manifest->delta) {
    const auto members = static_cast<std::uint32_t>(manifest_->members.size());
    const auto t_a = protocol::GenesisAsynchronousFaults(manifest_->mode, members);
    quorum_ = members - protocol::ThresholdsFor(manifest_->mode, members, t_a).t_s;
  }

  void OnInput(Turn& turn, protocol::Input input) override {
    if (!sorting_) sorting_.emplace(*manifest_, turn.coven(), script_);
    if (std::holds_alternative<protocol::Started>(input)) {
      OnStarted(turn, std::get<protocol::Started>(input));
    } else if (std::holds_alternative<protocol::LinkChanged>(input)) {
      turn.Deliver(input);
      if (twin_) StepTwin(turn, input);
    } else if (const auto* message = std::get_if<protocol::MessageReceived>(&input)) {
      Hear(turn, *message);
    } else if (const auto* timer = std::get_if<protocol::TimerFired>(&input)) {
      if (timer->id == kHoldTimer) hold_timer_.reset();
      OnTimer(turn, *timer);
    } else if (const auto* done = std::get_if<protocol::JobDone>(&input)) {
      OnJobDone(turn, *done);
    } else if (const auto* stored = std::get_if<protocol::Stored>(&input)) {
      if (!Substituted(turn, 0, stored->id)) turn.Deliver(input);
    }
    Release(turn);
  }

  void OnAction(Turn& turn, protocol::Action action) override {
    if (auto* send = std::get_if<protocol::Send>(&action)) return OnSend(turn, 0, std::move(*send));
    if (const auto* store = std::get_if<protocol::Store>(&action)) Prepare(turn, 0, *store);
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) Note(turn, *observe);
    turn.Emit(std::move(action));
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint)
        .Update(twin_ ? twin_->Fingerprint() : base::Digest{})
        .UpdateU64(held_.size())
        .UpdateU64(static_cast<std::uint64_t>(delta_.ns))
        .Finish();
  }

 private:
  struct Held {
    protocol::Send send;
    SealName seal;
    Happening until;
  };
  static constexpr std::uint64_t kNever = UINT64_MAX;

  struct Draft {  // signed in place of a store's records
    std::vector<base::SharedBytes> frames;
  };

  // --- inputs of the machines --------------------------------------------------------------------

  void OnStarted(Turn& turn, const protocol::Started& started) {
    // Twins begin at a first start only: a restarted colluder is honest.
    const bool twins = script_.mode != Script::Mode::kSolo && another_ && !started.restored;
    if (started.restored) script_.deviations.clear();
    if (twins) twin_ = another_();
    NoteBegin({0, 0, 0}, turn.now());
    turn.Deliver(started);
    if (twin_) StepTwin(turn, started);
  }

  void Hear(Turn& turn, const protocol::MessageReceived& message) {
    const wire::SignedEnvelope* opened = incoming_.Open(message.frame);
    const bool service = opened && wire::IsService(opened->envelope.slot.type);
    if (opened && !service) NoteWord(turn, *opened);
    if (!twin_) return turn.Deliver(message);
    const std::uint8_t who = opened ? HearersOf(turn, message, *opened) : 3;
    if ((who & 1) != 0) turn.Deliver(message);
    if ((who & 2) != 0) StepTwin(turn, message);
  }

  // Bit 0: the machine of the first half; bit 1: its twin.
  std::uint8_t HearersOf(const Turn& turn, const protocol::MessageReceived& message,
                         const wire::SignedEnvelope& opened) const {
    const wire::Envelope& envelope = opened.envelope;
    const auto link = sorting_->Honest(message.from);
    if (wire::IsService(envelope.slot.type)) {
      const bool asks = envelope.slot.type == MessageType::kPull;
      return asks && link ? BitOf(sorting_->HalfOf(*link)) : 3;
    }
    // A machine stops if it gets a message with its own signature that it never signed.
    if (envelope.sender == turn.self()) return turn.coven().SaidBy(opened.digest);
    if (sorting_->Friend(envelope.sender)) {
      const std::uint8_t said = turn.coven().SaidBy(opened.digest);
      return said == 0 ? 3 : said;
    }
    const bool deaf = script_.mode == Script::Mode::kDeaf && IsSealWord(envelope.slot.type) &&
                      envelope.slot.phase != Phase::kGenesis && IsOn(envelope.slot);
    if (!deaf) return 3;
    if (link) return BitOf(sorting_->HalfOf(*link));
    const auto author = sorting_->Honest(envelope.sender);
    return author ? BitOf(sorting_->HalfOf(*author)) : 3;
  }
  static std::uint8_t BitOf(std::uint8_t half) { return half == 0 ? 1 : 2; }

  void NoteWord(const Turn& turn, const wire::SignedEnvelope& opened) {
    const wire::Envelope& envelope = opened.envelope;
    Side side = Side::kFriends;
    if (const auto honest = sorting_->Honest(envelope.sender)) {
      side = sorting_->HalfOf(*honest) == 0 ? Side::kFirst : Side::kSecond;
    } else if (envelope.sender == turn.self() || !sorting_->Friend(envelope.sender)) {
      return;
    }
    log_.NoteWord(envelope.slot, envelope.sender, side, turn.now());
  }

  void Note(const Turn& turn, const protocol::Observe& observe) {
    if (const auto* done = std::get_if<protocol::StepDone>(&observe.what)) {
      delta_ = base::Microseconds(static_cast<std::int64_t>(done->block->delta_us));
      quorum_ = done->block->thresholds.quorum();
      forged_.clear();  // signing again gives equal frames
    } else if (const auto* started = std::get_if<protocol::StepStarted>(&observe.what)) {
      Activate(turn, *started);
      NoteBegin({started->step + 1, static_cast<std::uint8_t>(Phase::kA), 0}, turn.now());
    } else if (const auto* sealed = std::get_if<protocol::Sealed>(&observe.what)) {
      const auto phase = static_cast<Phase>(sealed->phase);
      if (phase == Phase::kGenesis || phase == Phase::kC) return;
      const std::uint64_t height = sealed->step + 1;
      const std::uint32_t draw = phase == Phase::kB ? sealed->draw + 1 : 0;
      NoteBegin({height, static_cast<std::uint8_t>(Phase::kB), draw}, turn.now());
      if (phase != Phase::kB) return;
      NoteBegin({height, static_cast<std::uint8_t>(Phase::kC), 0}, turn.now());
    }
  }

  void Activate(const Turn& turn, const protocol::StepStarted& started) {
    const bool waits = from_step_ == kNever && started.step >= wanted_step_;
    if (waits && started.roles.PartOwnedBy(turn.coven().members().front())) {
      from_step_ = started.step;
    }
  }
  bool IsOn(const wire::Slot& slot) const {
    if (slot.phase == Phase::kGenesis) return true;
    return slot.step >= from_step_ && (!timing_.once || slot.step == from_step_);
  }

  void NoteBegin(const SealName& seal, base::Time now) {
    log_.NoteBegin(seal, now);
    const bool coins = seal.phase == static_cast<std::uint8_t>(Phase::kB);
    const base::Duration parts = coins ? base::Duration{} : manifest_->part_timeout * 2;
    log_.NoteDeadline(seal, now + parts + delta_ * 2);
  }

  // --- what is told of it
  // --------------------------------------------------------------------------

  // Selects the receiver by half: an honest member, or the machine of a friend that listens to
  // machine number `machine`.
  void OnSend(Turn& turn, std::uint8_t machine, protocol::Send send) {
    const wire::SignedEnvelope* opened = outgoing_.Open(send.frame);
    if (!opened) {
      if (machine == 0) turn.Emit(std::move(send));
      return;
    }
    const wire::Envelope& envelope = opened->envelope;
    const auto honest = sorting_->Honest(send.to);
    const std::uint8_t half = honest ? sorting_->HalfOf(*honest) : machine;
    if (wire::IsService(envelope.slot.type)) return turn.Emit(std::move(send));
    if (envelope.sender == turn.self()) turn.coven().NoteSaid(opened->digest, BitOf(machine));
    const auto author = sorting_->Friend(envelope.sender);
    const Deviation* deviation =
        author ? DeviationOf(envelope.slot, *author, honest, half) : nullptr;
    if (twin_) {
      const bool swapped = deviation && deviation->what == Do::kSwap;
      if (honest && (swapped ? half == machine : half != machine)) return;
    }
    if (!deviation) return turn.Emit(std::move(send));
    Deviate(turn, machine, *opened, *deviation, std::move(send));
  }

  // With twins, friends have halves too; otherwise they get every message unchanged.
  const Deviation* DeviationOf(const wire::Slot& slot, std::uint32_t author,
                               std::optional<std::uint32_t> honest, std::uint8_t half) const {
    if (!IsOn(slot) || (!honest && !twin_)) return nullptr;
    return Find(script_, {slot, author, honest, half, from_step_ == 0}, sorting_->honest_count());
  }

  void Deviate(Turn& turn, std::uint8_t machine, const wire::SignedEnvelope& word,
               const Deviation& deviation, protocol::Send send) {
    // A repeated request gets no second copy.
    const bool waits = std::any_of(held_.begin(), held_.end(), [&](const Held& held) {
      return held.send.to == send.to && *held.send.frame == *send.frame;
    });
    if (waits && deviation.what == Do::kHold) return;
    turn.Confess();
    switch (deviation.what) {
      case Do::kDrop:
      case Do::kFriends:
        return;
      case Do::kHold:
        held_.push_back({std::move(send), SealOf(word.envelope.slot), deviation.until});
        return;
      case Do::kUnreadable:
      case Do::kOlder:
      case Do::kLater: {
        const base::SharedBytes* forged = Forge(turn, word, deviation.what);
        if (forged == nullptr) return;
        send.frame = *forged;
        if (const auto* opened = outgoing_.Open(send.frame)) {
          turn.coven().NoteSaid(opened->digest, BitOf(machine));
        }
        turn.Emit(std::move(send));
        return;
      }
      default:
        turn.Emit(std::move(send));
    }
  }

  // Null if another author signed it, or no such slot exists.
  const base::SharedBytes* Forge(const Turn& turn, const wire::SignedEnvelope& word, Do what) {
    if (word.envelope.sender != turn.self()) return nullptr;
    const auto [place, is_new] = forged_.try_emplace({word.digest, what});
    if (is_new) {
      wire::Envelope envelope = word.envelope;
      if (what == Do::kUnreadable) {
        envelope.body = {0xff};
      } else if (const auto slot = Shifted(envelope.slot, what == Do::kLater)) {
        envelope.slot = *slot;
      } else {
        return nullptr;
      }
      place->second = wire::Seal(std::move(envelope), *key_).frame;
    }
    return place->second ? &place->second : nullptr;
  }

  // In the order of signing.
  void Release(Turn& turn) {
    if (held_.empty()) return;
    const Sides sides = sorting_->SidesFor(quorum_);
    const base::Duration d{delta_.ns / 4};
    std::optional<base::Time> next;
    std::deque<Held> kept;
    for (Held& held : std::exchange(held_, {})) {
      const auto due = log_.DueAt(held.until, held.seal, sides, d);
      if (due && *due <= turn.now()) {
        turn.Emit(std::move(held.send));
        continue;
      }
      if (due && (!next || *due < *next)) next = due;
      kept.push_back(std::move(held));
    }
    held_ = std::move(kept);
    if (!next || hold_timer_ == next) return;
    hold_timer_ = next;
    turn.Emit(protocol::SetTimer{kHoldTimer, *next});
  }

  // --- the content of the AGG
  // ---------------------------------------------------------------------------

  const Deviation* ContentOf(const Turn& turn, const wire::Slot& slot) const {
    const auto author = sorting_->Friend(turn.self());
    if (!author || !IsOn(slot)) return nullptr;
    return FindContent(script_, slot, *author);
  }

  protocol::JobDone Lied(Turn& turn, protocol::JobDone done) {
    const auto* truth = std::get_if<protocol::AggregateResult>(done.result.get());
    if (!truth || !truth->result) return done;
    wire::Slot slot;
    slot.step = turn.step();
    slot.phase = Phase::kA;
    slot.type = MessageType::kAggregate;
    const Deviation* how = ContentOf(turn, slot);
    result_ = truth->result;
    if (!how || how->what == Do::kFullBitmap || how->what == Do::kCommitsRoot) return done;
    turn.Confess();
    protocol::AggregateResult lie = Altered(*truth, *how);
    result_ = lie.result;
    done.result = std::make_shared<const protocol::JobResult>(std::move(lie));
    return done;
  }

  // The machine must not sign the AGG that it made. So the editor signs another in its place, with
  // the other records of the store, and does not deliver Stored to the machine.
  void Prepare(const Turn& turn, std::uint8_t machine, const protocol::Store& store) {
    Draft draft;
    bool differs = false;
    for (const protocol::Record& record : store.records) {
      if (record.kind != protocol::RecordKind::kSlot) return;
      auto own = wire::OpenUnsigned(record.value);
      if (!own.ok()) return;
      differs = Alter(turn, *own) || differs;
      draft.frames.push_back(wire::Seal(std::move(own).value(), *key_).frame);
    }
    if (differs) drafts_[{machine, store.id}] = std::move(draft);
  }

  bool Alter(const Turn& turn, wire::Envelope& own) const {
    if (own.slot.type != MessageType::kAggregate) return false;
    const Deviation* how = ContentOf(turn, own.slot);
    auto aggregate = wire::DecodeAggregate(own.body);
    if (!how || !aggregate.ok()) return false;
    if (how->what == Do::kFullBitmap) {
      const std::size_t members = turn.round() ? turn.round()->roles.workers.size() : 0;
      for (std::size_t i = 0; i < members && i / 8 < aggregate->included.size(); ++i) {
        aggregate->included[i / 8] |= static_cast<std::uint8_t>(1U << (i % 8));
      }
    } else if (how->what == Do::kCommitsRoot) {
      aggregate->commits_root.bytes[0] ^= 1;
    } else {
      return false;
    }
    own.body = wire::Encode(*aggregate);
    return true;
  }

  bool Substituted(Turn& turn, std::uint8_t machine, protocol::StoreId id) {
    const auto draft = drafts_.extract({machine, id});
    if (draft.empty()) return false;
    turn.Confess();
    for (const base::SharedBytes& frame : draft.mapped().frames) {
      const wire::SignedEnvelope* opened = outgoing_.Open(frame);
      const bool bulk = opened && opened->envelope.slot.type == MessageType::kResult;
      const protocol::SharedBlob blob = bulk ? result_ : nullptr;
      for (const protocol::Member& member : manifest_->members) {
        if (member.id != turn.self()) OnSend(turn, machine, {member.id, frame, blob});
      }
      const protocol::MessageReceived own{turn.self(), frame, blob};
      machine == 0 ? turn.Deliver(own) : StepTwin(turn, own);
    }
    return true;
  }

  // --- the twin
  // ------------------------------------------------------------------------------------

  void OnTimer(Turn& turn, const protocol::TimerFired& timer) {
    if (timer.id == kHoldTimer) return;
    if (timer.id < kFirstReservedTimer) return turn.Deliver(timer);
    if (twin_) StepTwin(turn, protocol::TimerFired{timer.id - kFirstReservedTimer});
  }

  void OnJobDone(Turn& turn, const protocol::JobDone& done) {
    protocol::JobDone told = Lied(turn, done);
    const auto job = jobs_.extract(done.id);
    if (job.empty()) return turn.Deliver(told);
    told.id = job.mapped();
    StepTwin(turn, told);
  }

  // Its stores are done at once: it will never start again.
  void StepTwin(Turn& turn, const protocol::Input& input) {
    twin_inputs_.push_back(input);
    if (twin_inputs_.size() > 1) return;  // an outer call is already stepping it
    for (; !twin_inputs_.empty(); twin_inputs_.pop_front()) {
      protocol::Outbox said;
      twin_->Step(turn.now(), protocol::Input(twin_inputs_.front()), said);
      for (protocol::Action& action : said.actions()) OnTwinsAction(turn, std::move(action));
    }
  }

  void OnTwinsAction(Turn& turn, protocol::Action action) {
    if (auto* send = std::get_if<protocol::Send>(&action)) {
      OnSend(turn, 1, std::move(*send));
    } else if (const auto* store = std::get_if<protocol::Store>(&action)) {
      Prepare(turn, 1, *store);
      if (!Substituted(turn, 1, store->id)) StepTwin(turn, protocol::Stored{store->id});
    } else if (const auto* timer = std::get_if<protocol::SetTimer>(&action)) {
      turn.Emit(protocol::SetTimer{timer->id + kFirstReservedTimer, timer->at});
    } else if (const auto* cancelled = std::get_if<protocol::CancelTimer>(&action)) {
      turn.Emit(protocol::CancelTimer{cancelled->id + kFirstReservedTimer});
    } else if (const auto* job = std::get_if<protocol::StartJob>(&action)) {
      jobs_.emplace(turn.StartOwnJob(*job->spec), job->id);
    }
  }

  Script script_;
  Timing timing_;
  std::uint64_t wanted_step_;
  std::uint64_t from_step_;  // kNever: not yet known
  std::shared_ptr<const crypto::SigningKey> key_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  std::function<std::unique_ptr<protocol::Machine>()> another_;
  std::optional<Sorting> sorting_;
  std::size_t quorum_ = 0;
  base::Duration delta_;  // of the newest block
  EventLog log_;
  FrameReader incoming_;
  FrameReader outgoing_;
  std::deque<Held> held_;  // in the order of signing
  std::optional<base::Time> hold_timer_;
  std::map<std::pair<base::Digest, Do>, base::SharedBytes> forged_;  // by the message they replace
  std::map<std::pair<std::uint8_t, protocol::StoreId>, Draft> drafts_;
  protocol::SharedBlob result_;  // of the own column, as sent to others
  std::unique_ptr<protocol::Machine> twin_;
  std::deque<protocol::Input> twin_inputs_;          // not stepped with yet
  std::map<protocol::JobId, protocol::JobId> jobs_;  // our id -> the twin's
};

}  // namespace

std::unique_ptr<Editor> MakeScripted(const EditorOptions& options, Script script, Timing timing) {
  return std::make_unique<Scripted>(options, std::move(script), timing);
}

}  // namespace ostraka::sim
