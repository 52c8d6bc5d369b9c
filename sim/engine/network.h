// Arrival times of messages: one link for each ordered pair of peers, each with its own delay.
//
// A link has two lanes. Control messages keep their order. Messages with bulk data keep theirs and
// are sent one after another at the link's bandwidth. A control message may overtake a bulk
// message. This is exactly what the machines' contract allows (node/machine/links.h).
// A third lane has what a peer passes on for others (machine::Send::carried_for).
// An uplink is shared by all links of a peer: what goes to members has it before what goes to
// guests, which have an eighth of it meanwhile (node/net/link/pacer.h).
// On a slow line control takes time, and what waits is bounded as in node/net: beyond
// the bound a message that is carried is dropped, and of any other one the link goes down.
// Every link draws from its own generator, so traffic on one link never changes the draws of
// another.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "node/base/rng.h"
#include "node/base/time.h"
#include "sim/engine/latency.h"

namespace ostraka::sim {

struct NetworkOptions {
  // A link's base delay is drawn once from `distance`; each message adds a draw of [0, jitter].
  Latency distance{base::Milliseconds(5), base::Milliseconds(45)};
  base::Duration jitter = base::Milliseconds(5);
  std::uint64_t bytes_per_second = 12'500'000;  // of each link; limits bulk data only
  // Of all links out of a peer together, for all messages, of which those with bulk data wait; 0:
  // no limit.
  std::uint64_t uplink_bytes_per_second = 0;
  // Of each link to a peer with a slow line (Narrow), for messages without bulk data; 0: these take
  // no time. Each peer that others carry for has an even share of it beside
  // (node/net/records/carried_lane.h).
  std::uint64_t line_bytes_per_second = 0;
  std::uint64_t control_queue_bytes = 1 << 20;
  std::uint64_t carried_queue_bytes = 256 << 10;
  // Lost messages per 1000. A lost message arrives `retransmit` later, and later messages in its
  // lane wait for it, as in a stream.
  std::uint32_t loss_permille = 0;
  base::Duration retransmit = base::Milliseconds(20);
  // From the later start of two peers until the link between them is up.
  Latency connect{base::Milliseconds(10), base::Milliseconds(190)};
};

class Network {
 public:
  // All links are down. REQUIRES: peers > 0, bytes_per_second > 0.
  Network(NetworkOptions options, std::uint32_t peers, const base::Rng& rng);

  // Both directions between `a` and `b`. Messages in flight when a link goes down are lost; the
  // caller finds them by Epoch(). Idempotent.
  void SetUp(std::uint32_t a, std::uint32_t b, bool up);
  bool IsUp(std::uint32_t from, std::uint32_t to) const { return At(from, to).up; }
  // A cut link cannot be connected again before it is healed. Idempotent.
  void SetCut(std::uint32_t a, std::uint32_t b, bool cut) { At(a, b).cut = At(b, a).cut = cut; }
  // No link between the two is ever up: neither can be dialed from the other. Idempotent.
  void Bar(std::uint32_t a, std::uint32_t b) { At(a, b).barred = At(b, a).barred = true; }
  bool IsBarred(std::uint32_t a, std::uint32_t b) const { return At(a, b).barred; }
  bool IsCut(std::uint32_t a, std::uint32_t b) const { return At(a, b).cut; }
  // `to` has a slow line.
  void Narrow(std::uint32_t to);
  // What `from` sends to `to` is that of a member to a key that is none. False at first.
  void SetGuest(std::uint32_t from, std::uint32_t to, bool guest) { At(from, to).guest = guest; }
  // Changes whenever the link goes down. A message sent in an earlier epoch must not arrive.
  std::uint64_t Epoch(std::uint32_t from, std::uint32_t to) const { return At(from, to).epoch; }

  // Messages that `from` sends to `to` within [begin, end) arrive after `end`, in order: a network
  // that is slow or cut in one direction for a while.
  void Hold(base::Time begin, base::Time end, std::uint32_t from, std::uint32_t to);

  struct Message {
    std::uint64_t frame_bytes = 0;
    std::optional<std::uint64_t> blob_bytes = std::nullopt;   // nullopt: a control message
    std::optional<std::uint32_t> carried_for = std::nullopt;  // a peer; then without bulk data
  };
  // Returns when a message sent at `now` arrives, or nullopt if it is dropped because the link is
  // down, or too much waits that is carried.
  // REQUIRES: `now` never decreases; from != to; !Overflows.
  std::optional<base::Time> Arrival(std::uint32_t from, std::uint32_t to, base::Time now,
                                    const Message& message);
  // More waits on the link, with this message, than a node queues: the node closes the link.
  bool Overflows(std::uint32_t from, std::uint32_t to, base::Time now,
                 const Message& message) const;

  std::uint64_t lost() const { return lost_; }
  std::uint64_t carried_dropped() const { return carried_dropped_; }
  base::Duration DrawConnectDelay() { return options_.connect.Draw(connect_rng_); }

 private:
  struct Link {
    explicit Link(base::Rng own_rng) : rng(own_rng) {}
    base::Rng rng;
    base::Duration distance;
    base::Time last_control;  // arrival of the last message in each lane
    base::Time last_bulk;
    std::vector<std::pair<base::Time, base::Time>> holds;
    base::Time bulk_sent;  // when the sender has put its last bulk byte on the wire
    base::Time control_sent;
    std::map<std::uint32_t, base::Time> carried_sent;  // by the peer that is carried for
    std::uint64_t epoch = 0;
    bool up = false;
    bool cut = false;
    bool barred = false;
    bool narrow = false;
    bool guest = false;
  };
  // When the last byte is on the wire of an uplink, by who it goes to.
  struct Uplink {
    base::Time members;
    base::Time guests;
  };
  // When the message has left the uplink of `from`; `now` for one that does not wait.
  base::Time Leaves(std::uint32_t from, const Link& link, base::Time now, const Message& message);
  std::optional<base::Duration> CarriedWait(Link& link, base::Time now, const Message& message);
  std::uint64_t Waiting(base::Time sent, base::Time now, std::uint64_t share) const;
  const Link& At(std::uint32_t from, std::uint32_t to) const { return links_[from * peers_ + to]; }
  Link& At(std::uint32_t from, std::uint32_t to) { return links_[from * peers_ + to]; }

  NetworkOptions options_;
  std::uint32_t peers_;
  std::vector<Link> links_;  // peers x peers, row = sender
  std::vector<Uplink> uplinks_;
  base::Rng connect_rng_;
  std::uint64_t lost_ = 0;
  std::uint64_t carried_dropped_ = 0;
};

}  // namespace ostraka::sim
