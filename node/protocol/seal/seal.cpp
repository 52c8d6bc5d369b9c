#include "node/protocol/seal/seal.h"

#include <algorithm>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/seal/seal_impl.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {
namespace {

using State = SealEntry::State;
using wire::MessageType;

// Frames are kept of this many iterations ahead of the own one; of later iterations only the
// number is kept (reached_).
constexpr std::uint32_t kIterationsAhead = 2;

std::vector<PeerId> AwakeOf(const SealOptions& options) {
  std::vector<PeerId> awake;
  for (const PeerId& member : options.members) {
    if (!options.asleep.contains(member)) awake.push_back(member);
  }
  return awake;
}

void Append(const Signers& signers, std::vector<SealFrame>& frames) {
  for (const auto& [sender, frame] : signers) frames.push_back({sender, frame});
}

}  // namespace

Seal::Impl::Impl(SealOptions options, const SealMessages* messages)
    : options_(std::move(options)),
      messages_(messages),
      awake_(AwakeOf(options_)),
      leaders_(LeadersOf(options_.leader_seed, options_.slot, awake_)),
      quorum_(options_.thresholds.quorum() - (base::Planted(base::Bug::kQuorumLessOne) ? 1 : 0)),
      enough_(quorum_ - options_.thresholds.t_a),
      faults_(std::max(options_.thresholds.t_s, options_.thresholds.t_a)),
      gate_(awake_, quorum_),
      clock_(options_.delta) {
  OSTRAKA_CHECK(std::is_sorted(options_.members.begin(), options_.members.end()));
  OSTRAKA_CHECK(options_.entries % std::max<std::size_t>(options_.members.size(), 1) == 0);
}

bool Seal::Impl::IsAwake(const PeerId& peer) const {
  return std::binary_search(awake_.begin(), awake_.end(), peer);
}

// --- inputs --------------------------------------------------------------------------------------

void Seal::Impl::Opened(base::Time now, SealOutput& out) {
  now_ = now;
  if (passed_ && !begun_at_) Begin(out);  // too late to echo
  opened_ = true;
  Drive(out);
}

void Seal::Impl::Echo(base::Time now, SealOutput& out) {
  now_ = now;
  Begin(out);
  Drive(out);
}

void Seal::Impl::Begin(SealOutput& out) {
  if (begun_at_) return;
  begun_at_ = now_;
  TickAt(now_ + base::Duration{options_.delta.ns / 2});
  // A member that finds the gate passed when it opens the seal must not echo: the others rely on
  // holding every honest ECHO soon after the gate.
  const bool too_late = (passed_ && !opened_) || clock_.iteration() > 0;
  if (options_.muted || (too_late && !base::Planted(base::Bug::kEchoAfterGate))) return;
  echo_time_ = now_;
  own_vector_ = HeldNow();
  const wire::Echo echo = EchoOf(*own_vector_);
  own_value_ = echo.vector;
  vectors_[own_value_] = *own_vector_;
  if (undecided()) clock_.Echoed(now_);
  if (base::Planted(base::Bug::kNoGate)) Rest(0, now_ + options_.delta * 2);
  out.say.push_back({MessageType::kEcho, 0, wire::Encode(echo)});
}

void Seal::Impl::TryGate(SealOutput& out) {
  if (passed_ || !gate_.passed() || base::Planted(base::Bug::kNoGate)) return;
  passed_ = true;
  if (!options_.muted && !base::Planted(base::Bug::kGateKeptSecret)) {
    const auto frames = gate_.FramesToForward(options_.self);
    out.forward.insert(out.forward.end(), frames.begin(), frames.end());
  }
  if (opened_) Begin(out);
  if (!options_.muted) clock_.Passed(now_);
  TickAt(now_);
}

