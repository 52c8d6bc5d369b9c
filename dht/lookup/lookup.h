// Finds the nodes nearest to a target by asking nodes that are ever nearer, over paths that share
// no node (S/Kademlia). It says whom to ask next and is told what came back.
//
// A path takes nodes only from answers to its own questions, so a false answer spoils one path.
// Each path goes on until the nearest kNearest nodes that it knows, one a prefix, have answered or
// failed. [Ending at the first record, or when enough have answered, lets a few nodes near a key
// hide it.]
//
// Promises:
//   L1 Each contact is asked at most once, by one path, and at most kMaxQueries are.
//   L2 At most `alpha` of a path's questions are waited for at a time. Slow ones are not waited
//   for,
//      but their answers count.
//   L3 When nothing is waited for and Next() is empty, the lookup is done.
//   L4 Nearest gives contacts that answered, nearest first, one a prefix.
//
// A node id may come with several addresses, and each counts by itself. [Else a false address for
// an honest node's id would keep the lookup from asking that node.]
//
// May not know: datagrams, time, what is looked for.
// Memory: at most 16 contacts an answer, 1,100 in all, of 140 bytes.
// What an attacker can do here: spoil the paths that meet one of its nodes, and have some of the
// queries go to addresses of its choice: one a prefix for each of its answers.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "dht/table/prefix_rule.h"
#include "dht/wire/known_node.h"
#include "dht/wire/messages.h"

namespace ostraka::dht {

struct Found {  // a node that answered
  KnownNode node;
  Token token{};  // that it gave to our address
  void HashInto(crypto::Hasher& hasher) const;
};

class Lookup {
 public:
  static constexpr std::size_t kNearest = 16;
  static constexpr std::size_t kMaxQueries = 64;
  struct Shape {
    std::size_t paths = 4;
    std::size_t alpha = 2;
  };

  // `start`: nodes of our own table, nearest first; they are dealt to the paths in turn.
  // REQUIRES: 0 < shape.paths, 0 < shape.alpha.
  Lookup(const Digest& target, const Digest& self, const Shape& shape,
         const std::vector<KnownNode>& start);
  void HashInto(crypto::Hasher& hasher) const;

  std::vector<KnownNode> Next();
  void OnAnswer(const Contact& from, const std::vector<KnownNode>& nodes, const Token& token);
  // It has not answered yet: it is not waited for any longer.
  void OnSlow(const Contact& asked);
  // It will not answer.
  void OnSilence(const Contact& asked);

  bool waits() const { return waiting_ > 0; }
  std::size_t queries() const { return queries_; }
  std::size_t answers() const { return answers_; }
  const Digest& target() const { return target_; }
  std::vector<Found> Nearest(std::size_t count) const;
  std::vector<Found> Answered() const;  // all, nearest first, several a prefix
  void CheckInvariants() const;

 private:
  enum class State : std::uint8_t { kKnown, kAsked, kSlow, kAnswered, kFailed };
  struct Candidate {
    KnownNode node;
    State state = State::kKnown;
    std::size_t path = 0;  // that asked it
    Token token{};
    void HashInto(crypto::Hasher& hasher) const;
  };
  struct Path {
    std::vector<std::size_t> nearest;  // candidates, nearest first
    std::size_t waiting = 0;
    void HashInto(crypto::Hasher& hasher) const;
  };
  // The next candidate that `path` should ask, or nullptr.
  Candidate* PickFor(const Path& path);
  void Learn(Path& path, const KnownNode& node);
  void StopWaiting(Candidate& candidate);
  Candidate* FindAsked(const Contact& contact);

  const Digest target_;
  const Digest self_;
  const std::size_t alpha_;
  std::vector<Candidate> candidates_;
  std::map<Contact, std::size_t> places_;  // in candidates_
  std::vector<Path> paths_;
  std::size_t waiting_ = 0;
  std::size_t queries_ = 0;
  std::size_t answers_ = 0;
};

}  // namespace ostraka::dht
