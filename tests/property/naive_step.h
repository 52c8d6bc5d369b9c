// The sealed messages of a step, decoded, and the list of losses that every rule adds to.
//
// Thread safety: none; plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/protocol/ground/roles.h"
#include "tests/property/naive_rules.h"

namespace ostraka::protocol::naive {

// docs/protocol/removals.md: the passes of a block.
enum Pass : int {
  kSeals = 1,
  kVerdicts = 2,
  kUndecided = 3,
  kOwing = 4,
  kOwnMessages = 5,
  kPairs = 6,
  kTooManyPairs = 7,
  kAfterAll = 8
};

// From the mildest to the gravest.
enum class Gravity : int { kDrop, kDropAtReveal, kSuspension, kBan };

// One fault for which a peer loses its place.
struct Loss {
  Pass pass = kSeals;
  PeerId peer;
  Gravity gravity = Gravity::kDrop;
  wire::RemovalKind kind = wire::RemovalKind::kDrop;
  std::string reason;
};

struct Step {
  const Block* last = nullptr;
  const Manifest* manifest = nullptr;
  std::uint64_t number = 0;
  std::uint32_t fault_bound = 0;  // F
  Roles roles;

  std::map<PeerId, Digest> commit_digests;                 // every COMMIT that is sealed present
  std::map<PeerId, wire::Commit> commits;                  // those that are well formed
  std::vector<std::optional<wire::Aggregate>> aggregates;  // by column: the well-formed AGG
  std::map<PeerId, wire::Proof> proofs;                    // well-formed and owed
  std::set<PeerId> missing_in_a;      // absent or equivocated in seal A, COMMIT or owed AGG
  std::set<PeerId> other_parameters;  // profile exact/1: their COMMIT names none that the run has
  std::set<PeerId> absent;            // in any seal: they owe nothing more
  std::set<PeerId> two_commits;
  Digest randomness;  // r^t

  bool excused = false;        // the wait for parts may have been too short
  std::set<PeerId> were_late;  // those that were absent, in an adaptive run
  std::vector<Loss> losses;    // in the order in which they are found
  // The step of the first case that suspends a target for a first fault.
  std::map<PeerId, std::uint64_t> erred_in;

  std::size_t columns() const { return roles.parts.size(); }
};

template <typename T>
bool Has(const std::vector<T>& list, const T& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

bool IsMember(const Step& step, const PeerId& peer);
// A key of the run that no block has banned: a ban can still hit it.
bool MayBeBanned(const Step& step, const PeerId& peer);

// Drops hit members alone, bans every key of the run that is not banned yet.
void Drop(Step& step, Pass pass, const PeerId& peer, const std::string& reason,
          Gravity gravity = Gravity::kDrop);
void Ban(Step& step, Pass pass, const PeerId& peer, wire::RemovalKind kind,
         const std::string& reason);
// docs/protocol/removals.md, "A first fault": whom a ban can hit is dropped.
void Suspend(Step& step, Pass pass, const PeerId& peer, const std::string& reason);
bool IsExact(const Step& step);  // the run is of profile exact/1

// A member that no pass before `pass` has removed.
bool StaysBefore(const Step& step, Pass pass, const PeerId& peer);
bool IsBanned(const Step& step, const PeerId& peer);  // by this block
// The fault that decides: the gravest, of equal ones the first. Null if the peer has none.
const Loss* WorstOf(const Step& step, const PeerId& peer);
std::vector<PeerId> Losers(const Step& step);  // by key

// Reads all seals. Nullopt if no draw gives a coin.
std::optional<Step> ReadStep(const Block& last, const Manifest& manifest, std::uint64_t dimension,
                             const Sealed& sealed, crypto::Verifier& verifier);

}  // namespace ostraka::protocol::naive
