// The virtual-time driver around N machines: the simulator's side of the machine interface
// (node/protocol/ground/machine.h; the real node's side is node/host).
//
// Promise: a run is a function of the options and the machines alone. There is one queue of events
// ordered by (time, order of scheduling) and one tree of seeded generators (base/rng.h): "network"
// for each link, "disk" and "jobs" for each peer, "start" for start times and private seeds; so a
// draw in one never changes the draws of another. The simulator reads no clock and does not sleep.
//
// What it models: links that come up after a connect delay, deliver in order per lane and can be
// cut and healed (sim/engine/network.h); disks that store one batch at a time, each after a drawn
// fsync; jobs that take a drawn time, gradients one after another on a peer's compute lane; timers.
//
// Every step goes through the contract of node/machine/contract.h. A breach, of the simulator or of
// a machine, ends the program: both are our own.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "node/base/rng.h"
#include "node/machine/contract.h"
#include "node/protocol/ground/machine.h"
#include "sim/engine/compute_lane.h"
#include "sim/engine/disk.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/job_memo.h"
#include "sim/engine/job_times.h"
#include "sim/engine/network.h"
#include "sim/engine/trace.h"

namespace ostraka::sim {

// Job ids from here up are for an adversary's extra work and do not queue on the compute lane,
// since an adversary may own more hardware. No honest machine uses them.
inline constexpr protocol::JobId kFirstReservedJob = protocol::JobId{1} << 62;

struct SimulatorOptions {
  std::uint64_t seed = 0;
  NetworkOptions network;
  Latency fsync{base::Microseconds(500), base::Milliseconds(4)};
  Latency start{base::Duration{}, base::Milliseconds(100)};  // of each process
  JobTimes jobs;
  std::vector<JobTimes> machines;        // by member; empty: `jobs` are those of all
  std::uint32_t duplicate_permille = 0;  // messages per 1000 that arrive twice
  std::uint32_t stall_permille = 0;      // stores per 1000 that take kStallFactor times as long
  base::Duration skew;                   // each clock is ahead by up to this
  std::uint32_t drift_ppm = 0;           // and gains or loses up to this
  // The number of steps of a peer from one call of its CheckInvariants and Fingerprint to the next.
  std::uint32_t inspect_every = 256;
};

// The faults that really occurred in a run.
struct FaultCounts {
  std::uint64_t kills = 0;
  std::uint64_t starts_again = 0;
  std::uint64_t disks_lost = 0;
  std::uint64_t link_cuts = 0;
  std::uint64_t links_full = 0;  // closed, as more waited than a node queues
  std::uint64_t carried_dropped = 0;
  std::uint64_t messages_lost = 0;
  std::uint64_t messages_twice = 0;
  std::uint64_t store_stalls = 0;
};

class Simulator {
 public:
  struct Member {
    base::PeerId id;
    std::unique_ptr<protocol::Machine> machine;
    // Makes a new machine for a restart; may be empty if the peer never restarts.
    std::function<std::unique_ptr<protocol::Machine>()> remake = {};
    machine::AfterEnd after_end = machine::AfterEnd::kSilent;  // kFree: for an adversary
    bool only_dials = false;  // no link with another such member ever comes up
    // It has no machine and no link until ScheduleRestart starts it for the first time.
    bool absent = false;
    bool guest = false;  // no member of the genesis
  };
  struct Limits {
    base::Time until;  // virtual time
    std::uint64_t events = UINT64_MAX;
    std::function<bool()> finished = {};  // called after every step; may be empty
  };
  enum class Ended { kFinished, kIdle, kOutOfTime, kOutOfEvents };

  // Schedules Started for every machine; then the links between all machines come up.
  // REQUIRES: members have distinct ids, and machines unless they are absent; `jobs` outlives the
  // simulator.
  Simulator(const SimulatorOptions& options, std::vector<Member> members, JobMemo* jobs);
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // The observer is called after the trace has recorded the step. REQUIRES: outlives the simulator.
  void AddObserver(StepObserver* observer) { observers_.push_back(observer); }

  // Cuts (up = false) or heals both directions between two peers at `at`; both get LinkChanged. A
  // peer that starts while the link is cut starts without it. REQUIRES: `at` is not in the past.
  void ScheduleLink(base::Time at, std::uint32_t a, std::uint32_t b, bool up);

