#include "sim/engine/simulator.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "node/base/check.h"

namespace ostraka::sim {
namespace {

constexpr std::int64_t kStallFactor = 5;

base::Digest DrawDigest(base::Rng rng) {
  base::Digest digest;
  for (std::size_t i = 0; i < digest.bytes.size(); i += 8) {
    const std::uint64_t word = rng.Next();
    for (std::size_t k = 0; k < 8; ++k) {
      digest.bytes[i + k] = static_cast<std::uint8_t>(word >> (8 * k));
    }
  }
  return digest;
}

}  // namespace

Simulator::Simulator(const SimulatorOptions& options, std::vector<Member> members, JobMemo* jobs)
    : options_(options),
      rng_(base::Rng(options.seed).Fork("simulator")),
      network_(options.network, static_cast<std::uint32_t>(members.size()), rng_.Fork("network")),
      jobs_(jobs) {
  peers_.reserve(members.size());
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    OSTRAKA_CHECK(members[i].absent ? members[i].remake != nullptr : members[i].machine != nullptr);
    by_id_.emplace_back(members[i].id, i);
    peers_.push_back(Peer{.id = members[i].id,
                          .machine = std::move(members[i].machine),
                          .contract = machine::Contract<protocol::MemberKind>(members[i].after_end),
                          .remake = std::move(members[i].remake),
                          .private_seed = {},
                          .life = 0,
                          .up = !members[i].absent,
                          .disk = {},
                          .unsynced = {},
                          .disk_rng = rng_.Fork("disk", i),
                          .job_rng = rng_.Fork("jobs", i),
                          .fault_rng = rng_.Fork("faults", i),
                          .ahead = {},
                          .drift_ppm = 0,
                          .timers = {},
                          .next_timer_generation = 0,
                          .disk_free = {},
                          .lane = {},
                          .steps = 0});
    SetClock(peers_.back());
    for (std::uint32_t other = 0; other < members.size() && members[i].guest; ++other) {
      if (other != i) network_.SetGuest(other, i, true);
    }
    if (!members[i].only_dials) continue;
    network_.Narrow(i);
    for (std::uint32_t other = 0; other < i; ++other) {
      if (members[other].only_dials) network_.Bar(other, i);
    }
  }
  std::sort(by_id_.begin(), by_id_.end());
  for (std::size_t i = 1; i < by_id_.size(); ++i) {
    OSTRAKA_CHECK(by_id_[i - 1].first != by_id_[i].first);
  }
  StartAll();
}

// --- clocks -------------------------------------------------------------------------------------

void Simulator::SetClock(Peer& peer) {
  const auto drift = static_cast<std::int64_t>(options_.drift_ppm);
  peer.ahead = Latency{{}, options_.skew}.Draw(peer.fault_rng);
  peer.drift_ppm = peer.fault_rng.Between(-drift, drift);
}

base::Time Simulator::ClockOf(const Peer& peer, base::Time at) {
  return base::Time{at.ns + peer.ahead.ns + at.ns * peer.drift_ppm / 1'000'000};
}

// Rounded up, so that a timer is never early by the peer's clock. Quotient and remainder apart, so
// that no product overflows.
base::Time Simulator::WhenShows(const Peer& peer, base::Time local) {
  const std::int64_t since = local.ns - peer.ahead.ns;
  if (peer.drift_ppm == 0) return base::Time{since};
  const std::int64_t rate = 1'000'000 + peer.drift_ppm;
  return base::Time{since / rate * 1'000'000 + since % rate * 1'000'000 / rate + 2};
}

void Simulator::StartAll() {
  std::vector<base::Time> started(peers_.size());
  for (std::uint32_t i = 0; i < peers_.size(); ++i) {
    base::Rng rng = rng_.Fork("start", i);
    started[i] = base::Time{} + options_.start.Draw(rng);
    peers_[i].private_seed = DrawDigest(rng.Fork("private seed"));
    if (!peers_[i].up) continue;
    queue_.Push(started[i], {.peer = i,
                             .from = i,
                             .ticket = 0,
                             .input = protocol::Started{peers_[i].private_seed, 0},
                             .job = nullptr});
  }
  for (std::uint32_t a = 0; a < peers_.size(); ++a) {
    for (std::uint32_t b = a + 1; b < peers_.size(); ++b) {
      if (!peers_[a].up || !peers_[b].up) continue;
      PushLink(std::max(started[a], started[b]) + network_.DrawConnectDelay(), a, b, true);
    }
  }
}

