// The blobs that are queued at this moment, so that a blob sent to many peers is hashed once.
//
// Promises:
//   U1  Two calls of Share with one blob return one object, as long as somebody holds it.
//   U2  Nothing is kept of a blob that no queue holds, after the next Share of a new one.
//
// May not know: queues, peers.
//
// Memory: one entry for each blob that is queued somewhere.
//
// What an attacker can do here: nothing; only our own messages come here.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/net/records/send_queue.h"

namespace ostraka::net {

class OutgoingBlobs {
 public:
  std::shared_ptr<OutgoingBlob> Share(crypto::SharedBlob blob) {
    const crypto::Blob* const key = blob.get();
    std::weak_ptr<OutgoingBlob>& known = known_[key];
    std::shared_ptr<OutgoingBlob> shared = known.lock();
    if (shared == nullptr) {
      shared = std::make_shared<OutgoingBlob>(std::move(blob));
      known = shared;
      std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });  // U2
    }
    OSTRAKA_CHECK(&shared->blob() == key);  // U1: no address was taken by another blob
    return shared;
  }
  std::size_t size() const { return known_.size(); }

 private:
  std::map<const crypto::Blob*, std::weak_ptr<OutgoingBlob>> known_;
};

}  // namespace ostraka::net
