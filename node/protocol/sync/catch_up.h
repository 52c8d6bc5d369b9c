// CatchUp brings a member that was away from the last block it knows (view()) to the newest block,
// with the help of members any of which may lie (docs/protocol.md, 7).
//
//   head      a block is believed once max(t_s, t_a) + 1 members of view() have signed COMMITs of
//             the next step, which name its digest as their parent: one of them is honest
//   chain     older blocks, newest first: each names the digest of the one before
//   state     if the distance is long: the newest state with a sealed root, in pieces that prove
//             themselves (state.h), from several members at once
//   results   the aggregates of each block from there on, by the roots in the block
//
// Promises [C: CHECKed by CheckInvariants after each change]:
//   C1  HeightOf(view()) <= HeightOf(head()); view() never goes back. [C: the first half]
//   C2  Every block of the chain is above view() and not above head(), and while a state is fetched
//       not below the block that the state follows. [C]
//   C3  At most kMaxRequests requests are open, at most kPieceRequests of them for pieces of the
//       state; for results kBulkRequests, or as many as come over a slow line before they are asked
//       for again, at most two a member. [Six at a time, over a line of some hundred ms, brought
//       blocks of eight columns more slowly than eight fast members made them, and a newcomer was
//       never at the head.] The other two are for the head and for blocks.
//       Rationale: results that no member holds any more would otherwise keep this member from
//       learning of a newer state, which makes them superfluous. [C] A first question for a piece
//       goes to the member that is asked for the fewest, at most kPiecesAMember a member.
//       [Six questions at a time to one donor, each asked again before it could be answered, were
//       asked faster than the donor sent.]
//   C4  Results are held of at most kBlocksAhead blocks. [C]
//   C5  With at most t_s (t_a) faulty members, each block, state and result that it returns is the
//       run's, and it gets to the head while honest members answer and its link brings a state
//       within 2 kLongWay steps.
//   C6  Of each sender at most kUnprovenBlocks blocks, of kUnprovenBytes in all, are held that are
//       not believed yet, as they came. One limit for all senders together would let a liar push
//       out the true head. [Decoded, a block takes up to 80 times as much: three liars filled
//       400 MB.]
//
// May not know: links, keys, jobs, stores. It plans and checks. The caller sends the requests
// of Wants(), hands in the answers, runs the updates and calls Applied().
//
// Memory: the blocks of C6; the blocks of the chain, which are those from the newest sealed root on
// (without one: of the whole way) and one answer more; one state being fetched; and results of
// kBlocksAhead blocks.
//
// What an attacker can do here: no answer is believed for its sender. A false one of the member
// that was asked moves the request on to the next member; of any other member it changes nothing
// [it closed the request once, and each false chunk had the next member send the piece again]. A
// member can attest to false heads, of which at most kEntriesAMember are kept, and can answer
// slowly: each request then moves on to the next member after `patience` (one for a piece after as
// long as a slow line takes, too), and no other one goes to it for a while. It can hold one piece
// back as long as it sends others.
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
#include "node/protocol/ground/hash_into.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/ground/state.h"
#include "node/wire/limits.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

using crypto::SharedBlob;
using SharedBlock = std::shared_ptr<const Block>;

inline constexpr std::size_t kBulkRequests = 6;   // for results, however large they are
inline constexpr std::size_t kPiecesAMember = 2;  // so that its line is busy while a question goes
inline constexpr std::size_t kPieceRequests = 8 * kPiecesAMember;
inline constexpr std::size_t kSmallRequests =
    2 * wire::kMaxPeers;  // for results, if they are small
inline constexpr std::size_t kMaxRequests = kSmallRequests + 2;
// A member that sends pieces at this pace or faster is not taken to be silent.
inline constexpr std::int64_t kSlowestBytesASecond = 256 * 1024;
inline constexpr std::size_t kMaxBlocksAnAnswer = 32;
inline constexpr std::size_t kUnprovenBlocks = 2 * kMaxBlocksAnAnswer;
inline constexpr std::size_t kUnprovenBytes = wire::kMaxBlockBytes;
// Over a longer distance a state is fetched: members keep the results of a few steps only.
inline constexpr std::uint64_t kLongWay = 8;