void Simulator::PushLink(base::Time at, std::uint32_t a, std::uint32_t b, bool up) {
  if (network_.IsBarred(a, b)) return;
  for (const auto& [self, other] : {std::pair{a, b}, std::pair{b, a}}) {
    queue_.Push(at, {.peer = self,
                     .from = other,
                     .ticket = 0,
                     .input = protocol::LinkChanged{peers_[other].id, up},
                     .job = nullptr});
  }
}

// --- faults -------------------------------------------------------------------------------------

namespace {

Event FateOf(std::uint32_t peer, std::uint32_t from, Event::Fate fate) {
  return {.peer = peer,
          .from = from,
          .ticket = 0,
          .input = protocol::Started{},
          .job = nullptr,
          .life = 0,
          .fate = fate};
}

}  // namespace

void Simulator::ScheduleLink(base::Time at, std::uint32_t a, std::uint32_t b, bool up) {
  OSTRAKA_CHECK(at >= now_ && a != b && a < peers_.size() && b < peers_.size());
  queue_.Push(at, FateOf(a, b, up ? Event::Fate::kHeal : Event::Fate::kCut));
}

void Simulator::ScheduleCrash(base::Time at, std::uint32_t peer) {
  OSTRAKA_CHECK(at >= now_ && peer < peers_.size());
  queue_.Push(at, FateOf(peer, peer, Event::Fate::kCrash));
}

void Simulator::ScheduleRestart(base::Time at, std::uint32_t peer, bool lose_disk) {
  OSTRAKA_CHECK(at >= now_ && peer < peers_.size() && peers_[peer].remake);
  const auto fate = lose_disk ? Event::Fate::kLoseDisk : Event::Fate::kRestart;
  queue_.Push(at, FateOf(peer, peer, fate));
}

void Simulator::Tell(std::uint32_t peer, protocol::Told told) {
  queue_.Push(now_, {.peer = peer,
                     .from = peer,
                     .ticket = 0,
                     .input = std::move(told),
                     .job = nullptr,
                     .life = peers_[peer].life});
}

void Simulator::CutOrHeal(std::uint32_t a, std::uint32_t b, bool cut) {
  network_.SetCut(a, b, cut);
  if (network_.IsUp(a, b) != cut) return;  // no change, or not connected yet
  if (cut) ++faults_.link_cuts;
  // The link goes down now, not when its ends get LinkChanged, so that nothing passes meanwhile.
  if (cut) network_.SetUp(a, b, false);
  PushLink(now_, a, b, !cut);
}

void Simulator::Crash(std::uint32_t index) {
  Peer& peer = peers_[index];
  if (!peer.up) return;
  ++faults_.kills;
  peer.up = false;
  ++peer.life;
  peer.timers.clear();
  peer.unsynced.clear();
  peer.machine.reset();
  for (std::uint32_t other = 0; other < peers_.size(); ++other) {
    if (other == index || !network_.IsUp(index, other)) continue;
    network_.SetUp(index, other, false);
    PushLink(now_, index, other, false);
  }
}

void Simulator::Restart(std::uint32_t index, bool lose_disk) {
  Peer& peer = peers_[index];
  if (peer.up) return;
  peer.up = true;
  peer.machine = peer.remake();
  peer.contract = machine::Contract<protocol::MemberKind>(peer.contract.after_end());
  peer.disk_free = now_;
  peer.lane = {};
  if (peer.life > 0) ++faults_.starts_again;  // else it was absent
  if (lose_disk) {
    ++faults_.disks_lost;
    peer.disk.Erase();
  }
  queue_.Push(now_, {.peer = index,
                     .from = index,
                     .ticket = 0,
                     .input = protocol::Started{peer.private_seed, peer.life, peer.disk.Restored()},
                     .job = nullptr,
                     .life = peer.life});
  for (std::uint32_t other = 0; other < peers_.size(); ++other) {
    if (other == index || !peers_[other].up) continue;
    PushLink(now_ + network_.DrawConnectDelay(), index, other, true);
  }
}

