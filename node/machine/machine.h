// The seam between a machine and its driver: inputs in, actions out, all plain values.
//
// A machine is a state machine that never blocks, throws, logs, reads a clock, draws the operating
// system's randomness or starts a thread. A driver has the clock, the network, the disk and the
// threads. The simulator and the real node are two drivers of one machine; an adversary is that
// machine with an editor on its inputs and actions. This header knows no protocol, so one driver
// can run machines of several kinds: the protocol of a run (node/protocol/ground/machine.h), and a
// DHT beside it.
//
// A kind is a struct of types that fills the seam:
//
//   struct EchoKind {
//     using Started = EchoStarted;          // the first input: what only the driver knows
//     using Transport = Datagrams<Address>; // or Links; any struct with Inputs and Actions
//     using Jobs = NoJobs;                  // or JobsOf<Spec, Result>
//     using Disk = StoreOf<EchoRecord>;     // or NoStore
//     using Owner = OwnerOf<EchoTold>;      // or NoOwner
//     using Observation = EchoSeen;         // for people and checkers
//     using Progress = EchoProgress;        // for people: what the machine waits for
//     static bool IsLast(const EchoSeen&);  // after it the machine only sends (rule 5)
//   };
//   InputOf<EchoKind>  = Started | DatagramReceived | TimerFired | Stored | EchoTold
//   ActionOf<EchoKind> = SendDatagram | SetTimer | CancelTimer | Store | Observe
//                        (with jobs: StartJob | StopJob before Store)
//
// Common to all kinds: timers, ids, Outbox, Machine and the contract below. A kind's own: the
// messages, the work, the durable facts, and everything that people see.
//
// Contract between a driver and a machine (node/machine/contract.h checks rules 1, 2, 3, 5, 7)
//   1  Step calls are serial, and `now` never goes back. Started is the first input and comes once.
//   2  Each StartJob comes back as one JobDone with its id. The result depends on the spec alone,
//      but after a StopJob of the id it may be any. One of a job that is back says nothing.
//   3  Each Store comes back as one Stored with its id, once the records survive a crash. Stores
//      become durable in the order of the Store actions. So a machine that waits for the Stored of
//      a record knows that everything that it stored before is durable too.
//   4  Sending is best effort; the transport's header says what may get lost.
//   5  After its last observation a machine only sends: what waits for a store that is under way,
//      and answers to inputs of the transport, for peers that missed the end (the kind says when).
//      The driver delivers these inputs for as long as it waits for peers.
//   6  No input of the transport was checked, but for what the transport's header says. Any content
//      must be safe for the machine.
//   7  Each SetTimer comes back as one TimerFired with its id, at `at` or later, unless a
//      CancelTimer or another SetTimer of the id comes first.
//   8  The owner's word comes at any time after Started. A machine learns what its owner wants in
//      no other way, so the inputs alone decide what it does.
//   A restart is a new machine: what was in flight for the old one does not come back, and the
//   driver tells it again what the owner wants.
//
// Promises:
//   O1  An Outbox holds actions in the order in which they were added.
//
// Thread safety: none; one owner.
#pragma once

#include <concepts>
#include <utility>
#include <variant>
#include <vector>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/machine/parts.h"

namespace ostraka::machine {

namespace internal {

template <typename... Lists>
struct Join;
template <typename... A>
struct Join<Types<A...>> {
  using Variant = std::variant<A...>;
};
template <typename... A, typename... B, typename... Rest>
struct Join<Types<A...>, Types<B...>, Rest...> : Join<Types<A..., B...>, Rest...> {};

}  // namespace internal

template <typename K>
concept Kind = requires(const typename K::Observation& seen) {
  typename K::Started;
  typename K::Progress;
  typename K::Transport::Inputs;
  typename K::Transport::Actions;
  typename K::Jobs::Inputs;
  typename K::Jobs::Actions;
  typename K::Disk::Inputs;
  typename K::Disk::Actions;
  typename K::Owner::Inputs;
  { K::IsLast(seen) } -> std::same_as<bool>;
};

template <Kind K>
using InputOf =
    typename internal::Join<Types<typename K::Started>, typename K::Transport::Inputs,
                            Types<TimerFired>, typename K::Jobs::Inputs, typename K::Disk::Inputs,
                            typename K::Owner::Inputs>::Variant;
template <Kind K>
using ActionOf =
    typename internal::Join<typename K::Transport::Actions, Types<SetTimer, CancelTimer>,
                            typename K::Jobs::Actions, typename K::Disk::Actions,
                            Types<Observe<typename K::Observation>>>::Variant;

// The actions of one Step, in order.
template <Kind K>
class Outbox {
 public:
  template <typename T>
  void Add(T action) {
    actions_.emplace_back(std::move(action));
  }
  std::vector<ActionOf<K>>& actions() { return actions_; }
  const std::vector<ActionOf<K>>& actions() const { return actions_; }

 private:
  std::vector<ActionOf<K>> actions_;
};

template <Kind K>
class Machine {
 public:
  virtual ~Machine() = default;
  // Appends its actions to `out`. REQUIRES: `now` never goes back.
  virtual void Step(base::Time now, const InputOf<K>& input, Outbox<K>& out) = 0;
  // Aborts (CHECK) if the machine's state contradicts itself.
  virtual void CheckInvariants() const = 0;
  // A hash over the state that decides future actions, to compare runs.
  virtual base::Digest Fingerprint() const = 0;
  // For people: what the machine waits for now. Callable at any time between two Steps.
  virtual typename K::Progress progress() const { return {}; }
};

}  // namespace ostraka::machine
