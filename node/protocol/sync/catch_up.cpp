#include "node/protocol/sync/catch_up.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/reach.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {

using wire::PullKind;

namespace {

constexpr std::size_t kEntriesAMember = 4;
constexpr std::uint64_t kBlocksAhead = 4;  // results of this many blocks are fetched at once

std::uint32_t Vouchers(const Block& view) {
  if (base::Planted(base::Bug::kOneAttests)) return 1;
  return std::max(view.thresholds.t_s, view.thresholds.t_a) + 1;
}

// The longest that an honest member sends on a piece.
base::Duration TimeFor(const StatePiece& piece) {
  const auto bytes = static_cast<std::int64_t>((piece.end - piece.begin) * sizeof(float));
  return base::Nanoseconds(base::Seconds(1).ns / kSlowestBytesASecond * bytes);
}

// How many results a slow line brings in that time, of a block with so many columns.
std::size_t SmallResultsWithin(base::Duration time, std::uint64_t dimension, std::size_t columns) {
  if (columns == 0) return 0;
  const std::uint64_t bytes = dimension / columns * sizeof(float) + 1;
  const std::int64_t line = kSlowestBytesASecond / 1000 * time.ns / base::Milliseconds(1).ns;
  return static_cast<std::uint64_t>(line) / bytes;
}

}  // namespace

CatchUp::CatchUp(const PeerId& self, base::TensorLayout layout, SharedBlock view, ModelState state,
                 bool trust_state, base::Duration patience)
    : self_(self),
      layout_(std::move(layout)),
      pieces_(StatePieces(layout_, state.slots.size())),
      patience_(patience),
      view_(std::move(view)),
      state_(std::move(state)),
      trust_state_(trust_state),
      head_(view_),
      reported_(HeightOf(*view_)) {}

// --- head and chain -----------------------------------------------------------------------------

void CatchUp::OnAttest(const PeerId& sender, std::uint64_t step, const Digest& entry) {
  if (!IsMember(view_->members, sender)) return;
  auto& entries = attests_[sender];
  entries[step] = entry;
  if (entries.size() > kEntriesAMember) entries.erase(entries.begin());
  if (!confirmed_ && entry == wire::BlockDigest(*view_)) confirmed_ = IsAttested(entry);
  const auto block = unproven_.find(entry);
  if (block != unproven_.end() && IsAttested(entry)) Believe(BlockOf(block->second));
  CheckInvariants();
}

bool CatchUp::HasAttest(const PeerId& sender, std::uint64_t step, const Digest& entry) const {
  const auto entries = attests_.find(sender);
  if (entries == attests_.end()) return false;
  const auto held = entries->second.find(step);
  return held != entries->second.end() && held->second == entry;
}

bool CatchUp::IsAttested(const Digest& digest) const {
  std::uint32_t vouchers = 0;
  for (const auto& [member, entries] : attests_) {
    if (!IsMember(view_->members, member)) continue;
    for (const auto& [step, entry] : entries) {
      if (entry != digest) continue;
      ++vouchers;
      break;
    }
  }
  return vouchers >= Vouchers(*view_);
}

SharedBlock CatchUp::BlockOf(const Unproven& held) {
  auto block = wire::DecodeBlock(held.encoded->data);
  OSTRAKA_CHECK(block.ok());  // as when it came
  return std::make_shared<const Block>(*std::move(block));
}

CatchUp::Look CatchUp::LookAt(const PeerId& from, const Digest& digest) {
  const auto held = unproven_.find(digest);
  if (held != unproven_.end()) {
    held->second.from.insert(from);
    BoundUnprovenOf(from);
    return Look::kHeld;
  }
  // Once it is here, another one is named: a proof by attestations would let in copies of the head.
  const auto gap = Gap();
  return gap && BlockAt(*gap + 1)->previous == digest ? Look::kProven : Look::kNew;
}

void CatchUp::OnBlock(const PeerId& from, Block block, const SharedBlob& encoded) {
  if (HeightOf(block) <= Floor() || chain_.contains(HeightOf(block))) return;
  const Digest digest = wire::DigestOfBlock(encoded->data);
  auto shared = std::make_shared<const Block>(std::move(block));
  if (IsAttested(digest)) return Believe(std::move(shared));
  // A block that the believed one above names as its previous.
  const SharedBlock after = BlockAt(HeightOf(*shared) + 1);
  if (after != nullptr && after->previous == digest) return Believe(std::move(shared));
  const auto [held, fresh] =
      unproven_.try_emplace(digest, Unproven{HeightOf(*shared), encoded, {}});
  held->second.from.insert(from);
  BoundUnprovenOf(from);
}

