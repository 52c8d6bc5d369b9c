#include "node/protocol/sync/catch_up.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/reach.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {

using wire::PullKind;

namespace {

constexpr std::uint64_t kBlocksAhead = 4;  // results of this many blocks are fetched at once

// The longest that a member takes to send so many bytes that is not taken to be silent.
base::Duration TimeFor(std::uint64_t bytes) {
  return base::Nanoseconds(base::Seconds(1).ns / 1000 * static_cast<std::int64_t>(bytes) /
                           (kSlowestBytesASecond / 1000));
}

// How many results of so many bytes a slow line brings in that time.
std::uint64_t SmallResultsWithin(base::Duration time, std::uint64_t bytes) {
  const std::int64_t line = kSlowestBytesASecond / 1000 * time.ns / base::Milliseconds(1).ns;
  return static_cast<std::uint64_t>(line) / (bytes + 1);
}

// For what all else waits for: it moves on early. Where a member is merely far away that costs one
// answer more, of few bytes.
Requests::Wait Soon(base::Duration patience) {
  return {base::Duration{patience.ns / 4}, /*blames=*/false, /*at_most=*/patience};
}

// `here` is the asker's height.
CatchUp::Request RequestOf(const PeerId& to, const Requests::Key& key, std::uint64_t here) {
  switch (key.kind) {
    case PullKind::kHead:  // "I have as much"
      return {to, here, wire::Phase::kC, {.kind = PullKind::kFollow}};
    case PullKind::kBlock:
      return {to, key.step, wire::Phase::kC, {.kind = key.kind, .index = kMaxBlocksAnAnswer}};
    case PullKind::kResult:
      return {to, key.step, wire::Phase::kA, {.kind = key.kind, .index = key.index}};
    default:
      return {to, key.step, wire::Phase::kC, {.kind = key.kind, .index = key.index}};
  }
}

// For the one block of `height`.
CatchUp::Request QuestionOf(const PeerId& to, std::uint64_t height) {
  const wire::Pull one{.kind = PullKind::kBlock, .index = 1};
  if (height == 0) return {to, 0, wire::Phase::kGenesis, one};
  return {to, height - 1, wire::Phase::kC, one};
}

// The lowest block that is connected with the one of `height` by blocks of `chain`.
std::uint64_t LowestConnected(const std::map<std::uint64_t, SharedBlock>& chain,
                              std::uint64_t height) {
  while (chain.contains(height - 1)) --height;
  return height;
}

}  // namespace

CatchUp::CatchUp(const PeerId& self, base::TensorLayout layout, Codec codec, SharedBlock view,
                 ModelState state, bool trust_state, base::Duration patience,
                 std::optional<StateParts> kept)
    : self_(self),
      layout_(std::move(layout)),
      codec_(codec),
      patience_(patience),
      view_(std::move(view)),
      state_(std::move(state)),
      trust_state_(trust_state),
      head_(view_),
      histories_(patience),
      reported_(HeightOf(*view_)),
      kept_(std::move(kept)),
      requests_(patience) {}

// --- head and chain -----------------------------------------------------------------------------

void CatchUp::OnAttest(const PeerId& sender, std::uint64_t step, const Digest& entry) {
  if (!IsMember(view_->members, sender)) return;
  if (confirmed_ && base::Planted(base::Bug::kFirstHeadIsLast)) return;
  // The parent of a step has the height of the step's number.
  if (histories_.OnAttest(sender, step, entry)) CompareAt(step, entry);
  if (!confirmed_ && entry == wire::BlockDigest(*view_)) {
    confirmed_ = histories_.IsAttested(*view_, entry);
  }
  if (unproven_.Contains(entry) && histories_.IsAttested(*view_, entry)) {
    Believe(unproven_.Find(entry), entry);
  }
  CheckInvariants();
}

// C7: a member names that block as the one of `height`.
void CatchUp::CompareAt(std::uint64_t height, const Digest& digest) {
  const SharedBlock known = BelievedAt(height);
  const bool is_believed = histories_.CompareParents(*view_, height, digest, known.get());
  if (!is_believed || known != nullptr) return;
  // Members attest late to a block before the state that is being fetched; or it is of another
  // history. Attack: many such blocks, of which each is asked about.
  const bool is_left_out = height > HeightOf(*view_) && height <= Floor();
  if (is_left_out && histories_.HasRoom()) histories_.KeepLandmark(view_, height, digest);
}

