#include "node/net/link/pacer.h"

#include <algorithm>
#include <utility>

#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/os/steady_clock.h"

namespace ostraka::net {
namespace {

// Allows a burst of an eighth of a second, but at least one chunk.
TokenBucket BucketOf(std::uint64_t bytes_per_second) {
  const auto rate = static_cast<double>(std::max<std::uint64_t>(bytes_per_second, 1));
  return {rate, std::max(rate / 8, static_cast<double>(crypto::kChunkBytes))};
}

}  // namespace

Pacer::Pacer(boost::asio::io_context& io, std::uint64_t bytes_per_second)
    : limited_(bytes_per_second > 0), bucket_(BucketOf(bytes_per_second)), timer_(io) {}

bool Pacer::MayGo(std::function<void()> turn) {
  if (!limited_) return true;
  OSTRAKA_CHECK(turn != nullptr);
  const base::Time now = os::SteadyNow();
  if (waiting_.empty() && bucket_.Ready(now)) return true;
  waiting_.push_back(std::move(turn));
  if (waiting_.size() == 1) timer_.Start(bucket_.Wait(now), [this] { Wake(); });
  return false;
}

void Pacer::Charge(std::uint64_t bytes) {
  if (limited_) bucket_.Take(static_cast<double>(bytes));
}

void Pacer::Wake() {
  OSTRAKA_CHECK(limited_ && !waiting_.empty());  // P3
  // A caller that asks again within its turn queues behind those already waiting.
  std::size_t turns = waiting_.size();
  while (turns > 0 && bucket_.Ready(os::SteadyNow())) {
    --turns;
    const std::function<void()> turn = std::move(waiting_.front());
    waiting_.pop_front();
    turn();
  }
  if (!waiting_.empty()) timer_.Start(bucket_.Wait(os::SteadyNow()), [this] { Wake(); });
}

}  // namespace ostraka::net