std::optional<std::uint32_t> Simulator::IndexOf(const base::PeerId& id) const {
  const auto place = std::lower_bound(
      by_id_.begin(), by_id_.end(), id,
      [](const auto& entry, const base::PeerId& wanted) { return entry.first < wanted; });
  if (place == by_id_.end() || place->first != id) return std::nullopt;
  return place->second;
}

Simulator::Ended Simulator::Run(const Limits& limits) {
  while (!queue_.empty()) {
    if (queue_.next_time() > limits.until) return Ended::kOutOfTime;
    if (events_ >= limits.events) return Ended::kOutOfEvents;
    EventQueue::Due due = queue_.Pop();
    OSTRAKA_CHECK(due.at >= now_);
    now_ = due.at;
    if (!Prepare(due.event)) continue;
    Deliver(due.sequence, due.event);
    if (limits.finished && limits.finished()) return Ended::kFinished;
  }
  return Ended::kIdle;
}

bool Simulator::Prepare(Event& event) {
  switch (event.fate) {
    case Event::Fate::kInput:
      return PrepareInput(event);
    case Event::Fate::kCrash:
      Crash(event.peer);
      return false;
    case Event::Fate::kLoseDisk:
    case Event::Fate::kRestart:
      Restart(event.peer, event.fate == Event::Fate::kLoseDisk);
      return false;
    case Event::Fate::kCut:
    case Event::Fate::kHeal:
      CutOrHeal(event.peer, event.from, event.fate == Event::Fate::kCut);
      return false;
  }
  return false;
}

bool Simulator::PrepareInput(Event& event) {
  Peer& peer = peers_[event.peer];
  if (const auto* link = std::get_if<protocol::LinkChanged>(&event.input)) {
    // A link needs both its ends, and the network between them.
    const bool possible =
        peer.up && peers_[event.from].up && !network_.IsCut(event.peer, event.from);
    if (link->up && !possible) return false;
    network_.SetUp(event.peer, event.from, link->up);
    return peer.up;
  }
  if (!peer.up) return false;
  if (const auto* timer = std::get_if<protocol::TimerFired>(&event.input)) {
    const auto current = peer.timers.find(timer->id);
    if (current == peer.timers.end() || current->second != event.ticket) return false;
    peer.timers.erase(current);
  } else if (auto* job = std::get_if<protocol::JobDone>(&event.input)) {
    if (event.life != peer.life) return false;
    if (event.job != nullptr) job->result = jobs_->Run(event.job);
    if (job->result == nullptr) return TakeLaneEnd(event);
  } else if (const auto* stored = std::get_if<protocol::Stored>(&event.input)) {
    if (event.life != peer.life) return false;
    auto store = peer.unsynced.extract(stored->id);
    OSTRAKA_CHECK(!store.empty());
    peer.disk.Apply(store.mapped());
  } else if (std::holds_alternative<protocol::MessageReceived>(event.input)) {
    return event.ticket == network_.Epoch(event.from, event.peer);
  } else if (std::holds_alternative<protocol::Told>(event.input)) {
    return event.life == peer.life;
  }
  return true;
}

void Simulator::Deliver(std::uint64_t sequence, Event& event) {
  ++events_;
  outbox_.actions().clear();
  Step(peers_[event.peer], event.input);
  const StepRecord record{now_, sequence, event.peer, event.input, outbox_.actions()};
  trace_.OnStep(record);
  for (StepObserver* observer : observers_) observer->OnStep(record);
  Inspect(event.peer);
  for (protocol::Action& action : outbox_.actions()) {
    std::visit([&](auto& what) { Perform(event.peer, what); }, action);
  }
}

