#include "node/protocol/seal/seal.h"

#include <algorithm>
#include <utility>

#include "node/protocol/seal/inside/describe.h"
#include "node/protocol/seal/inside/impl.h"
#include "node/protocol/seal/inside/memory.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {
namespace {

using wire::MessageType;

constexpr base::Duration Half(base::Duration duration) { return {duration.ns / 2}; }

}  // namespace

Seal::Impl::Impl(SealOptions options, const SealMessages* messages)
    : setup_(std::move(options)),
      values_(setup_.entries(), messages),
      echoes_(setup_),
      gate_(setup_.unmuted(), setup_.quorum()),
      clock_(setup_.delta()),
      slow_path_(setup_),
      asks_(setup_) {}

// --- inputs --------------------------------------------------------------------------------------

void Seal::Impl::Opened(base::Time now, SealOutput& out) {
  // Too late to echo.
  if (gate_.passed() && !echoes_.wait_ended_at()) Begin(now, CloseTime::kWithEcho, out);
  opened_ = true;
  Drive(now, out);
}

void Seal::Impl::Echo(base::Time now, CloseTime close, SealOutput& out) {
  Begin(now, close, out);
  Drive(now, out);
}

void Seal::Impl::OnMessage(base::Time now, const wire::SignedEnvelope& message, SealOutput& out) {
  const PeerId& sender = message.envelope.sender;
  if (!setup_.IsUnmuted(sender)) return;
  if (sender == setup_.self() && !setup_.muted()) Remember(now, message);
  switch (message.envelope.slot.type) {
    case MessageType::kEcho:
      TakeEcho(now, message);
      break;
    case MessageType::kStatus:
    case MessageType::kPropose:
    case MessageType::kVote:
    case MessageType::kLock:
      TakeSlow(now, message, out);
      break;
    case MessageType::kClose:
      if (message.As<wire::Close>() != nullptr) gate_.Add(sender, message.frame);
      break;
    default:
      return;
  }
  Drive(now, out);
}

void Seal::Impl::OnVector(base::Time now, const wire::Vector& vector, SealOutput& out) {
  std::optional<SealVector> parsed = values_.Parse(vector);
  if (!parsed) return;
  const Digest value = HashOf(*parsed);
  const std::set<Digest> named = NamedValues(view());
  if (!named.contains(value)) return;
  // Normally only an iteration's beginning leaves values unnamed. (Own frames of another process
  // with this key may change the own lock at any time.)
  if (values_.size() > MostNamedValues(setup_.unmuted().size())) values_.ForgetAllBut(named);
  if (!values_.Add(value, *std::move(parsed))) return;
  if (echoes_.sent_at() && value == echoes_.own_value()) echoes_.KnowOwnVector();
  asks_.LookAt(now);
  Drive(now, out);
}

void Seal::Impl::OnHeld(base::Time now, SealOutput& out) {
  RebuildOwnVector();
  Drive(now, out);
}

void Seal::Impl::OnTimer(base::Time now, SealOutput& out) { Drive(now, out); }

std::optional<base::Time> Seal::Impl::wake() const {
  if (decision_.vector()) return std::nullopt;
  std::optional<base::Time> earliest;
  for (const auto& at : {asks_.next_look(), clock_.due(), repeats_.next()}) {
    if (at && (!earliest || *at < *earliest)) earliest = at;
  }
  return earliest;
}

// --- messages ------------------------------------------------------------------------------------

void Seal::Impl::Remember(base::Time now, const wire::SignedEnvelope& own) {
  const wire::Slot& slot = own.envelope.slot;
  if (slot.type == MessageType::kEcho) {
    const auto* echo = own.As<wire::Echo>();
    if (echo == nullptr || !echoes_.Recall(now, echo->vector)) return;
    slow_path_.NameOwnEcho(echo->vector);
    if (!decision_.made()) clock_.Echoed(now, CloseTime::kAfterEcho);  // why it ended is forgotten
    asks_.LookAt(now + Half(setup_.delta()));
    RebuildOwnVector();
    return;
  }
  if (slot.type == MessageType::kClose) {
    if (!decision_.made()) clock_.Closed(now);
    return;
  }
  const bool in_iteration = slot.type >= MessageType::kStatus && slot.type <= MessageType::kLock;
  if (!in_iteration) return;
  if (slot.iteration > clock_.iteration()) {
    slow_ = true;
    echoes_.EndWait(now);
    // Not once the seal is decided: its clock is not advanced any more, so a due time there would
    // wake the owner without end while messages that the decision names are lacking.
    if (!decision_.made()) {
      clock_.Rest(slot.iteration, now + IterationLength(setup_.delta(), slot.iteration));
      slow_path_.MoveTo(slot.iteration);
    }
  }
  slow_path_.Recall(own, clock_.iteration());
}

void Seal::Impl::RebuildOwnVector() {
  if (!echoes_.sent_at() || echoes_.own_vector_known()) return;
  SealVector held = values_.HeldNow();
  if (HashOf(held) != echoes_.own_value()) return;
  echoes_.KnowOwnVector();
  values_.Add(echoes_.own_value(), std::move(held));
}