void Seal::Impl::OnMessage(base::Time now, const wire::SignedEnvelope& message, SealOutput& out) {
  now_ = now;
  const PeerId& sender = message.envelope.sender;
  if (!IsAwake(sender)) return;
  if (sender == options_.self && !options_.muted) Remember(message);
  switch (message.envelope.slot.type) {
    case MessageType::kEcho:
      OnEcho(message);
      break;
    case MessageType::kStatus:
      OnStatus(message, out);
      break;
    case MessageType::kPropose:
      OnPropose(message, out);
      break;
    case MessageType::kVote:
      OnVote(message);
      break;
    case MessageType::kLock:
      OnLock(message);
      break;
    case MessageType::kClose:
      if (wire::DecodeClose(message.envelope.body).ok()) gate_.Add(sender, message.frame);
      break;
    default:
      return;
  }
  Drive(out);
}

void Seal::Impl::OnVector(base::Time now, const wire::Vector& vector, SealOutput& out) {
  now_ = now;
  if (vector.entries.size() != options_.entries) return;
  std::optional<SealVector> parsed = VectorOf(vector);
  if (!parsed) return;
  const Digest value = EchoOf(*parsed).vector;
  if (!RelevantVectors().contains(value)) return;
  if (!vectors_.emplace(value, std::move(*parsed)).second) return;
  if (echo_time_ && value == own_value_ && !own_vector_) own_vector_ = vectors_.at(value);
  TickAt(now);
  Drive(out);
}

void Seal::Impl::OnHeld(base::Time now, SealOutput& out) {
  now_ = now;
  RebuildOwnVector();
  Drive(out);
}

void Seal::Impl::OnTimer(base::Time now, SealOutput& out) {
  now_ = now;
  Drive(out);
}

std::optional<base::Time> Seal::Impl::wake() const {
  if (decision) return std::nullopt;
  std::optional<base::Time> earliest;
  for (const std::optional<base::Time>& at : {tick_, clock_.due(), say_again_}) {
    if (at && (!earliest || *at < *earliest)) earliest = at;
  }
  return earliest;
}

// --- messages ------------------------------------------------------------------------------------

void Seal::Impl::Remember(const wire::SignedEnvelope& own) {
  const wire::Slot& slot = own.envelope.slot;
  if (slot.type == MessageType::kEcho) {
    const auto echo = wire::DecodeEcho(own.envelope.body);
    if (!echo.ok() || echo_time_) return;
    begun_at_ = now_;
    echo_time_ = now_;
    own_value_ = echo->vector;
    if (undecided()) clock_.Echoed(now_);
    TickAt(now_ + base::Duration{options_.delta.ns / 2});
    RebuildOwnVector();
    return;
  }
  if (slot.type == MessageType::kClose) {
    if (undecided()) clock_.Closed(now_);
    return;
  }
  if (slot.iteration > clock_.iteration()) {
    slow = true;
    if (!begun_at_) begun_at_ = now_;
    Rest(slot.iteration, now_ + StepLength(options_.delta, slot.iteration) * 4);
  }
  SealLock said;
  if (slot.type == MessageType::kStatus) {
    const auto status = wire::DecodeStatus(own.envelope.body);
    if (status.ok()) said = {status->rank, status->value};
  } else if (slot.type == MessageType::kLock) {
    const auto locked = wire::DecodeLock(own.envelope.body);
    if (locked.ok()) said = {slot.iteration + 1, locked->value};
  }
  if (said.rank > lock_.rank) lock_ = said;
}

void Seal::Impl::Rest(std::uint32_t iteration, base::Time until) {
  if (undecided()) clock_.Rest(iteration, until);
}

void Seal::Impl::RebuildOwnVector() {
  if (!echo_time_ || own_vector_) return;
  SealVector held = HeldNow();
  if (EchoOf(held).vector != own_value_) return;
  own_vector_ = held;
  vectors_[own_value_] = std::move(held);
}

void Seal::Impl::OnEcho(const wire::SignedEnvelope& message) {
  auto echo = wire::DecodeEcho(message.envelope.body);
  if (!echo.ok()) return;
  const PeerId& sender = message.envelope.sender;
  ballots_[0].Add(sender, echo->vector, message.frame, Needed(0, echo->vector));
  if (!echoes_.emplace(sender, EchoSeen{std::move(echo).value(), now_}).second) return;
  if (sender == options_.self) return;
  lags[sender] = echo_time_ ? now_ - *echo_time_ : base::Duration{};
  TickAt(now_ + options_.moment);
}

