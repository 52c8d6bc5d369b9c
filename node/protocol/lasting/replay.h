// Blocks whose updates this member applies again, one job at a time: after a restart, from what its
// store kept, and away from the run, from what others sent.
//
// Promises:
//   R1  The updates are applied in the order in which the blocks were added, each to the state that
//       the one before gave.
//
// May not know: where the blocks and results come from.
//
// Memory: the results of the blocks that wait, which the caller bounds (kPastSteps after a restart,
// one block when following).
//
// What an attacker can do here: nothing; only proven blocks and results come in.
//
// Thread safety: none; one owner.
#pragma once

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "node/base/tensor_layout.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/mail/job_desk.h"
#include "node/protocol/sync/catch_up.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class Replay {
 public:
  struct Item {
    SharedBlock block;
    std::vector<SharedBlob> results;  // by column; null where the column is void
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, block, results); }
  };

  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // REQUIRES: the block follows the last one that waits, if any; a result or null for each column.
  void Add(Item item);
  bool empty() const { return waiting_.empty(); }
  bool busy() const { return job_.has_value(); }
  // Starts the update of the first block. REQUIRES: not empty, not busy. `now`: the step in
  // progress.
  void Start(JobDesk& desk, const Manifest& manifest, const base::TensorLayout& layout,
             const ModelState& state, std::uint64_t now);
  bool Owns(JobId id) const { return job_ == id; }
  // The job is done: the block that it applied, with its results.
  Item Take(JobId id);
  // Nothing waits any more; a job that runs is not ours.
  void Clear();

  void CheckInvariants() const;

 private:
  std::deque<Item> waiting_;
  std::optional<JobId> job_;
};

}  // namespace ostraka::protocol
