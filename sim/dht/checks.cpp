#include "sim/dht/checks.h"

#include <algorithm>
#include <array>

namespace ostraka::sim::dhtsim {
namespace {

constexpr std::size_t kQueryBytes = 1200;
constexpr std::size_t kMostOfPrefix = 4;
constexpr std::size_t kMostInBucket = 16;
constexpr std::size_t kMostRecords = 16'384;

std::array<std::uint8_t, 3> Slash24(const Endpoint& endpoint) {
  return {endpoint.address[12], endpoint.address[13], endpoint.address[14]};
}

}  // namespace

void Checks::Fail(const char* checker, std::uint32_t peer, const std::string& what) {
  if (failure_) return;
  failure_ = {checker, "node " + std::to_string(peer) + " " + what + " at " +
                           std::to_string(swarm_->now().ns / 1'000'000) + " ms"};
}

void Checks::OnAction(base::Time now, std::uint32_t peer, const Cause& cause,
                      const machine::ActionOf<dht::DhtKind>& action) {
  if (const auto* send = std::get_if<machine::SendDatagram<Endpoint>>(&action)) {
    OnSend(now, peer, cause, *send);
  } else if (const auto* seen = std::get_if<machine::Observe<dht::Observation>>(&action)) {
    OnObservation(peer, cause, seen->what);
  }
}

void Checks::OnSend(base::Time now, std::uint32_t peer, const Cause& cause,
                    const machine::SendDatagram<Endpoint>& send) {
  const std::size_t size = send.bytes->size();
  const bool is_reply = size > 5 && (*send.bytes)[5] == 1;
  if (is_reply) {
    if (cause.from == nullptr || cause.is_reply || send.to != *cause.from) {
      return Fail("no_amplification", peer, "answers nobody's query");
    }
    if (size > cause.size) {
      Fail("no_amplification", peer,
           "answers " + std::to_string(cause.size) + " bytes with " + std::to_string(size));
    }
    return;
  }
  if (size != kQueryBytes) {
    Fail("no_amplification", peer, "sends a query of " + std::to_string(size) + " bytes");
  }
  Traffic& traffic = traffic_[peer];
  if (now - traffic.minute >= base::Seconds(60)) {
    const std::uint64_t questions = traffic.questions;
    traffic = {now, 0, questions};
  }
  ++traffic.queries;
  most_queries_ = std::max(most_queries_, traffic.queries);
  if (traffic.queries > kQueriesAMinute + kQueriesAQuestion * traffic.questions) {
    Fail("bytes_in_out", peer, "sends " + std::to_string(traffic.queries) + " queries in a minute");
  }
}

void Checks::OnObservation(std::uint32_t peer, const Cause& cause, const dht::Observation& seen) {
  if (const auto* stored = std::get_if<dht::RecordStored>(&seen)) {
    if (swarm_->endpoint(cause.true_sender) != stored->source) {
      Fail("sources", peer,
           "stores a record for " + dht::TextOf(stored->source) + ", which did not send it");
    }
  } else if (const auto* learned = std::get_if<dht::ContactLearned>(&seen)) {
    const auto holder = swarm_->PeerAt(learned->contact.endpoint);
    if (!holder || swarm_->id(*holder) != learned->contact.peer) {
      Fail("identity", peer,
           "takes " + dht::TextOf(learned->contact.endpoint) + " for another node");
    }
  }
}

void Checks::Inspect() {
  for (std::uint32_t peer = 0; peer < swarm_->size() && !failure_; ++peer) {
    if (!swarm_->IsUp(peer) || !swarm_->IsHonest(peer)) continue;
    InspectTable(peer);
    InspectStore(peer);
  }
}

void Checks::InspectTable(std::uint32_t peer) {
  std::map<std::array<std::uint8_t, 3>, std::size_t> of_prefix;
  std::map<unsigned, std::size_t> in_bucket;
  for (const dht::KnownNode& node : swarm_->node(peer).table().All()) {
    const Endpoint& endpoint = node.contact.endpoint;
    if (++of_prefix[Slash24(endpoint)] > kMostOfPrefix) {
      return Fail("table_bounds", peer, "knows 5 nodes of the prefix of " + dht::TextOf(endpoint));
    }
    const unsigned bucket = dht::CommonPrefix(swarm_->node(peer).table().self(), node.id);
    if (++in_bucket[bucket] > kMostInBucket) {
      return Fail("table_bounds", peer, "has a bucket of 17");
    }
  }
}

void Checks::InspectStore(std::uint32_t peer) {
  const dht::RecordStore* store = swarm_->node(peer).records();
  if (store->size() > kMostRecords) {
    Fail("table_bounds", peer, "stores " + std::to_string(store->size()) + " records");
  }
}

}  // namespace ostraka::sim::dhtsim
