// What the run has decided, as far as this member knows: its last block (the head), the model
// state, and what it keeps of the past for itself and for members that are behind.
//
// Promises:
//   H1  The members of the head are sorted.
//   H2  The state is the one after the head; between AdvanceHead and SetState it is the one before.
//   H3  Of each column one result is kept, the one that was handed in last: callers hand in what
//       they made, or what a sealed root proves.
//   H4  Whether something lies in memory or in the own store changes nothing that others see: the
//       store's word (crypto::DiskCopy) comes when the disk is ready, so no rule may depend on it.
//
// May not know: seals in progress, messages, links, time.
//
// Memory: kRecentBlocks encoded blocks; the aggregates of the head's step and the one in progress,
//   a model's size each; kPastSteps past steps, with the parts of the own column of two of them,
//   and the model and the aggregates of as many, of those that voters may look at, and of those
//   that open cases are about. The aggregates of kPastSteps steps and the states of the last rooted
//   steps are in memory until the store has them, and then only their hashes are. The number of
//   states served is two where rooted steps are 2 kLongWay apart, and up to 2 kLongWay + 1 where
//   each step has a root.
//
// What an attacker can do here: nothing by itself. Only what is sealed, or proven by its hash,
// comes in.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "crypto/merkle.h"
#include "node/protocol/ground/hash_into.h"
#include "node/protocol/ground/schedule.h"
#include "node/protocol/ground/state.h"
#include "node/protocol/rules/cases.h"
#include "node/protocol/sync/catch_up.h"
#include "node/protocol/sync/past_step.h"
#include "node/protocol/sync/recent_blocks.h"

namespace ostraka::protocol {

// Blocks that are kept for members that were away.
inline constexpr std::size_t kRecentBlocks = 4096;

class Chain {
 public:
  Chain(SharedBlock head, ModelState state);
  // The block of its step names the root of a result.
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- head and state ---
  const Block& head() const { return *head_; }
  const SharedBlock& shared_head() const { return head_; }
  const ModelState& state() const { return state_; }
  base::Duration delta() const {
    return base::Microseconds(static_cast<std::int64_t>(head_->delta_us));
  }
  // The next block, or a later one. The caller keeps it too (KeepBlock).
  void AdvanceHead(SharedBlock head);
  void SetState(ModelState state) { state_ = std::move(state); }
  // The head as it is shown to others; encoded once, however many ask.
  struct ShownHead {
    SharedBlock block;
    Digest digest;
    SharedBlob blob;
  };
  const ShownHead& Shown();

  // --- blocks ---
  const RecentBlocks& recent() const { return recent_; }
  // What is returned stays until the next call.
  const RecentBlocks::Kept& KeepBlock(const Block& block) { return recent_.Add(block); }

  // --- aggregates ---
  // False if that one is kept already.
  bool KeepResult(std::uint64_t step, std::uint32_t column, const SharedBlob& blob);
  // It is the one that is kept. Null: the store will not say where it has it.
  void ResultIsStored(std::uint64_t step, std::uint32_t column,
                      std::shared_ptr<const crypto::DiskCopy> copy);
  // Null if it is not kept. Of a step before the head's it may lie in the store alone, and is to be
  // sent, not to be read.
  SharedBlob ResultAt(std::uint64_t step, std::uint64_t column) const;
  // Forgets those of steps that `step` is more than kPastSteps after.
  void ForgetResults(std::uint64_t step);
  // Forgets all but those of the last kPastSteps steps that have any.
  void TrimResults();

  // --- past steps ---
  void Remember(std::uint64_t step, PastStep past);
  // Null if it is not held.
  const PastStep* Past(std::uint64_t step) const;
  // An exhibit of an open case. REQUIRES: the step is held.
  void KeepPart(std::uint64_t step, const PartKey& key, SignedPart part);
  // Forgets parts, parameters and results of past steps that no rule needs any more. Parts serve
  // namings of the head's step, and cases; parameters and results also validators of the next two
  // steps, whose targets worked in the head's step and the one before, and looks.
  void TrimPast(const LookRange& looks);
  // After an absence what was held of the steps before does not count.
  void ForgetPast();

  // --- states for others ---
  struct Served {
    std::optional<ModelState> state;  // until the store has it
    std::vector<Digest> leaves;
    std::shared_ptr<const crypto::DiskCopy> copy;  // null: it is not stored
    // The leaves stand for the state.
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, leaves); }
  };
  // The state at the beginning of `step` is the present one, and has these leaves.
  void Serve(std::uint64_t step, std::vector<Digest> leaves);
  const Served* ServedAt(std::uint64_t step) const;
  // The present state was handed to the store.
  void StateIsStored(std::shared_ptr<const crypto::DiskCopy> copy);
  // How many there are at most where every `every`-th step has a root.
  static std::size_t ServedStates(std::uint64_t every);

  void CheckInvariants() const;

 private:
  struct Kept {
    SharedBlob blob;
    std::shared_ptr<const crypto::DiskCopy> copy;  // null: it is not stored
  };
  struct StoredState {
    std::uint64_t height = 0;  // of the block that it follows
    std::shared_ptr<const crypto::DiskCopy> copy;
  };
  bool NeedsParts(std::uint64_t step) const;
  bool NeedsParameters(std::uint64_t step, const LookRange& looks) const;
  // Forgets what the store has by now: results before the head's step, and states.
  void LeaveToStore();

  SharedBlock head_;
  ModelState state_;
  ShownHead shown_;
  RecentBlocks recent_{kRecentBlocks};
  std::map<std::uint64_t, std::map<std::uint32_t, Kept>> results_;  // by step and column
  std::map<std::uint64_t, PastStep> past_;
  std::map<std::uint64_t, Served> served_;
  StoredState stored_;  // the newest
};

}  // namespace ostraka::protocol