void Simulator::Step(Peer& peer, const protocol::Input& input) {
  const machine::Breach breach =
      peer.contract.Step(*peer.machine, ClockOf(peer, now_), input, outbox_);
  if (breach != machine::Breach::kNone) {
    base::CheckFailed(machine::BreachName(breach), __FILE__, __LINE__);
  }
}

void Simulator::Inspect(std::uint32_t index) {
  Peer& peer = peers_[index];
  if (++peer.steps % options_.inspect_every != 0) return;
  peer.machine->CheckInvariants();
  peer.contract.CheckInvariants();
  trace_.OnFingerprint(index, peer.machine->Fingerprint());
}

// The node closes a link whose queue is full, and dials again.
void Simulator::CloseFull(std::uint32_t a, std::uint32_t b) {
  ++faults_.links_full;
  network_.SetUp(a, b, false);
  PushLink(now_, a, b, false);
  PushLink(now_ + network_.DrawConnectDelay(), a, b, true);
}

void Simulator::Perform(std::uint32_t from, protocol::Send& send) {
  const std::optional<std::uint32_t> to = IndexOf(send.to);
  if (!to || *to == from) return;  // no such peer: dropped, as on a real network
  send.blob = crypto::InMemory(std::move(send.blob));
  const std::uint64_t blob_bytes = send.blob ? send.blob->data.size() : 0;
  Network::Message message{send.frame->size(), std::nullopt, std::nullopt};
  if (send.blob) message.blob_bytes = blob_bytes;
  if (send.carried_for) message.carried_for = IndexOf(*send.carried_for);
  if (network_.Overflows(from, *to, now_, message)) return CloseFull(from, *to);
  const std::optional<base::Time> arrival = network_.Arrival(from, *to, now_, message);
  if (!arrival) return;
  bytes_sent_ += send.frame->size() + blob_bytes;
  // A duplicate arrives at the time of the original, so that links keep their order.
  base::Rng& rng = peers_[from].fault_rng;
  const bool twice =
      options_.duplicate_permille > 0 && rng.Below(1000) < options_.duplicate_permille;
  if (twice) {
    ++faults_.messages_twice;
    queue_.Push(*arrival,
                {.peer = *to,
                 .from = from,
                 .ticket = network_.Epoch(from, *to),
                 .input = protocol::MessageReceived{peers_[from].id, send.frame, send.blob},
                 .job = nullptr});
  }
  queue_.Push(*arrival, {.peer = *to,
                         .from = from,
                         .ticket = network_.Epoch(from, *to),
                         .input = protocol::MessageReceived{peers_[from].id, std::move(send.frame),
                                                            std::move(send.blob)},
                         .job = nullptr});
}

FaultCounts Simulator::faults() const {
  FaultCounts counts = faults_;
  counts.messages_lost = network_.lost();
  counts.carried_dropped = network_.carried_dropped();
  return counts;
}

// As the node's driver: what goes to the members of the newest block goes first.
void Simulator::Perform(std::uint32_t from, protocol::Observe& observe) {
  const auto* done = std::get_if<protocol::StepDone>(&observe.what);
  if (done == nullptr || options_.network.uplink_bytes_per_second == 0) return;
  const std::vector<base::PeerId>& members = done->block->members;
  for (std::uint32_t to = 0; to < peers_.size(); ++to) {
    if (to == from) continue;
    network_.SetGuest(from, to, !std::binary_search(members.begin(), members.end(), peers_[to].id));
  }
}

void Simulator::Perform(std::uint32_t from, protocol::SetTimer& timer) {
  Peer& peer = peers_[from];
  const std::uint64_t generation = peer.next_timer_generation++;
  peer.timers[timer.id] = generation;
  queue_.Push(std::max(WhenShows(peer, timer.at), now_), {.peer = from,
                                                          .from = from,
                                                          .ticket = generation,
                                                          .input = protocol::TimerFired{timer.id},
                                                          .job = nullptr});
}

