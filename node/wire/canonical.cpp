#include "node/wire/canonical.h"

#include <cstring>

namespace ostraka::wire::internal {
namespace {

// Traversal limit for the smallest messages, for which kTraversalFactor alone is too tight: a list
// of all-zero structs takes no room in canonical form but counts as one word per element.
constexpr std::size_t kMinTraversalWords = 4 * kMaxPeers;

}  // namespace

Status Refuse(std::string_view what, std::string_view problem) {
  std::string reason(what);
  reason.append(": ").append(problem);
  return base::InvalidArgument(reason);
}

Status RefuseException(std::string_view what) {
  return Refuse(what, "cannot be read as Cap'n Proto");
}

AlignedWords::AlignedWords(ByteView bytes) {
  const std::size_t count = bytes.size() / sizeof(capnp::word);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(capnp::word) == 0 &&
      reinterpret_cast<std::uintptr_t>(bytes.data()) % sizeof(capnp::word) == 0) {
    words_ = {reinterpret_cast<const capnp::word*>(bytes.data()), count};
    return;
  }
  copy_ = kj::heapArray<capnp::word>(count);
  std::memcpy(copy_.begin(), bytes.data(), bytes.size());
  words_ = copy_;
}

capnp::ReaderOptions BoundedOptions(std::size_t word_count) {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = std::max(kTraversalFactor * word_count, kMinTraversalWords);
  options.nestingLimit = kNestingLimit;
  return options;
}

Status ReadBytes(capnp::Data::Reader data, std::string_view name, std::size_t max, Bytes& out) {
  if (data.size() > max) return Refuse(name, "too long");
  out.assign(data.begin(), data.end());
  return base::OkStatus();
}

Status CheckCount(std::size_t count, std::string_view name, std::size_t max) {
  return count > max ? Refuse(name, "too many") : base::OkStatus();
}

}  // namespace ostraka::wire::internal
