// CatchUp brings a member that was away from the last block it knows (view()) to the newest block,
// with the help of members any of which may lie (docs/protocol/network.md).
//
//   head      a block is believed once max(t_s, t_a) + 1 members of view() have signed COMMITs of
//             the next step, which name its digest as their parent: one of them is honest. Or as
//             many showed the block itself to the caller (Trust).
//   chain     older blocks, newest first: each names the digest of the one before
//   state     if the distance is long: the newest state with a sealed root, in pieces that prove
//             themselves (state.h), from several members at once
//   results   the aggregates of each block from there on, by the roots in the block
//
// Promises [C: CHECKed by CheckInvariants after each change]:
//   C1  HeightOf(view()) <= HeightOf(head()); view() never goes back. [C: the first half]
//   C2  Every block of the chain is above view() and not above head(), and while a state is fetched
//       not below the block that the state follows. [C]
//   C3  At most kMaxRequests requests are open (requests.h), at most kPieceRequests of them for
//       pieces of the state; for results kBulkRequests, or as many as come over a slow line before
//       they are asked for again, at most two a member. [Six at a time, over a line of some hundred
//       milliseconds, brought blocks of eight columns more slowly than eight fast members made
//       them, and a newcomer was never at the head.] The other two are for the head and for blocks.
//       Rationale: results that no member holds any more would otherwise keep this member from
//       learning of a newer state, which makes them superfluous. [C]
//   C4  Results are held of at most kBlocksAhead blocks. [C]
//   C5  With at most t_s (t_a) faulty members, each block, state and result that it returns is the
//       run's, and it gets to the head while honest members answer and its link brings a state
//       within 2 kLongWay steps. Rationale: a member takes in one model a step, so a link that is
//       slower could not be a member's.
//   C6  A state that was being fetched when this process was killed is fetched on, unless it is
//       older than members serve it.
//   C7  The blocks that it believes are of one history, or it finds two (histories.h). Where no
//       blocks connect a state that is fetched with view(), view() is a landmark, and so is the
//       newest block that was believed between.
//
// May not know: keys, jobs, stores, or why a member can be asked. It plans and checks. The caller
// sends the requests of Wants(), hands in the answers, runs the updates and calls Applied().
//
// Memory: unproven blocks (unproven_blocks.h); the blocks of the chain, which are those from the
// newest sealed root on (without one: of the whole way) and one answer more; one state being
// fetched, and one that waits for TakeState; and results of kBlocksAhead blocks.
//
// What an attacker can do here: no answer is believed for its sender. A member can attest to false
// heads, of which few are kept (attestations.h), and can answer falsely, slowly or not at all: the
// request moves on (requests.h). TakeLiars tells which members sent false parts of a state.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "node/base/tensor_layout.h"
#include "node/base/time.h"
#include "node/protocol/ground/codec.h"
#include "node/protocol/ground/hash_into.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/ground/state.h"
#include "node/protocol/sync/histories.h"
#include "node/protocol/sync/requests.h"
#include "node/protocol/sync/state_fetch.h"
#include "node/protocol/sync/unproven_blocks.h"
#include "node/wire/limits.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using SharedBlock = std::shared_ptr<const Block>;

inline constexpr std::size_t kBulkRequests = 6;   // for results, however large they are
inline constexpr std::size_t kPiecesAMember = 2;  // so that its line is busy while a request goes
inline constexpr std::size_t kPieceRequests = 8 * kPiecesAMember;
inline constexpr std::size_t kSmallRequests =
    kPiecesAMember * wire::kMaxPeers;  // for results, if they are small
inline constexpr std::size_t kMaxRequests = kSmallRequests + 2;
// A member that sends bulk data at this pace or faster is not taken to be silent.
inline constexpr std::int64_t kSlowestBytesASecond = 256 * 1024;
inline constexpr std::size_t kMaxBlocksAnAnswer = 32;
static_assert(kUnprovenBlocks == 2 * kMaxBlocksAnAnswer);
// Over a longer distance a state is fetched: members keep the results of a few steps only.
inline constexpr std::uint64_t kLongWay = 8;

class CatchUp {
 public:
  struct Request {
    PeerId to;
    std::uint64_t step = 0;
    wire::Phase phase = wire::Phase::kC;
    wire::Pull pull;
  };
  // The next block, with everything that its update needs.
  struct Ready {
    SharedBlock block;
    std::vector<SharedBlob> results;  // by column; null where the column is void
  };

