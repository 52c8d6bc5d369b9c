#include "sim/engine/network.h"

#include <algorithm>

#include "node/base/check.h"

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
    link->up = up;
  }
}

void Network::Hold(base::Time begin, base::Time end, std::uint32_t from, std::uint32_t to) {
  At(from, to).holds.emplace_back(begin, end);
}

std::optional<base::Time> Network::Arrival(std::uint32_t from, std::uint32_t to, base::Time now,
                                           std::optional<std::uint64_t> blob_bytes) {
  OSTRAKA_CHECK(from != to);
  Link& link = At(from, to);
  if (!link.up) return std::nullopt;
  base::Duration delay = link.distance + Latency{{}, options_.jitter}.Draw(link.rng);
  if (options_.loss_permille > 0 && link.rng.Below(1000) < options_.loss_permille) {
    delay = delay + options_.retransmit;
    ++lost_;
  }
  for (const auto& [begin, end] : link.holds) {
    if (begin <= now && now < end) now = end;
  }
  if (!blob_bytes) {
    link.last_control = std::max(link.last_control, now + delay);
    return link.last_control;
  }
  link.bulk_sent =
      std::max(link.bulk_sent, now) + TransferTime(*blob_bytes, options_.bytes_per_second);
  link.last_bulk = std::max(link.last_bulk, link.bulk_sent + delay);
  return link.last_bulk;
}

}  // namespace ostraka::sim