// Drops the lowest blocks first: the newest is attested to soonest. A block that another member
// sent too stays on that member's account.
void CatchUp::BoundUnprovenOf(const PeerId& from) {
  while (true) {
    std::size_t count = 0;
    std::size_t bytes = 0;
    auto lowest = unproven_.end();
    for (auto it = unproven_.begin(); it != unproven_.end(); ++it) {
      if (!it->second.from.contains(from)) continue;
      ++count;
      bytes += it->second.encoded->data.size();
      if (lowest == unproven_.end() || it->second.height < lowest->second.height) lowest = it;
    }
    if (count <= kUnprovenBlocks && bytes <= kUnprovenBytes) return;
    lowest->second.from.erase(from);
    if (lowest->second.from.empty()) unproven_.erase(lowest);
  }
}

void CatchUp::Believe(SharedBlock block) {
  const std::uint64_t height = HeightOf(*block);
  if (height <= HeightOf(*view_)) return;
  if (height > HeightOf(*head_)) head_ = block;
  confirmed_ = true;
  chain_.emplace(height, std::move(block));
  DescendFrom(height);
  PlanWay();
  CheckInvariants();
}

// Believes unproven blocks below the one of `height`, which was just believed, as long as each
// names the next. (Any other block of the chain was the one believed last, once.)
void CatchUp::DescendFrom(std::uint64_t height) {
  for (; height - 1 > HeightOf(*view_) && !chain_.contains(height - 1); --height) {
    const auto proven = unproven_.find(BlockAt(height)->previous);
    if (proven == unproven_.end() || proven->second.height != height - 1) break;
    chain_.emplace(height - 1, BlockOf(proven->second));
  }
  std::erase_if(unproven_, [this](const auto& entry) {
    const std::uint64_t below = entry.second.height;
    return below <= HeightOf(*view_) || chain_.contains(below);
  });
}

// No block of that height or a lower one is of use any more: a state that follows it is here, or
// comes.
std::uint64_t CatchUp::Floor() const { return fetch_ ? fetch_->step : HeightOf(*view_); }

SharedBlock CatchUp::BlockAt(std::uint64_t height) const {
  const auto block = chain_.find(height);
  return block == chain_.end() ? nullptr : block->second;
}

// Over a long distance fetches the state of the newest sealed root, if the block before that state
// is known. [Members serve a state for a while only, and after the last block no later root
// comes.]
void CatchUp::PlanWay() {
  const std::uint64_t here = HeightOf(*view_);
  if (trust_state_ && HeightOf(*head_) - here <= kLongWay) return;
  for (auto it = chain_.rbegin(); it != chain_.rend(); ++it) {
    const Block& block = *it->second;
    if (!block.state_root) continue;
    // The state at the start of `step` follows the block of height `step`.
    const bool known = block.step == here || chain_.contains(block.step);
    if (block.step < here || !known || (trust_state_ && block.step == here)) return;
    const bool last = wire::RunIsOver(block) && fetch_ && fetch_->step < block.step;
    const bool newer = !fetch_ || fetch_->step + 2 * kLongWay < block.step;
    if (newer || last) StartFetch(block.step, *block.state_root);
    return;
  }
}

void CatchUp::StartFetch(std::uint64_t step, const Digest& root) {
  std::erase_if(open_, [](const auto& entry) { return entry.first.kind == PullKind::kState; });
  const std::uint64_t dimension = base::ElementCount(layout_);
  fetch_ = Fetch{.step = step,
                 .root = root,
                 .leaves = {},
                 .have = std::vector<bool>(pieces_.size(), false),
                 .left = pieces_.size(),
                 .vectors = {}};
  for (std::size_t k = 0; k <= state_.slots.size(); ++k) {
    fetch_->vectors.push_back(std::make_shared<std::vector<float>>(dimension));
  }
  chain_.erase(chain_.begin(), chain_.lower_bound(step));
}

// --- state --------------------------------------------------------------------------------------

void CatchUp::OnState(const PeerId& from, const wire::Slot& slot, const wire::Chunk& chunk,
                      const SharedBlob& blob) {
  if (!fetch_ || slot.step != fetch_->step || chunk.index > pieces_.size()) return;
  const Key key = {PullKind::kState, slot.step, chunk.index};
  if (!TakePiece(chunk.index, *blob)) return Refute(key, from);
  open_.erase(key);
  // Members send one piece after the other.
  for (auto& [other, open] : open_) open.sending = open.sending || open.to == from;
  if (fetch_->left == 0) FinishFetch();
}

