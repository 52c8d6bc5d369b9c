// Coming back: how one who was away gets from the last block it knows to the newest one, from many
// members of whom any may lie (docs/protocol.md, 7).
//
//   head      a block is believed once t_s + 1 members of the last known view have signed messages
//             of the next step that name its digest as their entry: one of them is honest
//   chain     older blocks, newest first: each names the digest of the one before
//   state     if the way is long: the newest state with a sealed root, in pieces that prove
//             themselves (state.h), from several members at once
//   results   of each block from there on, by the roots that the block has
//
// It plans and checks; the caller sends what Wants() asks, hands in the answers, runs the updates
// and says Applied(). Nothing here is signed and nothing is believed for who says it.
//
// Memory: of each member at most kUnprovenBlocks blocks, and kUnprovenBytes of them, that nobody
// attested to yet [one bound for all would let a liar push the true head out]; the chain's blocks,
// one state and the results of a few blocks; at most kMaxRequests requests are open, of which two
// are kept for the head and for blocks [results that nobody has any more would else keep a member
// from learning of the state that spares it them].
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "node/base/tensor_layout.h"
#include "node/base/time.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/ground/state.h"
#include "node/wire/limits.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using crypto::SharedBlob;
using SharedBlock = std::shared_ptr<const Block>;

inline constexpr std::size_t kMaxRequests = 8;
inline constexpr std::size_t kBulkRequests = kMaxRequests - 2;  // for pieces and results
inline constexpr std::size_t kMaxBlocksAnAnswer = 32;
inline constexpr std::size_t kUnprovenBlocks = 2 * kMaxBlocksAnAnswer;
inline constexpr std::size_t kUnprovenBytes = wire::kMaxBlockBytes;
// A way of more blocks is made by fetching a state: members keep the results of a few steps only.
inline constexpr std::uint64_t kLongWay = 8;

// Height of a block: 0 for genesis, step + 1 after.
inline std::uint64_t HeightOf(const Block& block) { return block.genesis ? 0 : block.step + 1; }

class CatchUp {
 public:
  struct Request {
    PeerId to;
    std::uint64_t step = 0;
    wire::Phase phase = wire::Phase::kC;
    wire::Pull pull;
  };
  // The next block with all that its update needs.
  struct Ready {
    SharedBlock block;
    std::vector<SharedBlob> results;  // one a column; null where the column is void
  };

  // From `view`, whose following state is `state`; if that is not to be trusted, any way begins
  // with a fetched one. REQUIRES: `self` is in the run.
  CatchUp(const PeerId& self, base::TensorLayout layout, SharedBlock view, ModelState state,
          bool trust_state, base::Duration patience);

  // --- answers; any content is safe ---
  // `sender` signed a message of phase A of `step` with this entry. REQUIRES: verified.
  void OnAttest(const PeerId& sender, std::uint64_t step, const Digest& entry);
  // That is known already: nobody need verify it again.
  bool HasAttest(const PeerId& sender, std::uint64_t step, const Digest& entry) const;
  // `from` sent it, as so many bytes.
  void OnBlock(const PeerId& from, Block block, std::size_t byte_count);
  void OnState(const wire::Slot& slot, const wire::Chunk& chunk, const SharedBlob& blob);
  void OnResult(std::uint64_t step, std::uint64_t column, const SharedBlob& blob);

  // What to ask now. Call again after every answer and at wake().
  std::vector<Request> Wants(base::Time now);
  std::optional<base::Time> wake() const { return wake_; }

  // --- progress ---
  // Blocks newly known to be the run's, oldest first: for the ledger.
  std::vector<SharedBlock> TakeBlocks();
  // Set once: the fetched state and the block that it follows. The way goes on from there.
  std::optional<std::pair<SharedBlock, ModelState>> TakeState();
  // The next block, if nothing of it is missing; until Applied or a fetched state moves the way on.
  std::optional<Ready> Next() const;
  void Applied(SharedBlock block, ModelState state);

  const SharedBlock& view() const { return view_; }
  // The newest block believed; the view itself if none is newer.
  const SharedBlock& head() const { return head_; }
  // True iff the view is the newest block, and enough members have said so.
  bool at_head() const { return confirmed_ && HeightOf(*view_) == HeightOf(*head_); }
  std::string Describe() const;
  std::size_t unproven_count() const { return unproven_.size(); }

 private:
  struct Unproven {
    SharedBlock block;
    std::size_t byte_count = 0;
    std::set<PeerId> from;
  };
  struct Fetch {  // of the state at the start of `step`
    std::uint64_t step = 0;
    Digest root;
    std::vector<Digest> leaves;  // empty: not yet
    std::vector<bool> have;      // by piece
    std::size_t left = 0;
    std::shared_ptr<std::vector<float>> parameters, velocity;
  };
  struct Key {
    wire::PullKind kind = wire::PullKind::kHead;
    std::uint64_t step = 0;
    std::uint64_t index = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Open {
    base::Time asked;
    std::size_t turn = 0;  // whom to ask next
  };

  bool IsAttested(const Digest& digest) const;
  void Believe(SharedBlock block);
  void DescendChain();
  void BoundUnprovenOf(const PeerId& from);
  void PlanWay();
  void StartFetch(std::uint64_t step, const Digest& root);
  std::optional<std::uint64_t> Gap() const;
  static bool IsBulk(const Key& key);
  std::size_t BulkRequests() const;
  // The answer to `key`, a question for blocks, has the one of `height`.
  static bool IsAskedBy(const Key& key, std::uint64_t height);
  void AskBlocks(base::Time now, std::uint64_t gap, std::vector<Request>& out);
  void Ask(base::Time now, const Key& key, const wire::Pull& pull, std::vector<Request>& out);
  PeerId MemberOfTurn(std::size_t turn) const;
  SharedBlock BlockAt(std::uint64_t height) const;

  const PeerId self_;
  const base::TensorLayout layout_;
  const std::vector<StatePiece> pieces_;
  const base::Duration patience_;
  SharedBlock view_;
  ModelState state_;
  bool trust_state_;
  SharedBlock head_;
  bool confirmed_ = false;  // head_ is attested to, not only where we began

  // member -> step -> entry of its newest few messages of phase A.
  std::map<PeerId, std::map<std::uint64_t, Digest>> attests_;
  std::map<Digest, Unproven> unproven_;
  std::map<std::uint64_t, SharedBlock> chain_;  // by height, above view_: the run's blocks
  std::uint64_t reported_ = 0;                  // height up to which TakeBlocks has given them
  std::optional<Fetch> fetch_;
  std::optional<std::pair<SharedBlock, ModelState>> fetched_;
  std::map<std::uint64_t, std::vector<SharedBlob>> results_;  // by step, of the next few blocks
  std::map<Key, Open> open_;
  std::size_t turn_ = 0;  // whom to ask first for the next thing
  std::optional<base::Time> wake_;
};

}  // namespace ostraka::protocol
