// A network of honest nodes with perfect tables, for tests of lookups: who knows whom is computed
// when it is asked for.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "dht/lookup/lookup.h"
#include "dht/table/routing_table.h"
#include "tests/unit/dht/samples.h"

namespace ostraka::dht {

class SmallNet {
 public:
  SmallNet(std::uint64_t seed, std::uint32_t count) : rng_(seed), self_(RandomDigest(rng_)) {
    for (std::uint32_t i = 0; i < count; ++i) nodes_.push_back(NodeIn(rng_, i));
  }

  base::Rng& rng() { return rng_; }
  const Digest& self() const { return self_; }
  std::vector<KnownNode>& nodes() { return nodes_; }

  std::vector<KnownNode> Nearest(const Digest& target, std::size_t count) const {
    std::vector<KnownNode> sorted = nodes_;
    std::sort(sorted.begin(), sorted.end(), [&target](const KnownNode& a, const KnownNode& b) {
      return IsNearer(target, a.id, b.id);
    });
    if (sorted.size() > count) sorted.resize(count);
    return sorted;
  }
  std::vector<Digest> NearestIds(const Digest& target, std::size_t count) const {
    std::vector<Digest> ids;
    for (const KnownNode& node : Nearest(target, count)) ids.push_back(node.id);
    return ids;
  }

  // The table of a node that has met all others.
  const RoutingTable& TableOf(const Digest& id) {
    const auto [at, is_new] = tables_.try_emplace(id, id);
    if (is_new) {
      for (const KnownNode& node : nodes_) at->second.OnAnswer({}, node);
    }
    return at->second;
  }
  std::vector<KnownNode> Start(const Digest& target) {
    return TableOf(self_).Nearest(target, 16, Scope::kPublic, true);
  }
  std::vector<KnownNode> AnswerOf(const KnownNode& node, const Digest& target) {
    return TableOf(node.id).Nearest(target, 16, Scope::kPublic, false);
  }

  using Answer = std::function<std::vector<KnownNode>(const KnownNode&)>;
  // To the end; nodes that this network does not have are silent.
  void Run(Lookup& lookup, Answer answer = {}) {
    if (!answer) {
      answer = [&](const KnownNode& node) { return AnswerOf(node, lookup.target()); };
    }
    for (std::vector<KnownNode> next = lookup.Next(); !next.empty(); next = lookup.Next()) {
      for (const KnownNode& node : next) {
        const auto is_it = [&node](const KnownNode& one) {
          return one.id == node.id && one != node;
        };
        if (std::any_of(nodes_.begin(), nodes_.end(), is_it)) {
          lookup.OnSilence(node.contact);
        } else {
          lookup.OnAnswer(node.contact, answer(node), {});
        }
      }
    }
  }

 private:
  base::Rng rng_;
  Digest self_;
  std::vector<KnownNode> nodes_;
  std::map<Digest, RoutingTable> tables_;
};

}  // namespace ostraka::dht