// True if it is a piece that was lacking; 0: the leaves.
bool CatchUp::TakePiece(std::uint64_t index, const crypto::Blob& blob) {
  if (blob.data.empty()) return false;
  if (index == 0) {
    if (!fetch_->leaves.empty() || blob.data.size() % sizeof(Digest) != 0) return false;
    std::vector<Digest> leaves(blob.data.size() / sizeof(Digest));
    std::memcpy(leaves.data(), blob.data.data(), blob.data.size());
    if (StateRootOf(leaves, layout_, SlotNamesOf(state_)) != fetch_->root) return false;
    fetch_->leaves = std::move(leaves);
    return true;
  }
  const std::size_t at = index - 1;
  const StatePiece& piece = pieces_[at];
  if (fetch_->have[at] || !PieceMatches(piece, blob.data, fetch_->leaves)) return false;
  std::vector<float>& into = *fetch_->vectors[piece.vector];
  std::memcpy(into.data() + piece.begin, blob.data.data(), blob.data.size());
  fetch_->have[at] = true;
  --fetch_->left;
  return true;
}

void CatchUp::FinishFetch() {
  if (fetch_->step != HeightOf(*view_)) view_ = BlockAt(fetch_->step);
  trust_state_ = true;
  state_.parameters = fetch_->vectors[0];
  for (std::size_t k = 0; k < state_.slots.size(); ++k) {
    state_.slots[k].values = fetch_->vectors[k + 1];
  }
  fetched_ = {view_, state_};
  fetch_.reset();
  chain_.erase(chain_.begin(), chain_.upper_bound(HeightOf(*view_)));
  results_.clear();
  CheckInvariants();
}

// --- results ------------------------------------------------------------------------------------

void CatchUp::OnResult(const PeerId& from, std::uint64_t step, std::uint64_t column,
                       const SharedBlob& blob) {
  const Key key = {PullKind::kResult, step, column};
  if (!TakeResult(step, column, blob)) return Refute(key, from);
  open_.erase(key);
  CheckInvariants();
}

bool CatchUp::TakeResult(std::uint64_t step, std::uint64_t column, const SharedBlob& blob) {
  const SharedBlock block = BlockAt(step + 1);
  if (block == nullptr || column >= block->columns.size()) return false;
  if (step + 1 > HeightOf(*view_) + kBlocksAhead) return false;
  if (block->columns[column] != wire::ColumnFate::kApplied) return false;
  const auto ranges =
      CutParts(base::ElementCount(layout_), static_cast<std::uint32_t>(block->columns.size()));
  if (blob->root != block->result_roots[column]) return false;
  if (!HoldsFiniteFloats(*blob, ranges[column].size())) return false;
  auto& held = results_[step];
  held.resize(block->columns.size());
  held[column] = blob;
  return true;
}

// `from` answered the request with something else.
void CatchUp::Refute(const Key& key, const PeerId& from) {
  const auto open = open_.find(key);
  if (open != open_.end() && open->second.to == from) open->second.refuted = true;
}

std::optional<CatchUp::Ready> CatchUp::Next() const {
  const SharedBlock next = BlockAt(HeightOf(*view_) + 1);
  if (next == nullptr || fetch_ || !trust_state_) return std::nullopt;
  Ready ready{next, std::vector<SharedBlob>(next->columns.size())};
  const auto held = results_.find(next->step);
  for (std::size_t j = 0; j < next->columns.size(); ++j) {
    if (next->columns[j] != wire::ColumnFate::kApplied) continue;
    if (held == results_.end() || held->second[j] == nullptr) return std::nullopt;
    ready.results[j] = held->second[j];
  }
  return ready;
}

void CatchUp::Applied(SharedBlock block, ModelState state) {
  if (HeightOf(*block) != HeightOf(*view_) + 1) return;  // a fetched state came meanwhile
  view_ = std::move(block);
  state_ = std::move(state);
  chain_.erase(chain_.begin(), chain_.upper_bound(HeightOf(*view_)));
  results_.erase(results_.begin(), results_.upper_bound(view_->step));
  CheckInvariants();
}

