// Files that somebody else keeps, read in pieces: a folder, or a server.
//
// What an attacker can do here: a source may answer late, with other bytes, or not at all. Who
// reads checks what comes by its hash; an implementation bounds size and time.
//
// Thread safety: one call at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::base {

class RangeReader {
 public:
  virtual ~RangeReader() = default;

  // For people: where the files lie.
  virtual const std::string& place() const = 0;

  // Asked at least twice a second while a call waits; true ends it with Cancelled. May be null.
  using Unwanted = std::function<bool()>;

  // Bytes [begin, begin + size) of `file`, a name without a slash. Unavailable: worth another try
  // later. NotFound, InvalidArgument: the place has no such file, or not these bytes of it.
  // REQUIRES: size > 0.
  virtual StatusOr<Bytes> Read(const std::string& file, std::uint64_t begin, std::uint64_t size,
                               const Unwanted& unwanted) = 0;
  // The whole file. Errors as Read; InvalidArgument: it has more than `most` bytes.
  virtual StatusOr<Bytes> ReadWhole(const std::string& file, std::uint64_t most,
                                    const Unwanted& unwanted) = 0;
};

}  // namespace ostraka::base
