#include "sim/adversary/scripted.h"

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "sim/adversary/false_aggregates.h"
#include "sim/adversary/forged_copies.h"
#include "sim/adversary/frames.h"
#include "sim/adversary/held_messages.h"
#include "sim/adversary/script_sides.h"
#include "sim/adversary/twin.h"

namespace ostraka::sim {
namespace {

using Do = Deviation::Do;
using Side = Happening::Side;
using wire::MessageType;
using wire::Phase;

class Scripted final : public Editor {
 public:
  Scripted(const EditorOptions& options, Script script, Timing timing)
      : script_(std::move(script)),
        steps_(options.from_step, timing),
        manifest_(options.manifest),
        another_(options.another),
        delta_(options.manifest->delta),
        forged_(options.key),
        aggregates_(options.key) {
    const auto members = static_cast<std::uint32_t>(manifest_->members.size());
    const auto t_a = protocol::GenesisAsynchronousFaults(manifest_->mode, members);
    quorum_ = members - protocol::ThresholdsFor(manifest_->mode, members, t_a).t_s;
  }

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    if (!sides_) sides_.emplace(*manifest_, turn.coven(), script_);
    if (std::holds_alternative<protocol::Started>(input)) {
      OnStarted(turn, std::get<protocol::Started>(input));
    } else if (std::holds_alternative<protocol::LinkChanged>(input)) {
      turn.Deliver(input);
      if (twin_.here()) StepTwin(turn, input);
    } else if (const auto* message = std::get_if<protocol::MessageReceived>(&input)) {
      Hear(turn, *message);
    } else if (const auto* timer = std::get_if<protocol::TimerFired>(&input)) {
      OnTimer(turn, *timer);
    } else if (const auto* done = std::get_if<protocol::JobDone>(&input)) {
      OnJobDone(turn, *done);
    } else if (const auto* stored = std::get_if<protocol::Stored>(&input)) {
      if (!Substituted(turn, 0, stored->id)) turn.Deliver(input);
    }
    held_.Release(turn, sides_->SizesFor(quorum_), base::Duration{delta_.ns / 4});
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (auto* send = std::get_if<protocol::Send>(&action)) return OnSend(turn, 0, std::move(*send));
    if (const auto* store = std::get_if<protocol::Store>(&action)) PrepareStore(turn, 0, *store);
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) Note(turn, *observe);
    turn.Emit(std::move(action));
  }

  base::Digest Fingerprint() const override {
    return crypto::Hasher(crypto::kDomainFingerprint)
        .Update(twin_.Fingerprint())
        .UpdateU64(held_.size())
        .UpdateU64(static_cast<std::uint64_t>(delta_.ns))
        .Finish();
  }

 private:
  // --- inputs of the machines --------------------------------------------------------------------

  void OnStarted(EditorTurn& turn, const protocol::Started& started) {
    // Twins begin at a first start only: a restarted colluder is honest.
    const bool twins = script_.mode != Script::Mode::kSolo && another_ && !started.restored;
    if (started.restored) script_.deviations.clear();
    if (twins) twin_.Begin(another_());
    NoteBegin({0, 0, 0}, turn.now());
    turn.Deliver(started);
    if (twin_.here()) StepTwin(turn, started);
  }

  void Hear(EditorTurn& turn, const protocol::MessageReceived& message) {
    const wire::SignedEnvelope* opened = incoming_.Open(message.frame);
    const bool service = opened && wire::IsService(opened->envelope.slot.type);
    if (opened && !service) NoteWord(turn, *opened);
    if (!twin_.here()) return turn.Deliver(message);
    const std::uint8_t who = opened ? HearersOf(turn, message, *opened) : 3;
    if ((who & 1) != 0) turn.Deliver(message);
    if ((who & 2) != 0) StepTwin(turn, message);
  }

