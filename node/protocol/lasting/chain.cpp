#include "node/protocol/lasting/chain.h"

#include <algorithm>

#include "node/base/check.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

namespace {

// At least so many states are served, and each for at least so many steps: a member that fetches
// one turns to a newer one after 2 kLongWay steps (CatchUp::PlanWay), and not before.
constexpr std::size_t kServedStates = 2;
constexpr std::uint64_t kServedSteps = 2 * kLongWay;

}  // namespace

Chain::Chain(SharedBlock head, ModelState state)
    : head_(std::move(head)), state_(std::move(state)) {
  OSTRAKA_CHECK(head_ != nullptr);
  CheckInvariants();
}

void Chain::AdvanceHead(SharedBlock head) {
  OSTRAKA_CHECK(head != nullptr);
  OSTRAKA_CHECK(std::is_sorted(head->members.begin(), head->members.end()));  // H1
  head_ = std::move(head);
  LeaveToStore();
}

void Chain::LeaveToStore() {
  for (auto& [step, columns] : results_) {
    if (step >= head_->step) break;
    for (auto& [column, kept] : columns) {
      auto place = kept.copy == nullptr ? nullptr : kept.copy->place();
      if (place == nullptr || kept.blob->source != nullptr) continue;
      kept.blob = crypto::LeftTo(std::move(place), *kept.blob);
    }
  }
  for (auto& [step, served] : served_) {
    if (served.copy != nullptr && served.copy->place() != nullptr) served.state.reset();
  }
}

const Chain::ShownHead& Chain::Shown() {
  if (shown_.block != head_) {
    base::Bytes encoded = wire::EncodeBlock(*head_);
    const Digest digest = wire::DigestOfBlock(encoded);
    shown_ = {head_, digest, crypto::MakeBlob(std::move(encoded))};
  }
  return shown_;
}

bool Chain::KeepResult(std::uint64_t step, std::uint32_t column, const SharedBlob& blob) {
  Kept& kept = results_[step][column];
  if (kept.blob != nullptr && kept.blob->root == blob->root) return false;
  kept = {blob, nullptr};  // H3
  return true;
}

void Chain::ResultIsStored(std::uint64_t step, std::uint32_t column,
                           std::shared_ptr<const crypto::DiskCopy> copy) {
  results_.at(step).at(column).copy = std::move(copy);
}

SharedBlob Chain::ResultAt(std::uint64_t step, std::uint64_t column) const {
  const auto kept = results_.find(step);
  if (kept == results_.end() || column > UINT32_MAX) return nullptr;
  const auto result = kept->second.find(static_cast<std::uint32_t>(column));
  return result == kept->second.end() ? nullptr : result->second.blob;
}

void Chain::ForgetResults(std::uint64_t step) {
  while (!results_.empty() && results_.begin()->first + kPastSteps < step) {
    results_.erase(results_.begin());
  }
}

void Chain::TrimResults() {
  while (results_.size() > kPastSteps) results_.erase(results_.begin());
}

void Chain::Remember(std::uint64_t step, PastStep past) {
  past_.emplace(step, std::move(past));
  if (past_.size() > kPastSteps) past_.erase(past_.begin());
}

const PastStep* Chain::Past(std::uint64_t step) const {
  const auto past = past_.find(step);
  return past == past_.end() ? nullptr : &past->second;
}

void Chain::KeepPart(std::uint64_t step, const PartKey& key, SignedPart part) {
  past_.at(step).parts[key] = std::move(part);
}

bool Chain::NeedsParts(std::uint64_t step) const {
  const auto about = [step](const wire::Case& open) { return open.id.step == step; };
  return step + 1 >= head_->step || std::any_of(head_->cases.begin(), head_->cases.end(), about);
}

bool Chain::NeedsParameters(std::uint64_t step, const LookRange& looks) const {
  // A case that may open next is about the step before the head's.
  if (NeedsParts(step) || step + 1 + looks.before >= head_->step) return true;
  return std::any_of(head_->cases.begin(), head_->cases.end(), [&](const wire::Case& open) {
    return open.id.kind == wire::CaseKind::kGradient && open.id.step <= step + looks.before &&
           step <= open.id.step + looks.after;
  });
}

void Chain::TrimPast(const LookRange& looks) {
  for (auto& [step, past] : past_) {
    if (!NeedsParts(step)) past.parts.clear();
    if (NeedsParameters(step, looks)) continue;
    past.parameters = nullptr;
    for (Column& column : past.columns) column.result = nullptr;
  }
}

void Chain::ForgetPast() {
  past_.clear();
  served_.clear();
}

void Chain::Serve(std::uint64_t step, std::vector<Digest> leaves) {
  // The state at the beginning of a step follows the block of this height.
  const bool is_stored = stored_.copy != nullptr && stored_.height == step;
  served_[step] = {state_, std::move(leaves), is_stored ? stored_.copy : nullptr};
  while (served_.size() > kServedStates && served_.begin()->first + kServedSteps < step) {
    served_.erase(served_.begin());
  }
}

void Chain::StateIsStored(std::shared_ptr<const crypto::DiskCopy> copy) {
  stored_ = {wire::HeightOf(*head_), std::move(copy)};
}

const Chain::Served* Chain::ServedAt(std::uint64_t step) const {
  const auto served = served_.find(step);
  return served == served_.end() ? nullptr : &served->second;
}

std::size_t Chain::ServedStates(std::uint64_t every) {
  return std::max<std::size_t>(kServedStates, kServedSteps / std::max<std::uint64_t>(every, 1) + 1);
}

void Chain::CheckInvariants() const {
  OSTRAKA_CHECK(std::is_sorted(head_->members.begin(), head_->members.end()));  // H1
  OSTRAKA_CHECK(state_.parameters != nullptr);
  for (const StateSlot& slot : state_.slots) {
    OSTRAKA_CHECK(slot.values != nullptr && slot.values->size() == state_.parameters->size());
  }
  OSTRAKA_CHECK(past_.size() <= kPastSteps);
  OSTRAKA_CHECK(recent_.size() <= kRecentBlocks);
  OSTRAKA_CHECK(served_.size() <= kServedSteps + 1);
}

void Chain::HashInto(crypto::Hasher& hasher) const {
  // Nothing of what the store said (H4).
  crypto::Feed(hasher, head_, state_, recent_, past_, served_, stored_.height);
  for (const auto& [step, columns] : results_) {
    crypto::Feed(hasher, step, columns.size());
    for (const auto& [column, result] : columns) crypto::Feed(hasher, column);
  }
}

}  // namespace ostraka::protocol