  // Kills the process of `peer` at `at`. State that is not durable is lost and its links go down.
  // REQUIRES: `at` is not in the past.
  void ScheduleCrash(base::Time at, std::uint32_t peer);
  // Restarts `peer` from its disk, or with `lose_disk` from an empty one. No effect if the peer is
  // running at `at`. REQUIRES: `at` is not in the past; the member has `remake`.
  void ScheduleRestart(base::Time at, std::uint32_t peer, bool lose_disk = false);
  // The owner of `peer` tells it something now. No effect if its process is down.
  void Tell(std::uint32_t peer, protocol::Told told);
  // Holds messages that `from` sends to `to` within [begin, end) until `end`: a network that is
  // slow in one direction.
  void ScheduleHold(base::Time begin, base::Time end, std::uint32_t from, std::uint32_t to) {
    network_.Hold(begin, end, from, to);
  }

  // May be called again to continue.
  Ended Run(const Limits& limits);

  base::Time now() const { return now_; }
  std::uint64_t events() const { return events_; }          // inputs delivered so far
  std::uint64_t bytes_sent() const { return bytes_sent_; }  // frames and blobs put on links
  base::Digest trace_digest() const { return trace_.digest(); }
  FaultCounts faults() const;
  std::uint32_t peer_count() const { return static_cast<std::uint32_t>(peers_.size()); }
  const base::PeerId& id(std::uint32_t peer) const { return peers_[peer].id; }
  std::optional<std::uint32_t> IndexOf(const base::PeerId& id) const;

 private:
  struct Peer {
    base::PeerId id;
    std::unique_ptr<protocol::Machine> machine;
    machine::Contract<protocol::MemberKind> contract;  // of this life
    std::function<std::unique_ptr<protocol::Machine>()> remake;
    base::Digest private_seed;
    std::uint32_t life = 0;
    bool up = true;
    Disk disk;
    std::map<protocol::StoreId, protocol::Store> unsynced;  // not durable yet
    base::Rng disk_rng;
    base::Rng job_rng;
    base::Rng fault_rng;
    base::Duration ahead;                               // of its clock, constant
    std::int64_t drift_ppm = 0;                         // of its clock, microseconds per second
    std::map<protocol::TimerId, std::uint64_t> timers;  // id -> its current generation
    std::uint64_t next_timer_generation = 0;
    base::Time disk_free;  // when the last Store is durable
    ComputeLane lane;
    std::uint64_t steps = 0;
  };

  void StartAll();
  // Both ends of the link get LinkChanged at `at`.
  const JobTimes& TimesOf(std::uint32_t peer) const;
  // The end of what the compute lane runs becomes an event.
  void PushLaneEnd(std::uint32_t index);
  bool TakeLaneEnd(Event& event);
  void PushLink(base::Time at, std::uint32_t a, std::uint32_t b, bool up);
  void CutOrHeal(std::uint32_t a, std::uint32_t b, bool cut);
  void CloseFull(std::uint32_t a, std::uint32_t b);
  void Crash(std::uint32_t index);
  void Restart(std::uint32_t index, bool lose_disk);
  // Returns false if no machine gets the event: a cancelled timer, a message on a link that went
  // down, a crash.
  bool Prepare(Event& event);
  bool PrepareInput(Event& event);
  void Deliver(std::uint64_t sequence, Event& event);
  void Step(Peer& peer, const protocol::Input& input);
  void Inspect(std::uint32_t index);
  void SetClock(Peer& peer);
  // The reading of the peer's clock at `at`, and the time at which it reads `local`.
  static base::Time ClockOf(const Peer& peer, base::Time at);
  static base::Time WhenShows(const Peer& peer, base::Time local);

  void Perform(std::uint32_t from, protocol::Send& send);
  void Perform(std::uint32_t from, protocol::SetTimer& timer);
  void Perform(std::uint32_t from, protocol::CancelTimer& timer);
  void Perform(std::uint32_t from, protocol::StartJob& job);
  void Perform(std::uint32_t from, const protocol::StopJob& job);
  void Perform(std::uint32_t from, protocol::Store& store);
  void Perform(std::uint32_t from, protocol::Observe& observe);  // observers have seen it

  SimulatorOptions options_;
  base::Rng rng_;
  std::vector<Peer> peers_;
  std::vector<std::pair<base::PeerId, std::uint32_t>> by_id_;  // sorted
  Network network_;
  EventQueue queue_;
  JobMemo* jobs_;
  Trace trace_;
  std::vector<StepObserver*> observers_;
  protocol::Outbox outbox_;  // reused from step to step
  base::Time now_;
  std::uint64_t events_ = 0;
  std::uint64_t bytes_sent_ = 0;
  FaultCounts faults_;
};

}  // namespace ostraka::sim