CatchUp::Look CatchUp::LookAt(const PeerId& from, const Digest& digest) {
  const std::optional<std::uint64_t> held = unproven_.AddSender(from, digest);
  if (held) histories_.OnBlock(from, *held, digest);  // it may be an answer all the same
  if (held || histories_.OnLandmark(from, digest)) return Look::kHeld;
  // Once it is here, another one is named: a proof by attestations would let in copies of the head.
  const auto gap = Gap();
  return gap && BlockAt(*gap + 1)->previous == digest ? Look::kProven : Look::kNew;
}

void CatchUp::OnBlock(const PeerId& from, Block block, const SharedBlob& encoded) {
  const bool is_past = HeightOf(block) <= Floor() || chain_.contains(HeightOf(block));
  if (is_past && !histories_.HasLandmarkAt(HeightOf(block))) return;
  const Digest digest = wire::DigestOfBlock(encoded->data);
  histories_.OnBlock(from, HeightOf(block), digest);
  if (is_past) return;
  auto shared = std::make_shared<const Block>(std::move(block));
  // A block that the believed one above names as its previous is one, too.
  const SharedBlock after = BlockAt(HeightOf(*shared) + 1);
  if (histories_.IsAttested(*view_, digest) || (after != nullptr && after->previous == digest)) {
    requests_.OnPartOfAnswer(from);
    return Believe(std::move(shared), digest);
  }
  unproven_.Add(from, digest, HeightOf(*shared), encoded);
}

void CatchUp::Trust(SharedBlock block) {
  const Digest digest = wire::BlockDigest(*block);
  Believe(std::move(block), digest);
}

void CatchUp::Believe(SharedBlock block, const Digest& digest) {
  const std::uint64_t height = HeightOf(*block);
  if (height <= Floor()) return;
  const SharedBlock above = BlockAt(height + 1);
  if (above != nullptr && above->previous != digest) {
    histories_.FindLink(*view_, height, digest, above->previous, wire::BlockDigest(*above));
  }
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
  for (; height - 1 > Floor() && !chain_.contains(height - 1); --height) {
    SharedBlock below = unproven_.Find(BlockAt(height)->previous);
    if (below == nullptr || HeightOf(*below) != height - 1) break;
    chain_.emplace(height - 1, std::move(below));
  }
  CompareBelow(height);
  unproven_.EraseIf(
      [this](std::uint64_t below) { return below <= HeightOf(*view_) || chain_.contains(below); });
}

// C7: the block of `height` names the believed one below it.
void CatchUp::CompareBelow(std::uint64_t height) {
  const SharedBlock below = BelievedAt(height - 1);
  if (below == nullptr) return;
  const Digest digest = wire::BlockDigest(*below);
  if (digest == BlockAt(height)->previous) return;
  std::uint64_t top = height;
  while (chain_.contains(top + 1)) ++top;
  histories_.FindLink(*view_, height - 1, digest, BlockAt(height)->previous,
                      wire::BlockDigest(*BlockAt(top)));
}

// No block of that height or a lower one is of use any more: a state that follows it is here, or
// comes.
std::uint64_t CatchUp::Floor() const { return fetch_ ? fetch_->step() : HeightOf(*view_); }

SharedBlock CatchUp::BlockAt(std::uint64_t height) const {
  const auto block = chain_.find(height);
  return block == chain_.end() ? nullptr : block->second;
}

SharedBlock CatchUp::BelievedAt(std::uint64_t height) const {
  // A node that knows only the manifest stands before the genesis block, whose height is 0 as well.
  const bool is_begun = !view_->decision.is_zero();
  return height == HeightOf(*view_) && is_begun ? view_ : BlockAt(height);
}

// Over a long distance fetches the state of the newest sealed root, if the block before that state
// is known. [Members serve a state for a while only, and after the last block no later root
// comes.]
void CatchUp::PlanWay() {
  const std::uint64_t here = HeightOf(*view_);
  if (trust_state_ && HeightOf(*head_) - here <= kLongWay) return;
  for (auto it = chain_.rbegin(); it != chain_.rend(); ++it) {
    const Block& block = *it->second;
    if (!block.state_root || PrefersKept(block)) continue;
    // The state at the start of `step` follows the block of height `step`.
    const bool known = block.step == here || chain_.contains(block.step);
    if (block.step < here || !known || (trust_state_ && block.step == here)) return;
    const bool last = wire::RunIsOver(block) && fetch_ && fetch_->step() < block.step;
    const bool newer = !fetch_ || fetch_->step() + 2 * kLongWay < block.step;
    if (newer && fetch_) ++given_up_;
    if (newer || last) StartFetch(block.step, *block.state_root);
    return;
  }
}

