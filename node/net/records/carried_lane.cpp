#include "node/net/records/carried_lane.h"

#include <utility>

#include "node/base/check.h"

namespace ostraka::net {

std::size_t CarriedLane::Push(const base::PeerId& peer, base::SharedBytes frame) {
  const auto [line, fresh] = lines_.try_emplace(peer);
  if (fresh) turns_.push_back(peer);
  bytes_ += frame->size();
  line->second.bytes += frame->size();
  line->second.frames.push_back(std::move(frame));
  std::size_t dropped = 0;
  for (; bytes_ > max_bytes_; ++dropped) DropNewestOfLongest();
  return dropped;
}

void CarriedLane::DropNewestOfLongest() {
  // Of equals that whose turn comes last. Attack: by key, the same peer would lose at each carrier.
  auto longest = lines_.find(turns_.back());
  for (auto peer = turns_.rbegin(); peer != turns_.rend(); ++peer) {
    const auto line = lines_.find(*peer);
    if (line->second.bytes > longest->second.bytes) longest = line;
  }
  Line& line = longest->second;
  const std::size_t size = line.frames.back()->size();
  line.frames.pop_back();
  line.bytes -= size;
  bytes_ -= size;
  if (line.frames.empty()) Forget(longest);
}

void CarriedLane::Forget(std::map<base::PeerId, Line>::iterator line) {
  std::erase(turns_, line->first);
  lines_.erase(line);
}

base::SharedBytes CarriedLane::Next() {
  OSTRAKA_CHECK(!empty());
  while (true) {
    const auto first = lines_.find(turns_.front());
    Line& line = first->second;
    const std::size_t size = line.frames.front()->size();
    if (line.credit < size) {
      line.credit += kTurnBytes;
      turns_.push_back(turns_.front());
      turns_.pop_front();
      continue;
    }
    base::SharedBytes next = std::move(line.frames.front());
    line.frames.pop_front();
    line.credit -= size;
    line.bytes -= size;
    bytes_ -= size;
    if (line.frames.empty()) Forget(first);
    return next;
  }
}

void CarriedLane::Clear() {
  lines_.clear();
  turns_.clear();
  bytes_ = 0;
}

void CarriedLane::CheckInvariants() const {
  std::size_t bytes = 0;
  for (const auto& [peer, line] : lines_) {
    OSTRAKA_CHECK(!line.frames.empty());
    bytes += line.bytes;
  }
  OSTRAKA_CHECK(bytes == bytes_ && bytes_ <= max_bytes_);  // K1
  OSTRAKA_CHECK(turns_.size() == lines_.size());
}

}  // namespace ostraka::net
