// The queries that wait for an answer.
//
// Promises:
//   Q1 A reply is matched once, by its nonce, and only if it comes from the endpoint that was
//   asked. Q2 Each query is reported slow after kSlow and lost after kLost, unless it was answered
//   before. Q3 At most kMost wait at a time: Add refuses more.
//
// May not know: what the queries were for, beyond the purpose that it hands back.
// Memory: kMost requests of 200 bytes.
// What an attacker can do here: nothing without a nonce, which is 16 random bytes on the path to
// the endpoint that was asked.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "dht/wire/known_node.h"
#include "dht/wire/messages.h"
#include "node/base/time.h"

namespace ostraka::dht {

enum class Purpose : std::uint8_t {
  kMeet,        // is it alive, and may it enter the table?
  kBootstrap,   // an address of the user, whose key is not known
  kSearch,      // a step of a search
  kRead,        // records from a node of a surveyed region
  kWrite,       // a record to a node
  kCheckToken,  // of a node that we want to ask for a check
  kCheck,       // the check itself
  kTryToken,    // of a node that is to ping somebody who asked us for a check
  kTry,
  kTest,  // the ping for somebody else's check
};

struct Request {
  Endpoint to;
  std::optional<KnownNode> node;  // unless its key is not known
  Digest query;                   // the query's digest
  Purpose purpose = Purpose::kMeet;
  std::uint64_t operation = 0;  // kSearch, kRead, kWrite
  std::uint32_t lookup = 0;     // kSearch
  // kTryToken: of the one who asked for the check.
  Nonce mark = {};
  Endpoint tested = {};
  void HashInto(crypto::Hasher& hasher) const;
};

class Requests {
 public:
  static constexpr base::Duration kSlow = base::Seconds(1);
  static constexpr base::Duration kLost = base::Milliseconds(2500);
  static constexpr std::size_t kMost = 1024;

  void HashInto(crypto::Hasher& hasher) const;

  // False if kMost are waiting or the nonce is in use: then nothing must be sent.
  bool Add(base::Time now, const Nonce& nonce, Request request);
  // The request that a reply with this nonce from `from` may answer; it waits on.
  const Request* Find(const Nonce& nonce, const Endpoint& from) const;
  // Ends the wait. REQUIRES: Find found it.
  Request Take(const Nonce& nonce);
  bool IsAsked(const Contact& contact) const;  // a query to it waits

  enum class Fate : std::uint8_t { kSlow, kLost };
  std::vector<std::pair<Fate, Request>> Expire(base::Time now);
  std::optional<base::Time> next_expiry() const;

  std::size_t size() const { return waiting_.size(); }
  void CheckInvariants() const;

 private:
  using Due = std::deque<std::pair<base::Time, Nonce>>;  // in order of time
  void DropAnswered();

  std::map<Nonce, Request> waiting_;
  Due slow_;
  Due lost_;
};

}  // namespace ostraka::dht