// C6: whether the kept state is taken rather than this newer one, as if it were being fetched
// already.
bool CatchUp::PrefersKept(const Block& rooted) const {
  if (!kept_ || fetch_ || wire::RunIsOver(*head_)) return false;
  const bool served = kept_->step < rooted.step && rooted.step <= kept_->step + 2 * kLongWay;
  if (!served || kept_->step < HeightOf(*view_)) return false;
  const SharedBlock of_kept = BlockAt(kept_->step + 1);
  return of_kept == nullptr || of_kept->state_root;  // the chain goes on down to it
}

void CatchUp::StartFetch(std::uint64_t step, const Digest& root) {
  requests_.CloseIf([](const Requests::Key& key) { return key.kind == PullKind::kState; });
  const std::uint64_t lowest = LowestConnected(chain_, step);
  if (lowest > HeightOf(*view_) + 1) {
    const auto above = chain_.lower_bound(lowest);
    histories_.KeepLandmark(view_, BelievedAt(HeightOf(*view_)));  // null before the genesis block
    histories_.KeepLandmark(view_, above == chain_.begin() ? nullptr : std::prev(above)->second);
  }
  fetch_.emplace(step, root, layout_, SlotNamesOf(state_));
  fresh_ = {step, {}};
  const auto kept = std::exchange(kept_, std::nullopt);
  if (kept && kept->step == step) {
    for (const auto& [part, blob] : kept->parts) fetch_->Take(part, *blob);
  }
  chain_.erase(chain_.begin(), chain_.lower_bound(step));
  if (fetch_->left() == 0) FinishFetch();
}

// --- state --------------------------------------------------------------------------------------

void CatchUp::OnState(const PeerId& from, const wire::Slot& slot, const wire::Chunk& chunk,
                      const SharedBlob& blob) {
  const Requests::Key key = {PullKind::kState, slot.step, chunk.index};
  const bool is_over = !fetch_ || slot.step != fetch_->step();
  if (is_over) return requests_.OnAnswerAgain(key, from);  // late, or nobody asked for it
  if (chunk.index > fetch_->piece_count()) return;
  if (!fetch_->Lacks(chunk.index)) return requests_.OnAnswerAgain(key, from);
  if (!fetch_->Take(chunk.index, *blob)) {
    if (requests_.OnFalseAnswer(key, from)) liars_.emplace_back(from, slot.step);
    return;
  }
  requests_.OnAnswer(key, from);
  fresh_.parts.emplace(chunk.index, blob);
  if (fetch_->left() == 0) FinishFetch();
}

void CatchUp::FinishFetch() {
  if (fetch_->step() != HeightOf(*view_)) view_ = BlockAt(fetch_->step());
  trust_state_ = true;
  state_ = fetch_->Finish();
  fetched_ = {view_, state_};
  fetch_.reset();
  fresh_ = {};
  chain_.erase(chain_.begin(), chain_.upper_bound(HeightOf(*view_)));
  results_.clear();
  CheckInvariants();
}

StateParts CatchUp::TakeParts() { return std::exchange(fresh_, {fresh_.step, {}}); }

std::vector<std::pair<PeerId, std::uint64_t>> CatchUp::TakeLiars() {
  return std::exchange(liars_, {});
}

// --- results ------------------------------------------------------------------------------------

