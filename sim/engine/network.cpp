#include "sim/engine/network.h"

#include <algorithm>

#include "node/base/check.h"
#include "node/base/planted.h"

namespace ostraka::sim {
namespace {

// Whole seconds and the remainder apart, so that a gigabyte on a slow link cannot overflow.
base::Duration TransferTime(std::uint64_t bytes, std::uint64_t bytes_per_second) {
  const auto whole = static_cast<std::int64_t>(bytes / bytes_per_second);
  const std::uint64_t rest = bytes % bytes_per_second;
  const auto ns = static_cast<std::int64_t>(static_cast<double>(rest) /
                                            static_cast<double>(bytes_per_second) * 1e9);
  return base::Seconds(whole) + base::Nanoseconds(ns);
}

}  // namespace

Network::Network(NetworkOptions options, std::uint32_t peers, const base::Rng& rng)
    : options_(options), peers_(peers), connect_rng_(rng.Fork("connect")) {
  OSTRAKA_CHECK(peers > 0 && options.bytes_per_second > 0);
  links_.reserve(std::size_t{peers} * peers);
  uplinks_.resize(peers);
  for (std::uint64_t i = 0; i < std::uint64_t{peers} * peers; ++i) {
    Link link(rng.Fork("link", i));
    link.distance = options_.distance.Draw(link.rng);
    links_.push_back(link);
  }
}

void Network::SetUp(std::uint32_t a, std::uint32_t b, bool up) {
  OSTRAKA_CHECK(a != b && a < peers_ && b < peers_);
  for (Link* link : {&At(a, b), &At(b, a)}) {
    if (link->up && !up) ++link->epoch;
    if (!up) {
      link->control_sent = {};  // what waits is lost
      link->carried_sent.clear();
    }
    link->up = up;
  }
}

void Network::Narrow(std::uint32_t to) {
  for (std::uint32_t from = 0; from < peers_; ++from) {
    At(from, to).narrow = options_.line_bytes_per_second > 0;
  }
}

void Network::Hold(base::Time begin, base::Time end, std::uint32_t from, std::uint32_t to) {
  At(from, to).holds.emplace_back(begin, end);
}

// Bytes that wait on a lane whose last byte leaves at `sent`.
std::uint64_t Network::Waiting(base::Time sent, base::Time now, std::uint64_t share) const {
  if (sent <= now) return 0;
  const double seconds = static_cast<double>((sent - now).ns) * 1e-9;
  return static_cast<std::uint64_t>(seconds *
                                    static_cast<double>(options_.line_bytes_per_second / share));
}

bool Network::Overflows(std::uint32_t from, std::uint32_t to, base::Time now,
                        const Message& message) const {
  const Link& link = At(from, to);
  if (!link.up || !link.narrow) return false;
  if (message.blob_bytes || message.carried_for) return false;
  return Waiting(link.control_sent, now, 1) + message.frame_bytes > options_.control_queue_bytes;
}

// How long a message takes to leave its lane; nullopt if it is dropped. Each peer's lane has an
// even share of the line and of the queue, which is the least that it has in a node.
std::optional<base::Duration> Network::CarriedWait(Link& link, base::Time now,
                                                   const Message& message) {
  base::Time& sent = link.carried_sent[*message.carried_for];
  const std::uint64_t waiting = Waiting(sent, now, peers_) + message.frame_bytes;
  if (waiting > options_.carried_queue_bytes) {
    ++carried_dropped_;
    return std::nullopt;
  }
  sent = std::max(sent, now) +
         TransferTime(message.frame_bytes, options_.line_bytes_per_second / peers_);
  return sent - now;
}

// Control overdraws the rate, and later bulk waits longer, as with the pacer. While guests wait
// members have seven turns in eight; guests have the eighth, and all once members have what waits
// now.
base::Time Network::Leaves(std::uint32_t from, const Link& link, base::Time now,
                           const Message& message) {
  const std::uint64_t rate = options_.uplink_bytes_per_second;
  if (rate == 0) return now;
  const std::uint64_t bytes = message.frame_bytes + message.blob_bytes.value_or(0);
  const std::uint64_t eighth = std::max<std::uint64_t>(1, rate / 8);
  Uplink& uplink = uplinks_[from];
  const bool guest = link.guest && !base::Planted(base::Bug::kGuestsAsMembers);
  base::Time& lane = guest ? uplink.guests : uplink.members;
  if (guest) {
    lane = std::max(lane, now);
    const double busy = std::max(0.0, (uplink.members - lane).seconds());
    const auto beside = static_cast<std::uint64_t>(busy * static_cast<double>(eighth));
    if (bytes <= beside) {
      lane = lane + TransferTime(bytes, eighth);
    } else {
      lane = std::max(lane, uplink.members) + TransferTime(bytes - beside, rate);
    }
  } else {
    const std::uint64_t share =
        uplink.guests > now ? std::max<std::uint64_t>(1, rate - eighth) : rate;
    lane = std::max(lane, now) + TransferTime(bytes, share);
  }
  return message.blob_bytes ? lane : now;
}

std::optional<base::Time> Network::Arrival(std::uint32_t from, std::uint32_t to, base::Time now,
                                           const Message& message) {
  OSTRAKA_CHECK(from != to);
  Link& link = At(from, to);
  if (!link.up) return std::nullopt;
  base::Duration wait;
  if (link.narrow && !message.blob_bytes) {
    if (message.carried_for) {
      const auto carried = CarriedWait(link, now, message);
      if (!carried) return std::nullopt;
      wait = *carried;
    } else {
      link.control_sent = std::max(link.control_sent, now) +
                          TransferTime(message.frame_bytes, options_.line_bytes_per_second);
      wait = link.control_sent - now;
    }
  }
  base::Duration delay = link.distance + Latency{{}, options_.jitter}.Draw(link.rng);
  if (options_.loss_permille > 0 && link.rng.Below(1000) < options_.loss_permille) {
    delay = delay + options_.retransmit;
    ++lost_;
  }
  for (const auto& [begin, end] : link.holds) {
    if (begin <= now && now < end) now = end;
  }
  if (message.carried_for && link.narrow) return now + wait + delay;
  const base::Time left = Leaves(from, link, now, message);
  if (!message.blob_bytes) {
    link.last_control = std::max(link.last_control, now + wait + delay);
    return link.last_control;
  }
  link.bulk_sent =
      std::max(link.bulk_sent, now) + TransferTime(*message.blob_bytes, options_.bytes_per_second);
  link.bulk_sent = std::max(link.bulk_sent, left);
  link.last_bulk = std::max(link.last_bulk, link.bulk_sent + delay);
  return link.last_bulk;
}

}  // namespace ostraka::sim