void Seal::Impl::OnStatus(const wire::SignedEnvelope& message, SealOutput& out) {
  const std::uint32_t k = message.envelope.slot.iteration;
  const PeerId& sender = message.envelope.sender;
  NoteReached(sender, k);
  const auto status = wire::DecodeStatus(message.envelope.body);
  if (!status.ok() || !InWindow(k)) return;
  Statuses& statuses = rounds_[k].statuses;
  if (!statuses.Add(sender, {*status, message.digest, message.frame})) return;
  if (statuses.TwoFaced(sender)) {  // show both to all, so that no leader relies on the sender
    for (const StatusSeen& seen : statuses.all().at(sender)) out.forward.push_back(seen.frame);
  }
  if (k == clock_.iteration() && status->rank > 0 && status->rank <= k) {
    claims_.insert({status->rank, status->value});
    TickAt(now_);
  }
}

void Seal::Impl::OnPropose(const wire::SignedEnvelope& message, SealOutput& out) {
  const std::uint32_t k = message.envelope.slot.iteration;
  const PeerId& sender = message.envelope.sender;
  NoteReached(sender, k);
  auto propose = wire::DecodePropose(message.envelope.body);
  if (!propose.ok() || !InWindow(k) || sender != LeaderOf(k)) return;
  std::vector<ProposeSeen>& proposals = rounds_[k].proposals;
  if (proposals.size() == 2) return;
  if (!proposals.empty() && proposals.front().digest == message.digest) return;
  proposals.push_back({std::move(propose).value(), message.digest, message.frame});
  const wire::Propose& body = proposals.back().body;
  if (k != clock_.iteration()) return;
  if (body.rank > 0 && body.rank <= k) claims_.insert({body.rank, body.value});
  const auto vector = vectors_.find(body.value);
  if (sender == options_.self && body.rank == 0 && vector != vectors_.end()) {
    const wire::Vector answer = WireOf(vector->second);
    for (const PeerId& other : OthersAwake()) out.answer_vector.emplace_back(other, answer);
  }
  // The leader sends the vector right behind its PROPOSE: do not ask for it at once.
  TickAt(vector == vectors_.end() ? now_ + base::Duration{options_.delta.ns / 8} : now_);
}

void Seal::Impl::OnVote(const wire::SignedEnvelope& message) {
  const std::uint32_t k = message.envelope.slot.iteration;
  const PeerId& sender = message.envelope.sender;
  NoteReached(sender, k);
  const auto vote = wire::DecodeSealVote(message.envelope.body);
  if (!vote.ok()) return;
  const bool needed = Needed(k, vote->value);
  if (!InWindow(k) && !needed) return;
  ballots_[k].Add(sender, vote->value, message.frame, needed);
}

void Seal::Impl::OnLock(const wire::SignedEnvelope& message) {
  const std::uint32_t k = message.envelope.slot.iteration;
  const PeerId& sender = message.envelope.sender;
  NoteReached(sender, k);
  const auto lock = wire::DecodeLock(message.envelope.body);
  if (!lock.ok()) return;
  if (locks_.Add(sender, k, lock->value, message.frame) && InWindow(k)) TickAt(now_);
}

// A member in an iteration has passed the gate and holds its CLOSEs: ask it for them (LackCloses).
void Seal::Impl::NoteReached(const PeerId& sender, std::uint32_t iteration) {
  std::uint32_t& reached = reached_[sender];
  if (iteration <= reached) return;
  reached = iteration;
  if (undecided() && !passed_) TickAt(now_);
}

bool Seal::Impl::InWindow(std::uint32_t iteration) const {
  const std::uint32_t current = clock_.iteration();
  return iteration + 1 >= current && iteration <= current + kIterationsAhead;
}