std::vector<SharedBlock> CatchUp::TakeBlocks() {
  std::vector<SharedBlock> blocks;
  // Only once the chain is complete down to view().
  if (chain_.empty() || chain_.begin()->first != HeightOf(*view_) + 1) return blocks;
  for (const auto& [height, block] : chain_) {
    if (height != chain_.begin()->first + blocks.size()) break;
    blocks.push_back(block);
  }
  std::erase_if(blocks, [this](const SharedBlock& b) { return HeightOf(*b) <= reported_; });
  if (!blocks.empty()) reported_ = HeightOf(*blocks.back());
  return blocks;
}

std::optional<std::pair<SharedBlock, ModelState>> CatchUp::TakeState() {
  return std::exchange(fetched_, std::nullopt);
}

// --- asking -------------------------------------------------------------------------------------

std::vector<PeerId> CatchUp::Willing(base::Time now) {
  std::vector<PeerId> others = LinkableIn(*head_, self_);
  std::erase(others, self_);
  std::erase_if(shunned_, [now](const auto& one) { return one.second <= now; });
  std::vector<PeerId> willing;
  for (const PeerId& peer : others) {
    if (!shunned_.contains(peer)) willing.push_back(peer);
  }
  return willing.empty() ? others : willing;
}

// The next turn of the member that is asked for the fewest pieces.
std::size_t CatchUp::TurnOfLeastAsked(base::Time now) {
  const std::vector<PeerId> willing = Willing(now);
  std::size_t best = turn_;
  std::size_t fewest = SIZE_MAX;
  for (std::size_t turn = turn_; turn < turn_ + willing.size(); ++turn) {
    const PeerId& member = willing[turn % willing.size()];
    const auto asked =
        static_cast<std::size_t>(std::count_if(open_.begin(), open_.end(), [&](const auto& one) {
          return one.first.IsPiece() && one.second.to == member;
        }));
    if (asked < fewest) best = turn;
    fewest = std::min(fewest, asked);
  }
  turn_ = best + 1;
  return best;
}

std::size_t CatchUp::OpenOf(PullKind kind) const {
  return static_cast<std::size_t>(std::count_if(
      open_.begin(), open_.end(), [&](const auto& one) { return one.first.kind == kind; }));
}

void CatchUp::Ask(base::Time now, const Key& key, const wire::Pull& pull,
                  std::vector<Request>& out) {
  const auto open = open_.find(key);
  const base::Duration patience =
      key.IsPiece() ? patience_ + TimeFor(pieces_[key.index - 1]) : patience_;
  if (open != open_.end() && key.IsPiece() && open->second.sending) open->second.asked = now;
  if (open != open_.end() && !open->second.refuted && now < open->second.asked + patience) {
    open->second.sending = false;
    wake_ = std::min(wake_.value_or(open->second.asked + patience), open->second.asked + patience);
    return;
  }
  // A question to follow is asked again and again, whether it was answered or not.
  const bool answerable = key.kind != PullKind::kHead;
  if (open != open_.end() && answerable) shunned_[open->second.to] = now + patience_ * kShunned;
  // Each request has its own round of all members: with one common round, requests that time out
  // together could meet one silent member for ever.
  Open& entry = open == open_.end() ? open_[key] : open->second;
  if (open != open_.end()) {
    ++entry.turn;
  } else {
    entry.turn = key.IsPiece() ? TurnOfLeastAsked(now) : turn_++;
  }
  const std::vector<PeerId> willing = Willing(now);
  entry.asked = now;
  entry.to = willing.empty() ? self_ : willing[entry.turn % willing.size()];
  entry.refuted = false;
  entry.sending = false;
  wake_ = std::min(wake_.value_or(now + patience), now + patience);
  out.push_back({entry.to, key.step,
                 key.kind == PullKind::kResult ? wire::Phase::kA : wire::Phase::kC, pull});
}

// One answer brings many blocks, newest first, so only one request for blocks is open at a time.
// Rationale: a further request for each block that came brought all the others once more.
void CatchUp::AskBlocks(base::Time now, std::uint64_t gap, std::vector<Request>& out) {
  const Key from_gap = {PullKind::kBlock, gap - 1, 0};
  auto open = std::find_if(open_.begin(), open_.end(),
                           [](const auto& entry) { return entry.first.kind == PullKind::kBlock; });
  if (open != open_.end() && now >= open->second.asked + patience_) {
    auto node = open_.extract(open);  // ask the next member of its round for what is left
    node.key() = from_gap;
    open = open_.insert(std::move(node)).position;
  }
  Ask(now, open == open_.end() ? from_gap : open->first,
      {.kind = PullKind::kBlock, .index = kMaxBlocksAnAnswer}, out);
}