void CatchUp::OnResult(const PeerId& from, std::uint64_t step, std::uint64_t column,
                       const SharedBlob& blob) {
  const Requests::Key key = {PullKind::kResult, step, column};
  const auto held = results_.find(step);
  if (step + 1 <= HeightOf(*view_)) return requests_.OnAnswerAgain(key, from);  // late
  // Attack: a copy of what is here, again and again, seems to be work.
  if (held != results_.end() && column < held->second.size() && held->second[column] != nullptr) {
    return requests_.OnAnswerAgain(key, from);
  }
  if (TakeResult(step, column, blob)) {
    requests_.OnAnswer(key, from);
  } else {
    requests_.OnFalseAnswer(key, from);
  }
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
  if (!HoldsValues(codec_, blob->data, ranges[column].size())) return false;
  auto& held = results_[step];
  held.resize(block->columns.size());
  held[column] = blob;
  return true;
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

std::vector<CatchUp::Request> CatchUp::Wants(base::Time now, const CanHear& can_hear) {
  Round round{now, LinkableIn(*head_, self_), {}};
  std::erase_if(round.others, [&](const PeerId& peer) { return peer == self_ || !can_hear(peer); });
  requests_.Begin(now, round.others);
  const std::optional<std::uint64_t> gap = Gap();
  CloseWhatIsOver(gap);
  // As a question to follow, which is answered with the head too: a member that forgot this
  // follower or restarted knows it again within a round. It is asked again and again, answered or
  // not.
  Ask(round, {PullKind::kHead, 0, 0}, {patience_, /*blames=*/false});
  if (gap) AskBlocks(round, *gap);
  if (fetch_) {
    AskState(round);
  } else {
    AskResults(round);
  }
  // Of each member, for itself: these are no requests that another one could answer.
  for (const auto& [to, height] : histories_.Questions(now, can_hear)) {
    if (to != self_) round.out.push_back(QuestionOf(to, height));
  }
  CheckInvariants();
  return std::move(round.out);
}

std::optional<base::Time> CatchUp::wake() const {
  const auto first = requests_.wake();
  const auto other = histories_.wake();
  return first && other ? std::min(*first, *other) : first ? first : other;
}

// Requests whose answer is not needed any more. While a state is fetched no results are needed, as
// catching up continues from that state.
void CatchUp::CloseWhatIsOver(std::optional<std::uint64_t> gap) {
  requests_.CloseIf([&](const Requests::Key& key) {
    if (key.kind == PullKind::kResult) return key.step + 1 <= HeightOf(*view_) || fetch_;
    // One for blocks stays while its answer includes the one that is lacking.
    const bool asks_for_gap =
        gap && *gap <= key.step + 1 && *gap + kMaxBlocksAnAnswer > key.step + 1;
    return key.kind == PullKind::kBlock && !asks_for_gap;
  });
}

void CatchUp::Ask(Round& round, const Requests::Key& key, const Requests::Wait& wait,
                  std::optional<base::Duration> hand_over) {
  const auto to = requests_.Ask(round.now, round.others, key, wait);
  if (to) round.out.push_back(RequestOf(*to, key, HeightOf(*view_)));
  if (!hand_over) return;
  const auto idle = requests_.HandOver(round.now, round.others, key, wait, *hand_over);
  if (idle) round.out.push_back(RequestOf(*idle, key, HeightOf(*view_)));
}

// One answer brings many blocks, newest first, so only one request for blocks is open at a time.
// Rationale: a further request for each block that came brought all the others once more.
void CatchUp::AskBlocks(Round& round, std::uint64_t gap) {
  const Requests::Key from_gap = {PullKind::kBlock, gap - 1, 0};
  const auto open = requests_.OpenOf(PullKind::kBlock);
  // When it moves on, the next member is asked for what is left.
  if (open && *open != from_gap &&
      !requests_.Waits(round.now, round.others, *open, Soon(patience_))) {
    requests_.Rename(*open, from_gap);
  }
  Ask(round, requests_.OpenOf(PullKind::kBlock).value_or(from_gap), Soon(patience_));
}

// The highest block that the chain lacks.
std::optional<std::uint64_t> CatchUp::Gap() const {
  for (auto it = chain_.rbegin(); it != chain_.rend(); ++it) {
    const std::uint64_t below = it->first - 1;
    if (below > Floor() && !chain_.contains(below)) return below;
  }
  return std::nullopt;
}

void CatchUp::AskState(Round& round) {
  const std::uint64_t step = fetch_->step();
  if (fetch_->Lacks(0)) {
    Requests::Wait wait = Soon(patience_);
    wait.patience = wait.patience + TimeFor(fetch_->BytesOf(0));
    wait.at_most = *wait.at_most + TimeFor(fetch_->BytesOf(0));
    return Ask(round, {PullKind::kState, step, 0}, wait);
  }
  const std::size_t willing = requests_.Willing(round.now, round.others).size();
  const std::size_t most = std::min(kPieceRequests, kPiecesAMember * willing);
  const bool all_asked = fetch_->left() <= requests_.CountOf(PullKind::kState);
  for (std::uint64_t part = 1; part <= fetch_->piece_count(); ++part) {
    const Requests::Key key = {PullKind::kState, step, part};
    if (!fetch_->Lacks(part)) continue;
    if (!requests_.IsOpen(key) && requests_.CountOf(PullKind::kState) >= most) continue;
    const Requests::Wait wait{patience_ + TimeFor(fetch_->BytesOf(part))};
    // Those that are late at the end go to members that have nothing more to send.
    Ask(round, key, wait, all_asked ? std::optional(patience_) : std::nullopt);
  }
}

void CatchUp::AskResults(Round& round) {
  const SharedBlock next = BlockAt(HeightOf(*view_) + 1);
  if (next == nullptr || next->columns.empty()) return;
  const std::uint64_t bytes =
      EncodedBytes(codec_, base::ElementCount(layout_) / next->columns.size());  // about
  const std::size_t two_a_member =
      kPiecesAMember * requests_.Willing(round.now, round.others).size();
  // Near the head each result is needed soon, so a silent member must not cost the time that a slow
  // line would take: the wait follows what members take.
  const base::Duration wait =
      std::clamp(requests_.Usual() * 2, patience_, patience_ + TimeFor(bytes));
  const std::size_t small =
      std::min({kSmallRequests, two_a_member, SmallResultsWithin(patience_, bytes)});
  const bool few = base::Planted(base::Bug::kResultsSixAtATime);
  const std::size_t most = few ? kBulkRequests : std::max<std::size_t>(kBulkRequests, small);
  for (std::uint64_t height = HeightOf(*view_) + 1; height <= HeightOf(*view_) + kBlocksAhead;
       ++height) {
    const SharedBlock block = BlockAt(height);
    if (block == nullptr) return;
    const auto held = results_.find(block->step);
    for (std::size_t j = 0; j < block->columns.size(); ++j) {
      if (block->columns[j] != wire::ColumnFate::kApplied) continue;
      if (held != results_.end() && held->second[j] != nullptr) continue;
      const Requests::Key key = {PullKind::kResult, block->step, j};
      if (!requests_.IsOpen(key) && requests_.CountOf(PullKind::kResult) >= most) continue;
      Ask(round, key, {wait}, wait);
    }
  }
}

void CatchUp::CheckInvariants() const {
  OSTRAKA_CHECK(HeightOf(*view_) <= HeightOf(*head_));
  OSTRAKA_CHECK(chain_.empty() || chain_.begin()->first > HeightOf(*view_));
  OSTRAKA_CHECK(!fetch_ || chain_.empty() || chain_.begin()->first >= fetch_->step());
  OSTRAKA_CHECK(chain_.empty() || chain_.rbegin()->first <= HeightOf(*head_));
  OSTRAKA_CHECK(requests_.size() <= kMaxRequests);
  OSTRAKA_CHECK(requests_.CountOf(PullKind::kState) <= kPieceRequests);
  OSTRAKA_CHECK(requests_.CountOf(PullKind::kResult) <= kSmallRequests);
  OSTRAKA_CHECK(results_.size() <= kBlocksAhead);
}

std::string CatchUp::Describe() const {
  const std::string way =
      "at block " + std::to_string(HeightOf(*view_)) + " of " + std::to_string(HeightOf(*head_));
  if (!fetch_) return way;
  const std::size_t pieces = fetch_->piece_count();
  const std::string part = way + ", " + std::to_string(pieces - fetch_->left()) + " of " +
                           std::to_string(pieces) + " pieces of the state of step " +
                           std::to_string(fetch_->step());
  if (given_up_ == 0) return part;
  return part + " (earlier ones did not come in the " + std::to_string(2 * kLongWay) +
         " steps for which members keep them: " + std::to_string(given_up_) +
         "; this run needs a faster line, or a larger --bandwidth)";
}

void CatchUp::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, view_, state_, trust_state_, head_, confirmed_, histories_, unproven_,
               chain_, reported_, kept_, fetch_, fresh_, given_up_, fetched_, liars_, results_,
               requests_);
}

}  // namespace ostraka::protocol