bool Seal::Impl::Needed(std::uint32_t iteration, const Digest& value) const {
  const SealLock lock{iteration + 1, value};
  if (lock == lock_ || claims_.contains(lock)) return true;
  if (iteration == 0) {
    const auto echoes = ballots_.find(0);
    return (echo_time_ && value == own_value_) ||
           (echoes != ballots_.end() && value == echoes->second.Leading());
  }
  if (!locks_.For(iteration, value).empty()) return true;
  const auto round = rounds_.find(iteration);
  return round != rounds_.end() &&
         std::any_of(round->second.proposals.begin(), round->second.proposals.end(),
                     [&](const ProposeSeen& seen) { return seen.body.value == value; });
}

// --- the decision --------------------------------------------------------------------------------

void Seal::Impl::Drive(SealOutput& out) {
  if (undecided()) Decide(out);
  if (undecided()) TryGate(out);
  if (undecided()) RunClock(out);
  if (!undecided() && !decision) Resolve();
  if (!decision && tick_ && *tick_ <= now_) Ask(out);
  CheckInvariants();
}

void Seal::Impl::CheckInvariants() const {
  OSTRAKA_CHECK(decided_value_.has_value() == !certificate.empty());
  OSTRAKA_CHECK(!decision || decided_value_);
  OSTRAKA_CHECK(undecided() || clock_.step() == SealClock::Step::kIdle);
  OSTRAKA_CHECK(!echo_time_ || begun_at_);
  OSTRAKA_CHECK(!passed_ || gate_.passed());
  OSTRAKA_CHECK(!options_.muted || (!echo_time_ && !own_vector_ && lock_.rank == 0 &&
                                    clock_.step() == SealClock::Step::kIdle));
  OSTRAKA_CHECK(slow || clock_.iteration() == 0);
  OSTRAKA_CHECK(std::max(echoes_.size(), reached_.size()) <= awake_.size());
}

void Seal::Impl::CheckParts() const {
  for (const auto& [iteration, ballots] : ballots_) ballots.CheckInvariants();
  for (const auto& [iteration, round] : rounds_) {
    round.statuses.CheckInvariants();
    OSTRAKA_CHECK(round.proposals.size() <= 2);
  }
  locks_.CheckInvariants();
  gate_.CheckInvariants();
}

void Seal::Impl::Decide(SealOutput& out) {
  for (const auto& [value, signers] : ballots_[0].by_value()) {
    if (signers.size() == awake_.size() && signers.size() >= quorum_) {
      return DecideOn(value, signers, out);
    }
  }
  for (const auto& [group, signers] : locks_.groups()) {
    if (signers.size() >= quorum_) return DecideOn(group.value, signers, out);
  }
}

void Seal::Impl::DecideOn(const Digest& value, const Signers& signers, SealOutput& out) {
  decided_value_ = value;
  for (const auto& [sender, frame] : signers) {
    certificate.push_back(frame);
    if (sender != options_.self) witnesses_.push_back(sender);
  }
  // The others may lack a single frame, and would then decide an iteration later. Before the first
  // CLOSE they ask for ECHOs often enough by themselves.
  if (HasVoice() && (slow || !gate_.empty())) {
    out.forward.insert(out.forward.end(), certificate.begin(), certificate.end());
  }
  clock_.Stop();
  say_again_.reset();
  alone_ = false;
  asked_.clear();
  tick_ = now_;
  CheckParts();
}

void Seal::Impl::Resolve() {
  const auto found = vectors_.find(*decided_value_);
  if (found == vectors_.end()) return;
  for (std::size_t i = 0; i < found->second.size(); ++i) {
    const SealEntry& entry = found->second[i];
    if (entry.state == State::kPresent && !messages_->Holds(i, entry.digest)) return;
  }
  decision = found->second;
}

SealVector Seal::Impl::HeldNow() const {
  SealVector held;
  held.reserve(options_.entries);
  for (std::size_t i = 0; i < options_.entries; ++i) held.push_back(messages_->EntryNow(i));
  return held;
}

