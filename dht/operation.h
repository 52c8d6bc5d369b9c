// A search of the DHT with its purpose: to refresh the table, to read, to write, or to look.
//
// It ends each stage of the search (the lookup, a measurement, a survey) after kSearchTime at
// latest, and the search with what it has. A read that made a survey then asks the nodes of the
// region for records, and a write hands its record to the nodes that the search found.
//
// Promises:
//   O1 At most (1 + Search::kProbes) Lookup::kMaxQueries queries, and Search::kMaxInRegion more.
//   O2 done() comes true at latest a query's life after the search has ended.
//
// May not know: nonces, endpoints' limits, the table but as an argument.
// Memory: of a Search and a Reading.
// What an attacker can do here: Search's, Reading's; refuse to store, or say that it stored.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "dht/kind.h"
#include "dht/lookup/search.h"
#include "dht/reading.h"
#include "dht/requests.h"

namespace ostraka::dht {

struct RefreshGoal {   // a point of our own choice: fills the table, measures the network
  bool joins = false;  // the search of our own place
};
struct ReadGoal {
  Reading reading;
  std::uint32_t start = 0;  // number of the record to begin with, in each node's list
};
struct WriteGoal {
  base::Bytes record;
  std::uint32_t stored = 0;
  std::uint32_t refused = 0;
};
struct LookGoal {};
using Goal = std::variant<RefreshGoal, ReadGoal, WriteGoal, LookGoal>;

class Operation {
 public:
  static constexpr base::Duration kSearchTime = base::Seconds(5);

  // `ask`: the id of the question that it answers, if it answers one.
  Operation(base::Time now, Search search, Goal goal, std::optional<std::uint64_t> ask);
  void HashInto(crypto::Hasher& hasher) const;

  // A query to send: its kind, target, and what else the goal needs are set.
  struct Errand {
    KnownNode to;
    Query query;
    Purpose purpose = Purpose::kSearch;
    std::uint32_t lookup = 0;
  };
  std::vector<Errand> Next(base::Time now, const RoutingTable& table, const NetworkSize& size);

  void OnReply(std::uint64_t wall_s, const Request& request, const Reply& reply,
               const std::vector<KnownNode>& nodes, crypto::Verifier& verifier);
  void OnFate(Requests::Fate fate, const Request& request);

  // After a Next() that was empty.
  bool done() const { return stage_ == Stage::kDone; }
  std::optional<base::Time> deadline() const;
  const Search& search() const { return search_; }
  const Goal& goal() const { return goal_; }
  const std::optional<std::uint64_t>& ask() const { return ask_; }
  Effort effort() const;
  void CheckInvariants() const;

 private:
  enum class Stage : std::uint8_t { kSearching, kFinishing, kDone };
  Errand SearchErrand(const Search::Question& question) const;
  std::vector<Errand> Finish();

  Search search_;
  Goal goal_;
  std::optional<std::uint64_t> ask_;
  Stage stage_ = Stage::kSearching;
  base::Time until_;           // of the stage of the search
  std::uint32_t waiting_ = 0;  // errands of Finish
  std::uint32_t finishing_queries_ = 0;
};

}  // namespace ostraka::dht