void Simulator::Perform(std::uint32_t from, protocol::CancelTimer& timer) {
  peers_[from].timers.erase(timer.id);
}

const JobTimes& Simulator::TimesOf(std::uint32_t peer) const {
  return peer < options_.machines.size() ? options_.machines[peer] : options_.jobs;
}

// A recomputation that finds a difference takes a second pass. Its result is a function of the
// spec, so it is computed when the time is needed.
void Simulator::Perform(std::uint32_t from, protocol::StartJob& job) {
  Peer& peer = peers_[from];
  const JobTimes& times = TimesOf(from);
  base::Duration takes = DrawJobTime(times, *job.spec, peer.job_rng);
  const std::int64_t pieces = times.micro_batches * BatchesOf(*job.spec);
  const base::Duration micro_batch{std::max<std::int64_t>(takes.ns / pieces, 1)};
  const auto* recompute = std::get_if<protocol::RecomputeSpec>(job.spec.get());
  if (recompute != nullptr && recompute->committed) {
    const auto result = jobs_->Run(job.spec);
    const auto* found = std::get_if<protocol::RecomputeResult>(result.get());
    const bool again = found != nullptr && found->convict;
    if (again) takes = base::Duration{takes.ns / 100 * (100 + times.again_percent)};
  }
  if (!protocol::NeedsGradient(*job.spec) || job.id >= kFirstReservedJob) {
    queue_.Push(now_ + takes, {.peer = from,
                               .from = from,
                               .ticket = 0,
                               .input = protocol::JobDone{job.id, nullptr},
                               .job = std::move(job.spec),
                               .life = peer.life});
    return;
  }
  if (peer.lane.Start({job.id, std::move(job.spec), takes, micro_batch}, now_)) PushLaneEnd(from);
}

void Simulator::Perform(std::uint32_t from, const protocol::StopJob& job) {
  Peer& peer = peers_[from];
  const std::uint64_t before = peer.lane.ticket();
  const auto left = peer.lane.Stop(job.id, now_);
  if (!left) return;  // it is done, or on another thread, and comes back by itself
  if (peer.lane.runs() && peer.lane.ticket() != before) PushLaneEnd(from);
  queue_.Push(*left,
              {.peer = from,
               .from = from,
               .ticket = 0,
               .input = protocol::JobDone{job.id, std::make_shared<protocol::JobResult>(
                                                      protocol::JobFailed{"it was stopped"})},
               .job = nullptr,
               .life = peer.life});
}

// False if what ran then has given way.
bool Simulator::TakeLaneEnd(Event& event) {
  ComputeLane& lane = peers_[event.peer].lane;
  if (!lane.runs() || lane.ticket() != event.ticket) return false;
  const ComputeLane::Job done = lane.TakeDone(now_);
  event.input = protocol::JobDone{done.id, jobs_->Run(done.spec)};
  if (lane.runs()) PushLaneEnd(event.peer);
  return true;
}

void Simulator::PushLaneEnd(std::uint32_t index) {
  const ComputeLane& lane = peers_[index].lane;
  queue_.Push(lane.End(), {.peer = index,
                           .from = index,
                           .ticket = lane.ticket(),
                           .input = protocol::JobDone{0, nullptr},
                           .job = nullptr,
                           .life = peers_[index].life});
}

void Simulator::Perform(std::uint32_t from, protocol::Store& store) {
  Peer& peer = peers_[from];
  base::Duration takes = options_.fsync.Draw(peer.disk_rng);
  if (options_.stall_permille > 0 && peer.fault_rng.Below(1000) < options_.stall_permille) {
    ++faults_.store_stalls;
    takes = takes * kStallFactor;
  }
  peer.disk_free = std::max(now_, peer.disk_free) + takes;
  queue_.Push(peer.disk_free, {.peer = from,
                               .from = from,
                               .ticket = 0,
                               .input = protocol::Stored{store.id},
                               .job = nullptr,
                               .life = peer.life});
  const protocol::StoreId id = store.id;
  peer.unsynced.emplace(id, std::move(store));
}

}  // namespace ostraka::sim
