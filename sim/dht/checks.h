// Properties that every run of the DHT must have, checked from outside: they share no code with the
// limits that they check.
//
//   no_amplification  an honest node sends one datagram at most back to where a datagram came from,
//                     not longer than that; its own queries have 1,200 bytes
//   bytes_in_out      what an honest node sends in a minute is bounded
//   table_bounds      an honest table has at most 4 nodes of a /24, and its store keeps its quotas
//   identity          every contact in an honest table is at the address of the node with that key
//   sources           an honest store has no record whose sender did not receive at its address
//   found             what was asked was found (sim/dht/run.h: the share is of a whole run)
//
// Thread safety: none; one swarm.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/dht/swarm.h"

namespace ostraka::sim::dhtsim {

struct CheckFailure {
  std::string checker;
  std::string message;
};

class Checks final : public SwarmObserver {
 public:
  // Of its own queries in a minute, beside those of questions that it was asked: upkeep and joins
  // need 200; the bound is for loops and storms.
  static constexpr std::uint64_t kQueriesAMinute = 1200;
  static constexpr std::uint64_t kQueriesAQuestion = 600;

  explicit Checks(const Swarm* swarm) : swarm_(swarm) {}

  void OnAction(base::Time now, std::uint32_t peer, const Cause& cause,
                const machine::ActionOf<dht::DhtKind>& action) override;
  void OnQuestion(std::uint32_t peer) { ++traffic_[peer].questions; }
  // Looks at the tables and stores of all honest nodes.
  void Inspect();

  const std::optional<CheckFailure>& failure() const { return failure_; }
  std::uint64_t most_queries_a_minute() const { return most_queries_; }

 private:
  struct Traffic {
    base::Time minute;
    std::uint64_t queries = 0;
    std::uint64_t questions = 0;
  };
  void OnSend(base::Time now, std::uint32_t peer, const Cause& cause,
              const machine::SendDatagram<Endpoint>& send);
  void OnObservation(std::uint32_t peer, const Cause& cause, const dht::Observation& seen);
  void InspectTable(std::uint32_t peer);
  void InspectStore(std::uint32_t peer);
  void Fail(const char* checker, std::uint32_t peer, const std::string& what);

  const Swarm* swarm_;
  std::map<std::uint32_t, Traffic> traffic_;
  std::uint64_t most_queries_ = 0;
  std::optional<CheckFailure> failure_;  // the first
};

}  // namespace ostraka::sim::dhtsim