  // Bit 0: the machine of the first half; bit 1: its twin.
  std::uint8_t HearersOf(const EditorTurn& turn, const protocol::MessageReceived& message,
                         const wire::SignedEnvelope& opened) const {
    const wire::Envelope& envelope = opened.envelope;
    const auto link = sides_->Honest(message.from);
    if (wire::IsService(envelope.slot.type)) {
      const bool asks = envelope.slot.type == MessageType::kPull;
      return asks && link ? BitOf(sides_->HalfOf(*link)) : 3;
    }
    // A machine stops if it gets a message with its own signature that it never signed.
    if (envelope.sender == turn.self()) return turn.coven().SaidBy(opened.digest);
    if (sides_->Friend(envelope.sender)) {
      const std::uint8_t said = turn.coven().SaidBy(opened.digest);
      return said == 0 ? 3 : said;
    }
    const bool deaf = script_.mode == Script::Mode::kDeaf && IsSealWord(envelope.slot.type) &&
                      envelope.slot.phase != Phase::kGenesis && steps_.Covers(envelope.slot);
    if (!deaf) return 3;
    if (link) return BitOf(sides_->HalfOf(*link));
    const auto author = sides_->Honest(envelope.sender);
    return author ? BitOf(sides_->HalfOf(*author)) : 3;
  }
  static std::uint8_t BitOf(std::uint8_t half) { return half == 0 ? 1 : 2; }

  void NoteWord(const EditorTurn& turn, const wire::SignedEnvelope& opened) {
    const wire::Envelope& envelope = opened.envelope;
    Side side = Side::kFriends;
    if (const auto honest = sides_->Honest(envelope.sender)) {
      side = sides_->HalfOf(*honest) == 0 ? Side::kFirst : Side::kSecond;
    } else if (envelope.sender == turn.self() || !sides_->Friend(envelope.sender)) {
      return;
    }
    held_.log().NoteWord(envelope.slot, envelope.sender, side, turn.now());
  }

