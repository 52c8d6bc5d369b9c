// Bulk bytes that lie elsewhere than in memory, and where a store says that it has them.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "node/base/status.h"

namespace ostraka::crypto {

class BulkSource : public std::enable_shared_from_this<BulkSource> {
 public:
  virtual ~BulkSource() = default;
  virtual std::uint64_t size() const = 0;
  // Fills `out` with the bytes from `offset` on. REQUIRES: they end within size(). The errors of a
  // disk, one line.
  virtual base::Status Read(std::uint64_t offset, std::span<std::uint8_t> out) const = 0;
  // A range of it, which keeps no more of a disk than its own bytes. REQUIRES: it ends within
  // size().
  virtual std::shared_ptr<const BulkSource> Slice(std::uint64_t offset, std::uint64_t size) const;
  // What was read is not what was written, by its hash: the error of Read for that. Its owner
  // learns of it.
  virtual base::Status Spoilt() const {
    return base::InvalidArgument("what was to be sent has changed");
  }
};

// A letter box between a machine and the store of its driver: what was stored can be read again
// from here on, so that its owner need not keep it in memory. A store that never says so costs
// memory only.
class DiskCopy {
 public:
  // REQUIRES: it is durable, and nobody writes there as long as `place` lives. Called once.
  void Set(std::shared_ptr<const BulkSource> place) {
    place_ = std::move(place);
    is_set_.store(true, std::memory_order_release);
  }
  // Null: it is not stored yet.
  std::shared_ptr<const BulkSource> place() const {
    return is_set_.load(std::memory_order_acquire) ? place_ : nullptr;
  }

 private:
  std::shared_ptr<const BulkSource> place_;  // INVARIANT: unchanged once is_set_
  std::atomic<bool> is_set_ = false;
};

}  // namespace ostraka::crypto