// The highest block that the chain lacks.
std::optional<std::uint64_t> CatchUp::Gap() const {
  for (auto it = chain_.rbegin(); it != chain_.rend(); ++it) {
    const std::uint64_t below = it->first - 1;
    if (below > Floor() && !chain_.contains(below)) return below;
  }
  return std::nullopt;
}

// As a question to follow, which is answered with the head too: a member that forgot this follower
// or restarted knows it again within a round.
void CatchUp::AskHead(base::Time now, std::vector<Request>& out) {
  const std::size_t before = out.size();
  Ask(now, {PullKind::kHead, 0, 0}, {.kind = PullKind::kFollow}, out);
  if (out.size() > before) out.back().step = HeightOf(*view_);  // "I have as much"
}

std::vector<CatchUp::Request> CatchUp::Wants(base::Time now) {
  std::vector<Request> out;
  wake_.reset();
  const std::optional<std::uint64_t> gap = Gap();
  // Close requests whose answer is not needed any more. While a state is fetched no results are
  // needed, as catching up continues from that state.
  std::erase_if(open_, [&](const auto& entry) {
    const Key& key = entry.first;
    return (key.kind == PullKind::kResult && (key.step + 1 <= HeightOf(*view_) || fetch_)) ||
           (key.kind == PullKind::kBlock && !(gap && key.AsksFor(*gap)));
  });
  AskHead(now, out);
  if (gap) AskBlocks(now, *gap, out);
  if (fetch_) {
    if (fetch_->leaves.empty()) {
      Ask(now, {PullKind::kState, fetch_->step, 0}, {.kind = PullKind::kState, .index = 0}, out);
      return out;
    }
    const std::size_t most = std::min(kPieceRequests, kPiecesAMember * Willing(now).size());
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Key key = {PullKind::kState, fetch_->step, i + 1};
      if (fetch_->have[i]) continue;
      if (!open_.contains(key) && OpenOf(PullKind::kState) >= most) continue;
      Ask(now, key, {.kind = PullKind::kState, .index = i + 1}, out);
    }
    CheckInvariants();
    return out;
  }
  const SharedBlock next = BlockAt(HeightOf(*view_) + 1);
  const std::size_t columns = next == nullptr ? 0 : next->columns.size();
  const std::size_t most_results =
      std::max(kBulkRequests,
               std::min({kSmallRequests, kPiecesAMember * Willing(now).size(),
                         SmallResultsWithin(patience_, base::ElementCount(layout_), columns)}));
  for (std::uint64_t height = HeightOf(*view_) + 1; height <= HeightOf(*view_) + kBlocksAhead;
       ++height) {
    const SharedBlock block = BlockAt(height);
    if (block == nullptr) break;
    const auto held = results_.find(block->step);
    for (std::size_t j = 0; j < block->columns.size(); ++j) {
      if (block->columns[j] != wire::ColumnFate::kApplied) continue;
      if (held != results_.end() && held->second[j] != nullptr) continue;
      const Key key = {PullKind::kResult, block->step, j};
      if (!open_.contains(key) && OpenOf(PullKind::kResult) >= most_results) continue;
      Ask(now, key, {.kind = PullKind::kResult, .index = j}, out);
    }
  }
  CheckInvariants();
  return out;
}

void CatchUp::CheckInvariants() const {
  OSTRAKA_CHECK(HeightOf(*view_) <= HeightOf(*head_));
  OSTRAKA_CHECK(chain_.empty() || chain_.begin()->first > HeightOf(*view_));
  OSTRAKA_CHECK(!fetch_ || chain_.empty() || chain_.begin()->first >= fetch_->step);
  OSTRAKA_CHECK(chain_.empty() || chain_.rbegin()->first <= HeightOf(*head_));
  OSTRAKA_CHECK(open_.size() <= kMaxRequests);
  OSTRAKA_CHECK(OpenOf(PullKind::kState) <= kPieceRequests);
  OSTRAKA_CHECK(OpenOf(PullKind::kResult) <= kSmallRequests);
  OSTRAKA_CHECK(results_.size() <= kBlocksAhead);
}

std::string CatchUp::Describe() const {
  const std::string way =
      "at block " + std::to_string(HeightOf(*view_)) + " of " + std::to_string(HeightOf(*head_));
  if (!fetch_) return way;
  return way + ", " + std::to_string(pieces_.size() - fetch_->left) + " of " +
         std::to_string(pieces_.size()) + " pieces of the state of step " +
         std::to_string(fetch_->step);
}

}  // namespace ostraka::protocol