  void Note(const EditorTurn& turn, const protocol::Observe& observe) {
    if (const auto* done = std::get_if<protocol::StepDone>(&observe.what)) {
      delta_ = base::Microseconds(static_cast<std::int64_t>(done->block->delta_us));
      quorum_ = done->block->thresholds.quorum();
      forged_.Forget();
    } else if (const auto* started = std::get_if<protocol::StepStarted>(&observe.what)) {
      const bool owns = started->roles.PartOwnedBy(turn.coven().members().front()).has_value();
      steps_.OnStep(started->step, owns);
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

  void NoteBegin(const SealName& seal, base::Time now) {
    held_.log().NoteBegin(seal, now);
    const bool coins = seal.phase == static_cast<std::uint8_t>(Phase::kB);
    const base::Duration parts = coins ? base::Duration{} : manifest_->part_timeout * 2;
    held_.log().NoteDeadline(seal, now + parts + delta_ * 2);
  }

  // --- what others get --------------------------------------------------------------------------

  // Selects the receiver by half: an honest member, or the machine of a friend that listens to
  // machine number `machine`.
  void OnSend(EditorTurn& turn, std::uint8_t machine, protocol::Send send) {
    const wire::SignedEnvelope* opened = outgoing_.Open(send.frame);
    if (!opened) {
      if (machine == 0) turn.Emit(std::move(send));
      return;
    }
    const wire::Envelope& envelope = opened->envelope;
    const auto honest = sides_->Honest(send.to);
    const std::uint8_t half = honest ? sides_->HalfOf(*honest) : machine;
    if (wire::IsService(envelope.slot.type)) return turn.Emit(std::move(send));
    if (envelope.sender == turn.self()) turn.coven().NoteSaid(opened->digest, BitOf(machine));
    const auto author = sides_->Friend(envelope.sender);
    const Deviation* deviation =
        author ? DeviationOf(envelope.slot, *author, honest, half) : nullptr;
    if (twin_.here()) {
      const bool swapped = deviation && deviation->what == Do::kSwap;
      if (honest && (swapped ? half == machine : half != machine)) return;
    }
    if (!deviation) return turn.Emit(std::move(send));
    Deviate(turn, machine, *opened, *deviation, std::move(send));
  }

  // With twins, friends have halves too; otherwise they get every message unchanged.
  const Deviation* DeviationOf(const wire::Slot& slot, std::uint32_t author,
                               std::optional<std::uint32_t> honest, std::uint8_t half) const {
    if (!steps_.Covers(slot) || (!honest && !twin_.here())) return nullptr;
    return Find(script_, {slot, author, honest, half, steps_.FromTheStart()},
                sides_->honest_count());
  }

  void Deviate(EditorTurn& turn, std::uint8_t machine, const wire::SignedEnvelope& word,
               const Deviation& deviation, protocol::Send send) {
    if (deviation.what == Do::kHold && held_.Holds(send)) return;  // it was asked for again
    turn.Confess();
    switch (deviation.what) {
      case Do::kDrop:
      case Do::kFriends:
        return;
      case Do::kHold:
        held_.Hold(std::move(send), SealOf(word.envelope.slot), deviation.until);
        return;
      case Do::kUnreadable:
      case Do::kOlder:
      case Do::kLater: {
        const base::SharedBytes* forged = forged_.Of(word, deviation.what);
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

  // --- the content of the AGG --------------------------------------------------------------------

  const Deviation* ContentOf(const EditorTurn& turn, const wire::Slot& slot) const {
    const auto author = sides_->Friend(turn.self());
    if (!author || !steps_.Covers(slot)) return nullptr;
    return FindContent(script_, slot, *author);
  }

  void PrepareStore(const EditorTurn& turn, std::uint8_t machine, const protocol::Store& store) {
    aggregates_.Prepare(turn, machine, store,
                        [&](const wire::Slot& slot) { return ContentOf(turn, slot); });
  }

  bool Substituted(EditorTurn& turn, std::uint8_t machine, protocol::StoreId id) {
    const auto frames = aggregates_.Take(machine, id);
    if (!frames) return false;
    turn.Confess();
    for (const base::SharedBytes& frame : *frames) {
      const wire::SignedEnvelope* opened = outgoing_.Open(frame);
      const bool bulk = opened && opened->envelope.slot.type == MessageType::kResult;
      const protocol::SharedBlob blob = bulk ? aggregates_.result() : nullptr;
      for (const protocol::Member& member : manifest_->members) {
        if (member.id != turn.self()) OnSend(turn, machine, {member.id, frame, blob});
      }
      const protocol::MessageReceived own{turn.self(), frame, blob};
      machine == 0 ? turn.Deliver(own) : StepTwin(turn, own);
    }
    return true;
  }

  // --- the twin ----------------------------------------------------------------------------------

  void OnTimer(EditorTurn& turn, const protocol::TimerFired& timer) {
    if (timer.id == HeldMessages::kTimer) return held_.OnTimer();
    if (timer.id < kFirstReservedTimer) return turn.Deliver(timer);
    if (twin_.here()) StepTwin(turn, protocol::TimerFired{timer.id - kFirstReservedTimer});
  }

  void OnJobDone(EditorTurn& turn, const protocol::JobDone& done) {
    protocol::JobDone told =
        aggregates_.Lied(turn, turn.SpecOf(done.id).get(), done,
                         [&](const wire::Slot& slot) { return ContentOf(turn, slot); });
    const auto its = twin_.TakeJob(done.id);
    if (!its) return turn.Deliver(told);
    told.id = *its;
    StepTwin(turn, told);
  }

  // Its stores are done at once: it will never start again.
  void StepTwin(EditorTurn& turn, const protocol::Input& input) {
    twin_.Step(turn.now(), input,
               [&](protocol::Action action) { OnTwinsAction(turn, std::move(action)); });
  }

  void OnTwinsAction(EditorTurn& turn, protocol::Action action) {
    if (auto* send = std::get_if<protocol::Send>(&action)) {
      OnSend(turn, 1, std::move(*send));
    } else if (const auto* store = std::get_if<protocol::Store>(&action)) {
      PrepareStore(turn, 1, *store);
      if (!Substituted(turn, 1, store->id)) StepTwin(turn, protocol::Stored{store->id});
    } else if (const auto* timer = std::get_if<protocol::SetTimer>(&action)) {
      turn.Emit(protocol::SetTimer{timer->id + kFirstReservedTimer, timer->at});
    } else if (const auto* cancelled = std::get_if<protocol::CancelTimer>(&action)) {
      turn.Emit(protocol::CancelTimer{cancelled->id + kFirstReservedTimer});
    } else if (const auto* job = std::get_if<protocol::StartJob>(&action)) {
      twin_.NoteJob(turn.StartOwnJob(*job->spec), job->id);
    }  // what it stops comes back all the same
  }

  Script script_;
  ScriptSteps steps_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  std::function<std::unique_ptr<protocol::Machine>()> another_;
  std::optional<ScriptSides> sides_;  // from the first input on
  std::size_t quorum_ = 0;
  base::Duration delta_;  // of the newest block
  FrameReader incoming_;
  FrameReader outgoing_;
  HeldMessages held_;
  ForgedCopies forged_;
  FalseAggregates aggregates_;
  Twin twin_;
};

}  // namespace

std::unique_ptr<Editor> MakeScripted(const EditorOptions& options, Script script, Timing timing) {
  return std::make_unique<Scripted>(options, std::move(script), timing);
}

}  // namespace ostraka::sim