void Seal::Impl::TakeEcho(base::Time now, const wire::SignedEnvelope& message) {
  const auto* echo = message.As<wire::Echo>();
  if (echo == nullptr) return;
  const PeerId& sender = message.envelope.sender;
  slow_path_.AddEcho(sender, echo->vector, message.frame);
  if (!echoes_.Add(sender, *echo, now)) return;
  if (sender != setup_.self()) asks_.LookAt(now + setup_.moment());
}

void Seal::Impl::TakeSlow(base::Time now, const wire::SignedEnvelope& message, SealOutput& out) {
  const std::uint32_t current = clock_.iteration();
  const wire::Envelope& envelope = message.envelope;
  // A member in an iteration has passed the gate and holds its CLOSEs: ask it for them.
  const bool ahead = slow_path_.NoteReached(envelope.sender, envelope.slot.iteration);
  if (ahead && !decision_.made() && !gate_.passed()) asks_.LookAt(now);
  switch (envelope.slot.type) {
    case MessageType::kStatus: {
      const SealSlowPath::StatusTaken taken = slow_path_.OnStatus(message, current);
      out.forward.insert(out.forward.end(), taken.rivals.begin(), taken.rivals.end());
      if (taken.claims_lock) asks_.LookAt(now);
      return;
    }
    case MessageType::kPropose:
      return TakePropose(now, message, out);
    case MessageType::kVote:
      return slow_path_.OnVote(message, current);
    case MessageType::kLock:
      if (slow_path_.OnLock(message, current)) asks_.LookAt(now);
      return;
    default:
      return;
  }
}

void Seal::Impl::TakePropose(base::Time now, const wire::SignedEnvelope& message, SealOutput& out) {
  const wire::Propose* body = slow_path_.OnPropose(message, clock_.iteration());
  if (body == nullptr) return;
  const SealVector* vector = values_.Find(body->value);
  if (message.envelope.sender == setup_.self() && body->rank == 0 && vector != nullptr) {
    const wire::Vector answer = WireOf(*vector);
    for (const PeerId& other : setup_.others()) out.answer_vector.emplace_back(other, answer);
  }
  // The leader sends the vector right behind its PROPOSE: do not ask for it at once.
  asks_.LookAt(vector == nullptr ? now + base::Duration{setup_.delta().ns / 8} : now);
}

// --- reads ---------------------------------------------------------------------------------------

std::vector<SealFrame> Seal::Impl::Frames(MessageType type) const {
  if (type != MessageType::kClose) return slow_path_.Frames(type);
  std::vector<SealFrame> frames;
  for (const auto& [sender, frame] : gate_.closers()) frames.push_back({sender, frame});
  return frames;
}

bool Seal::Impl::Holds(const wire::SignedEnvelope& message) const {
  const std::vector<SealFrame> held = Frames(message.envelope.slot.type);
  return std::any_of(held.begin(), held.end(), [&](const SealFrame& of) {
    return of.sender == message.envelope.sender && *of.frame == *message.frame;
  });
}

// --- the facade ----------------------------------------------------------------------------------

Seal::Seal(SealOptions options, const SealMessages* messages)
    : impl_(std::make_unique<Impl>(std::move(options), messages)) {}
Seal::~Seal() = default;

void Seal::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, impl_); }

void Seal::Opened(base::Time now, SealOutput& out) { impl_->Opened(now, out); }
void Seal::Echo(base::Time now, CloseTime close, SealOutput& out) { impl_->Echo(now, close, out); }
void Seal::OnMessage(base::Time now, const wire::SignedEnvelope& message, SealOutput& out) {
  impl_->OnMessage(now, message, out);
}
void Seal::OnVector(base::Time now, const wire::Vector& vector, SealOutput& out) {
  impl_->OnVector(now, vector, out);
}
void Seal::OnHeld(base::Time now, SealOutput& out) { impl_->OnHeld(now, out); }
void Seal::OnTimer(base::Time now, SealOutput& out) { impl_->OnTimer(now, out); }
std::optional<base::Time> Seal::wake() const { return impl_->wake(); }
bool Seal::wait_ended() const { return impl_->view().echoes.wait_ended_at().has_value(); }
bool Seal::gate_passed() const { return impl_->view().gate.passed(); }
bool Seal::alone() const { return impl_->alone(); }
bool Seal::slow() const { return impl_->slow(); }
std::uint32_t Seal::iteration() const { return impl_->view().clock.iteration(); }
const std::set<PeerId>& Seal::silent() const { return impl_->view().echoes.silent(); }
const std::map<PeerId, base::Duration>& Seal::lags() const { return impl_->view().echoes.lags(); }
const std::optional<SealVector>& Seal::decision() const { return impl_->view().decision.vector(); }
std::vector<base::SharedBytes> Seal::Certificate() const {
  return impl_->view().decision.certificate();
}
std::vector<SealFrame> Seal::SignedCertificate() const {
  return impl_->view().decision.SignedBy(impl_->view().setup.self());
}
std::string Seal::Describe(base::Time now) const { return DescribeSeal(impl_->view(), now); }
std::optional<wire::Vector> Seal::VectorFor(const Digest& value) const {
  const SealVector* vector = impl_->view().values.Find(value);
  return vector == nullptr ? std::nullopt : std::optional(WireOf(*vector));
}
std::vector<SealFrame> Seal::Frames(wire::MessageType type) const { return impl_->Frames(type); }
bool Seal::Holds(const wire::SignedEnvelope& message) const { return impl_->Holds(message); }

}  // namespace ostraka::protocol