  // Starts at the block `view`, which `state` follows. Unless `trust_state`, a state is fetched
  // first over any distance. `patience`: how long to wait for an answer. `kept`: what an earlier
  // process had of a state (C6). `codec`: of the run's results.
  CatchUp(const PeerId& self, base::TensorLayout layout, Codec codec, SharedBlock view,
          ModelState state, bool trust_state, base::Duration patience,
          std::optional<StateParts> kept = std::nullopt);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- answers; any content is safe ---
  // `sender` signed a COMMIT of `step`, which names `entry` as its parent. REQUIRES: the
  // signature is verified.
  void OnAttest(const PeerId& sender, std::uint64_t step, const Digest& entry);
  // Whether a block of that digest has to be decoded. kHeld: no, and it is noted that `from` sent
  // it, too. kProven: yes, and it is believed then. kNew: anything may be in it.
  enum class Look : std::uint8_t { kHeld, kProven, kNew };
  Look LookAt(const PeerId& from, const Digest& digest);
  // More members of view() than may lie showed `block` over their own links.
  void Trust(SharedBlock block);
  // `from` sent `block` as `encoded`. REQUIRES: DecodeBlock gave the one for the other.
  void OnBlock(const PeerId& from, Block block, const SharedBlob& encoded);
  void OnState(const PeerId& from, const wire::Slot& slot, const wire::Chunk& chunk,
               const SharedBlob& blob);
  void OnResult(const PeerId& from, std::uint64_t step, std::uint64_t column,
                const SharedBlob& blob);

  // The requests to send now, to members that `can_hear`: a question to another one would be waited
  // for in vain. Call again after every answer, when that changes, and at wake().
  using CanHear = std::function<bool(const PeerId&)>;
  std::vector<Request> Wants(base::Time now, const CanHear& can_hear);
  std::optional<base::Time> wake() const;

  // --- progress ---
  // Blocks that are newly known to be the run's, oldest first, for the ledger.
  std::vector<SharedBlock> TakeBlocks();
  // The parts of the state being fetched that have come since, for the store; empty between
  // fetches.
  StateParts TakeParts();
  // The members that sent a false part when they were asked, since the last call, and its state.
  std::vector<std::pair<PeerId, std::uint64_t>> TakeLiars();
  // Once after each fetch: the fetched state and the block that it follows, which is now view().
  std::optional<std::pair<SharedBlock, ModelState>> TakeState();
  // The next block, if nothing that its update needs is missing. It stays until Applied or until a
  // fetched state moves view().
  std::optional<Ready> Next() const;
  void Applied(SharedBlock block, ModelState state);

  const SharedBlock& view() const { return view_; }
  // The newest block that is believed; view() if none is newer.
  const SharedBlock& head() const { return head_; }
  // True iff view() is the newest block by the attestations of enough members.
  bool at_head() const { return confirmed_ && HeightOf(*view_) == HeightOf(*head_); }
  // Whether what it believes is one history: who catches up stops where it is not.
  const Histories& histories() const { return histories_; }
  std::string Describe() const;
  std::size_t unproven_count() const { return unproven_.size(); }
  void CheckInvariants() const;  // aborts if one of C1 to C4 is broken

 private:
  void Believe(SharedBlock block, const Digest& digest);
  void DescendFrom(std::uint64_t height);
  void CompareAt(std::uint64_t height, const Digest& digest);
  void CompareBelow(std::uint64_t height);
  std::uint64_t Floor() const;
  void PlanWay();
  bool PrefersKept(const Block& rooted) const;
  void StartFetch(std::uint64_t step, const Digest& root);
  std::optional<std::uint64_t> Gap() const;
  bool TakeResult(std::uint64_t step, std::uint64_t column, const SharedBlob& blob);
  void FinishFetch();
  // Requests are asked at `now`, and go to `out`.
  struct Round {
    base::Time now;
    std::vector<PeerId> others;  // that may be asked
    std::vector<Request> out;
  };
  void CloseWhatIsOver(std::optional<std::uint64_t> gap);
  // `hand_over`: after so long at most, one that is late goes to an idle member, too.
  void Ask(Round& round, const Requests::Key& key, const Requests::Wait& wait,
           std::optional<base::Duration> hand_over = std::nullopt);
  void AskBlocks(Round& round, std::uint64_t gap);
  void AskState(Round& round);
  void AskResults(Round& round);
  SharedBlock BlockAt(std::uint64_t height) const;
  SharedBlock BelievedAt(std::uint64_t height) const;

  const PeerId self_;
  const base::TensorLayout layout_;
  const Codec codec_;              // of results
  const base::Duration patience_;  // a request's and its answer's way
  SharedBlock view_;
  ModelState state_;
  bool trust_state_;
  SharedBlock head_;
  bool confirmed_ = false;  // enough members attested to head_

  Histories histories_;
  UnprovenBlocks unproven_;
  std::map<std::uint64_t, SharedBlock> chain_;  // by height, above view_: the run's blocks
  std::uint64_t reported_ = 0;                  // height up to which TakeBlocks has returned them
  std::optional<StateParts> kept_;  // until it is clear whether that state is fetched on
  std::optional<StateFetch> fetch_;
  StateParts fresh_;            // TakeParts
  std::uint64_t given_up_ = 0;  // states that were too old before they were whole
  std::optional<std::pair<SharedBlock, ModelState>> fetched_;
  std::map<std::uint64_t, std::vector<SharedBlob>> results_;  // by step, of the next few blocks
  std::vector<std::pair<PeerId, std::uint64_t>> liars_;       // TakeLiars
  Requests requests_;
};

}  // namespace ostraka::protocol
