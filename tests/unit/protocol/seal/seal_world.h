// A small network of Seals in virtual time, with members that lie: for the tests of the seal.
//
// Everything is drawn from one seed. Members sign by name only (a frame exists only if its sender
// made it), messages take a drawn time, and every answer to a Pull is a message too. Byzantine
// members run a Seal of their own to know where the others are, send any message to any member, and
// know every value that any member has formed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "node/base/rng.h"
#include "node/protocol/seal/seal.h"

namespace ostraka::protocol::scene {

using base::Duration;
using base::Time;

// What a Byzantine member does; each a chance in 16 for each message and recipient.
struct Script {
  std::uint64_t silence = 0;    // sends nothing to that member
  std::uint64_t late = 0;       // up to 8 Delta late to that member
  std::uint64_t lie = 0;        // another body for that slot to that member
  std::uint64_t also = 0;       // the other body as well
  std::uint64_t unasked = 0;    // sends in a step although the rules give it nothing to send
  std::uint64_t mute_pull = 0;  // does not answer
  std::uint64_t flood = 0;      // sends whatever may make that member keep more, once an iteration
  bool two_messages = false;    // signs two messages of the phase
  std::uint64_t hide_message = 0;  // shows its message to that member only after the ECHOs
};

struct WorldOptions {
  std::uint32_t n = 4;
  std::uint32_t t_s = 1;
  std::uint32_t t_a = 0;
  std::uint64_t seed = 1;
  Duration delta = base::Seconds(1);
  Duration delay_min = base::Milliseconds(1);
  Duration delay_max = base::Milliseconds(247);  // with the time to store: Delta/4
  Duration entry_skew = base::Seconds(1);        // honest members enter in [0, entry_skew]
  Duration deadline = base::Seconds(4);          // from the entry to the echo, if not complete
  Duration deadline_spread = {};         // each member's deadline is later by a drawn part of this
  Duration publish_spread = {};          // each member publishes by a drawn part of this later
  std::set<std::uint32_t> late_openers;  // enter later than the others by up to `lateness`
  Duration lateness = {};
  std::set<std::uint32_t> byzantine;
  std::set<std::uint32_t> muted_members;
  std::uint32_t observers = 0;  // muted, beside the members
  std::size_t entries_each = 1;
  std::map<std::uint32_t, Script> scripts;
  // Of a run without synchrony: whether a message from a to b sent now is lost, and else how long
  // it takes. Null: timely.
  std::function<std::optional<Duration>(std::uint32_t from, std::uint32_t to, Time now,
                                        base::Rng& rng)>
      network;
};

class World {
 public:
  explicit World(WorldOptions options);
  ~World();

  // Ends when all that are honest and up have decided, or at `until`.
  void Run(Time until);
  void At(Time at, std::function<void()> what);

  // It forgets everything but what it stored and the messages of the phase that it held if
  // `keep_messages`; comes back `down` later.
  void Restart(std::uint32_t node, Duration down, bool keep_messages = true);

  Time now() const { return now_; }
  std::uint32_t nodes() const { return options_.n + options_.observers; }
  bool IsHonest(std::uint32_t node) const { return !options_.byzantine.contains(node); }
  const Seal* SealOf(std::uint32_t node) const;
  const PeerId& IdOf(std::uint32_t node) const;
  std::optional<Time> DecidedAt(std::uint32_t node) const;
  std::optional<Time> EchoedAt(std::uint32_t node) const;
  const SealVector* EchoedVector(std::uint32_t node) const;
  Digest MessageOf(std::uint32_t node, std::size_t entry = 0) const;
  // The last own ECHO of an honest member.
  Time LastHonestEcho() const;
  Time FirstHonestEcho() const;
  // What every honest member decided; fails if two differ (also over time: a decision that a member
  // lost in a restart counts).
  std::optional<Digest> Decision() const { return decision_; }
  const std::string& violation() const { return violation_; }
  std::size_t sent() const { return sent_; }
  std::size_t asked() const { return asked_; }

  // Frames by a member, for tests that write their own script.
  wire::SignedEnvelope Sign(std::uint32_t node, wire::MessageType type, std::uint32_t iteration,
                            base::Bytes body);
  void Deliver(std::uint32_t to, const wire::SignedEnvelope& message);

 private:
  struct Node;
  struct Event {
    Time at;
    std::uint64_t order = 0;
    std::function<void()> what;
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  void Enter(std::uint32_t node);
  void Open(std::uint32_t node);
  void MakeSeal(std::uint32_t node);
  void Handle(std::uint32_t node, SealOutput out);
  void AfterInput(std::uint32_t node, SealOutput out);
  void SetTimer(std::uint32_t node);
  void Say(std::uint32_t node, const SealSay& say);
  void SayFalsely(std::uint32_t node, const SealSay& say);
  void LieThroughIteration(std::uint32_t node, std::uint32_t iteration);
  void Flood(std::uint32_t node, std::uint32_t iteration);
  base::Bytes FalseBody(std::uint32_t node, wire::MessageType type, std::uint32_t iteration);
  base::Bytes FalsePropose(std::uint32_t node, std::uint32_t iteration, const Digest& value);
  Digest AnyValue();
  void Publish(std::uint32_t node);
  void HoldMessage(std::uint32_t node, std::size_t index, const Digest& digest);
  void CompleteMaybe(std::uint32_t node);
  void Answer(std::uint32_t node, std::uint32_t to, const wire::Pull& pull);
  // Runs `what` at `to` when a message sent now arrives there, if it does.
  void Send(std::uint32_t from, std::uint32_t to, std::function<void()> what);
  void Broadcast(std::uint32_t from, const wire::SignedEnvelope& message);
  const wire::SignedEnvelope& MessageIn(const base::SharedBytes& frame) const;
  std::optional<std::uint32_t> NumberOf(const PeerId& id) const;
  Script ScriptOf(std::uint32_t node) const;
  void NoteDecision(std::uint32_t node);

  WorldOptions options_;
  base::Rng rng_;
  Time now_;
  std::uint64_t next_order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<PeerId> members_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<const base::Bytes*, wire::SignedEnvelope> signed_;
  std::vector<Digest> values_;  // that anybody formed
  std::map<Digest, SealVector> vectors_;
  std::optional<Digest> decision_;
  std::string violation_;
  std::size_t sent_ = 0;
  std::size_t asked_ = 0;
};

}  // namespace ostraka::protocol::scene