// --- answers to requests of others ---------------------------------------------------------------

std::set<Digest> Seal::Impl::RelevantVectors() const {
  std::set<Digest> relevant;
  for (const auto& [sender, echo] : echoes_) relevant.insert(echo.body.vector);
  for (const auto& [k, round] : rounds_) {
    for (const ProposeSeen& seen : round.proposals) relevant.insert(seen.body.value);
  }
  if (echo_time_) relevant.insert(own_value_);
  if (lock_.rank > 0) relevant.insert(lock_.value);
  if (decided_value_) relevant.insert(*decided_value_);
  return relevant;
}

std::optional<wire::Vector> Seal::Impl::VectorFor(const Digest& value) const {
  const auto found = vectors_.find(value);
  if (found == vectors_.end()) return std::nullopt;
  return WireOf(found->second);
}

std::vector<SealFrame> Seal::Impl::Frames(MessageType type) const {
  std::vector<SealFrame> frames;
  if (type == MessageType::kEcho || type == MessageType::kVote) {
    for (const auto& [iteration, ballots] : ballots_) {
      if ((iteration == 0) != (type == MessageType::kEcho)) continue;
      for (const auto& [value, signers] : ballots.by_value()) Append(signers, frames);
    }
  } else if (type == MessageType::kLock) {
    for (const auto& [group, signers] : locks_.groups()) Append(signers, frames);
  } else if (type == MessageType::kClose) {
    Append(gate_.closers(), frames);
  } else {
    for (const auto& [iteration, round] : rounds_) {
      if (type == MessageType::kPropose) {
        for (const ProposeSeen& seen : round.proposals) {
          frames.push_back({LeaderOf(iteration), seen.frame});
        }
      }
      if (type != MessageType::kStatus) continue;
      for (const auto& [sender, statuses] : round.statuses.all()) {
        for (const StatusSeen& seen : statuses) frames.push_back({sender, seen.frame});
      }
    }
  }
  return frames;
}

// --- the facade ----------------------------------------------------------------------------------

Seal::Seal(SealOptions options, const SealMessages* messages)
    : impl_(std::make_unique<Impl>(std::move(options), messages)) {}
Seal::~Seal() = default;

void Seal::Opened(base::Time now, SealOutput& out) { impl_->Opened(now, out); }
void Seal::Echo(base::Time now, SealOutput& out) { impl_->Echo(now, out); }
bool Seal::echoed() const { return impl_->echoed(); }
bool Seal::gate_passed() const { return impl_->gate_passed(); }
void Seal::OnMessage(base::Time now, const wire::SignedEnvelope& message, SealOutput& out) {
  impl_->OnMessage(now, message, out);
}
void Seal::OnVector(base::Time now, const wire::Vector& vector, SealOutput& out) {
  impl_->OnVector(now, vector, out);
}
void Seal::OnHeld(base::Time now, SealOutput& out) { impl_->OnHeld(now, out); }
void Seal::OnTimer(base::Time now, SealOutput& out) { impl_->OnTimer(now, out); }
std::optional<base::Time> Seal::wake() const { return impl_->wake(); }
const std::optional<SealVector>& Seal::decision() const { return impl_->decision; }
std::vector<base::SharedBytes> Seal::Certificate() const { return impl_->certificate; }
const std::set<PeerId>& Seal::silent() const { return impl_->silent; }
const std::map<PeerId, base::Duration>& Seal::lags() const { return impl_->lags; }
bool Seal::alone() const { return impl_->alone(); }
bool Seal::slow() const { return impl_->slow; }
std::uint32_t Seal::iteration() const { return impl_->iteration(); }
std::string Seal::Describe(base::Time now) const { return impl_->Describe(now); }
std::optional<wire::Vector> Seal::VectorFor(const Digest& value) const {
  return impl_->VectorFor(value);
}
std::vector<SealFrame> Seal::Frames(wire::MessageType type) const { return impl_->Frames(type); }

}  // namespace ostraka::protocol
