// The nodes that should hold a key: a lookup of the key, and under attack a survey of its region.
//
// Ids made close to a key, from more prefixes than a lookup returns nodes, would be all that a
// lookup finds. Then the end of the lookup is far denser than the network
// (NetworkSize::IsTooDense). That is measured anew, by a lookup of a random point, since a network
// may have grown. If it is true, the region that should hold 16 nodes is surveyed: lookups of
// kProbes points in it, and all nodes found in it count, one a prefix, up to kMaxInRegion, beside
// the nearest. Writers and readers do the same, so they meet at the honest nodes of the region. It
// costs four times a lookup, and only under attack.
//
// Promises:
//   F1 At most 2 + kProbes lookups.
//   F2 Result() has nodes that answered, nearest to the key first, one a prefix: the lookup's
//   nearest
//      Lookup::kNearest, and after a survey those of the region, up to kMaxInRegion in all.
//
// May not know: datagrams, records.
// Memory: of 6 lookups.
// What an attacker can do here: have keys surveyed by making ids close to them; from 128 prefixes
// it fills the result even so.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dht/lookup/lookup.h"
#include "dht/table/network_size.h"
#include "dht/table/routing_table.h"

namespace ostraka::dht {

class Search {
 public:
  static constexpr std::size_t kProbes = 4;
  static constexpr std::size_t kMaxInRegion = 64;
  static constexpr Lookup::Shape kProbeShape = {2, 2};
  // Paths that share no node need nodes to start from.
  static constexpr std::size_t kTableForPaths = 32;
  static constexpr Lookup::Shape kSmallShape = {1, 4};

  struct Question {
    std::uint32_t lookup = 0;  // to pass back
    Digest target;
    KnownNode node;
  };

  // `random`: a point that nobody can guess, to measure the network at.
  // REQUIRES: shape.paths > 0, shape.alpha > 0.
  Search(const Digest& key, const Digest& random, const Lookup::Shape& shape,
         const RoutingTable& table, Scope scope);
  void HashInto(crypto::Hasher& hasher) const;

  // The shape of a lookup from a table of this size.
  static Lookup::Shape ShapeFor(std::size_t table_size) {
    return table_size < kTableForPaths ? kSmallShape : Lookup::Shape{};
  }

  // Whom to ask now. Begins a survey, if `may_survey`, once the lookup has ended too dense.
  std::vector<Question> Next(const RoutingTable& table, const NetworkSize& size, bool may_survey);
  void OnAnswer(std::uint32_t lookup, const Contact& from, const std::vector<KnownNode>& nodes,
                const Token& token);
  void OnSlow(std::uint32_t lookup, const Contact& asked);
  void OnSilence(std::uint32_t lookup, const Contact& asked);

  // After a Next() that was empty: nothing is waited for, and nothing is left to ask.
  bool done() const;
  bool surveyed() const { return stage_ == Stage::kSurvey; }
  std::size_t lookups() const { return lookups_.size(); }  // begun
  std::size_t queries() const;
  std::size_t answers() const;
  const Digest& key() const { return lookups_.front().target(); }
  std::vector<Found> Result() const;
  void CheckInvariants() const;

 private:
  enum class Stage : std::uint8_t { kLookup, kMeasure, kSurvey, kEnd };
  // The stage that follows this one, which has ended; its lookups begin.
  Stage NextStage(const RoutingTable& table, const NetworkSize& size, bool may_survey);
  void BeginSurvey(const RoutingTable& table, const NetworkSize& size);
  std::vector<Digest> NearestIds(const Lookup& lookup) const;

  Digest random_;
  Lookup::Shape shape_;
  Scope scope_;
  std::vector<Lookup> lookups_;  // of the key; of the random point; of points around the key
  Stage stage_ = Stage::kLookup;
  std::uint64_t radius_ = 0;  // of the region
};

}  // namespace ostraka::dht
