// The durable store of a simulated peer. It holds the records whose Store was reported durable
// before a crash, and no record whose Store was still pending.
//
// Memory: one state, the results and blocks after it, and the slots of the newest
// block's step and after.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "node/protocol/ground/machine.h"

namespace ostraka::sim {

class Disk {
 public:
  // Adds the records and drops the records that they supersede (protocol::RecordKind).
  // REQUIRES: no key gets a second value.
  void Apply(const protocol::Store& store);
  // Null if nothing was ever stored.
  std::shared_ptr<const protocol::Restored> Restored() const;
  // Models a lost disk.
  void Erase() { records_.clear(); }

 private:
  using Key = std::pair<protocol::RecordKind, protocol::Bytes>;
  // Drops the records of `kind` whose key begins with a height (or step) below `height`,
  // big-endian.
  void DropBelow(protocol::RecordKind kind, const protocol::Bytes& height);

  std::map<Key, protocol::Record> records_;
};

}  // namespace ostraka::sim