// 0 for genesis, else step + 1.
inline std::uint64_t HeightOf(const Block& block) { return block.genesis ? 0 : block.step + 1; }

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
  // first over any distance. `patience`: how long to wait for an answer.
  CatchUp(const PeerId& self, base::TensorLayout layout, SharedBlock view, ModelState state,
          bool trust_state, base::Duration patience);
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, view_, state_, trust_state_, head_, confirmed_, attests_, unproven_,
                 chain_, reported_, fetch_, fetched_, results_, open_, turn_, shunned_, wake_);
  }
  friend struct FingerprintProbe;

  // --- answers; any content is safe ---
  // `sender` signed a COMMIT of `step`, which names `entry` as its parent. REQUIRES: the
  // signature is verified.
  void OnAttest(const PeerId& sender, std::uint64_t step, const Digest& entry);
  // True iff this attestation is held already, so that its signature need not be verified again.
  bool HasAttest(const PeerId& sender, std::uint64_t step, const Digest& entry) const;
  // Whether a block of that digest has to be decoded. kHeld: no, and it is noted that `from` sent
  // it, too. kProven: yes, and it is believed then. kNew: anything may be in it.
  enum class Look : std::uint8_t { kHeld, kProven, kNew };
  Look LookAt(const PeerId& from, const Digest& digest);
  // `from` sent `block` as `encoded`. REQUIRES: DecodeBlock gave the one for the other.
  void OnBlock(const PeerId& from, Block block, const SharedBlob& encoded);
  void OnState(const PeerId& from, const wire::Slot& slot, const wire::Chunk& chunk,
               const SharedBlob& blob);
  void OnResult(const PeerId& from, std::uint64_t step, std::uint64_t column,
                const SharedBlob& blob);

  // The requests to send now. Call again after every answer and at wake().
  std::vector<Request> Wants(base::Time now);
  std::optional<base::Time> wake() const { return wake_; }

  // --- progress ---
  // Blocks that are newly known to be the run's, oldest first, for the ledger.
  std::vector<SharedBlock> TakeBlocks();
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
  std::string Describe() const;
  std::size_t unproven_count() const { return unproven_.size(); }
  void CheckInvariants() const;  // aborts if one of C1 to C4 is broken

 private:
  struct Unproven {
    std::uint64_t height = 0;
    SharedBlob encoded;
    std::set<PeerId> from;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, height, encoded, from); }
  };
  struct Fetch {  // the state at the start of `step`, being fetched
    std::uint64_t step = 0;
    Digest root;
    std::vector<Digest> leaves;                                // empty until they have come
    std::vector<bool> have;                                    // by piece
    std::size_t left = 0;                                      // pieces that have not come
    std::vector<std::shared_ptr<std::vector<float>>> vectors;  // parameters, then the slots
    // Each piece that is in place was checked against its leaf, and the leaves against the root.
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, step, root, leaves.size(), have, left);
      for (const auto& vector : vectors) crypto::Feed(hasher, vector != nullptr);
    }
  };
  struct Key {
    wire::PullKind kind = wire::PullKind::kHead;
    std::uint64_t step = 0;
    std::uint64_t index = 0;
    auto operator<=>(const Key&) const = default;
    bool IsPiece() const { return kind == wire::PullKind::kState && index > 0; }
    // A request for blocks: its answer includes the block of `height`.
    bool AsksFor(std::uint64_t height) const {
      return height <= step + 1 && height + kMaxBlocksAnAnswer > step + 1;
    }
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, kind, step, index); }
  };
  struct Open {
    base::Time asked;      // or when that member sent another piece
    std::size_t turn = 0;  // picks the member to ask (Willing)
    PeerId to;             // the member that was asked
    bool refuted = false;  // its answer was false: the next one is asked at once
    bool sending = false;  // it sent another piece since the last Wants, so this one is on its way
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, asked, turn, to, refuted, sending);
    }
  };

  bool IsAttested(const Digest& digest) const;
  static SharedBlock BlockOf(const Unproven& held);
  void Believe(SharedBlock block);
  void DescendFrom(std::uint64_t height);
  std::uint64_t Floor() const;
  void BoundUnprovenOf(const PeerId& from);
  void PlanWay();
  void StartFetch(std::uint64_t step, const Digest& root);
  std::optional<std::uint64_t> Gap() const;
  bool TakePiece(std::uint64_t index, const crypto::Blob& blob);
  bool TakeResult(std::uint64_t step, std::uint64_t column, const SharedBlob& blob);
  void FinishFetch();
  void Refute(const Key& key, const PeerId& from);
  std::size_t OpenOf(wire::PullKind kind) const;
  void AskHead(base::Time now, std::vector<Request>& out);
  void AskBlocks(base::Time now, std::uint64_t gap, std::vector<Request>& out);
  void Ask(base::Time now, const Key& key, const wire::Pull& pull, std::vector<Request>& out);
  // Not one without a path to this member, nor one that let a request time out or answered falsely
  // lately, as long as there are others: each in vain costs `patience`. [Where that is longer than
  // some steps, one silent member kept a newcomer from ever being at the head.]
  std::vector<PeerId> Willing(base::Time now);
  std::size_t TurnOfLeastAsked(base::Time now);
  static constexpr std::int64_t kShunned = 16;  // times `patience`
  SharedBlock BlockAt(std::uint64_t height) const;

  const PeerId self_;
  const base::TensorLayout layout_;
  const std::vector<StatePiece> pieces_;
  const base::Duration patience_;
  SharedBlock view_;
  ModelState state_;
  bool trust_state_;
  SharedBlock head_;
  bool confirmed_ = false;  // enough members attested to head_

  // member -> step -> parent, of its attestations of the highest kEntriesAMember steps.
  std::map<PeerId, std::map<std::uint64_t, Digest>> attests_;
  std::map<Digest, Unproven> unproven_;
  std::map<std::uint64_t, SharedBlock> chain_;  // by height, above view_: the run's blocks
  std::uint64_t reported_ = 0;                  // height up to which TakeBlocks has returned them
  std::optional<Fetch> fetch_;
  std::optional<std::pair<SharedBlock, ModelState>> fetched_;
  std::map<std::uint64_t, std::vector<SharedBlob>> results_;  // by step, of the next few blocks
  std::map<Key, Open> open_;
  std::size_t turn_ = 0;                  // of the next new request
  std::map<PeerId, base::Time> shunned_;  // until then: members that were silent or lied
  std::optional<base::Time> wake_;
};

}  // namespace ostraka::protocol
