// Any bytes as a .npy file: refused in one line, or a header whose data are exactly the rest.
#include <cstdint>

#include "node/base/check.h"
#include "node/base/npy.h"

namespace ostraka::base {
namespace {

void CheckFile(ByteView file) {
  const auto header = ParseNpy(file);
  if (!header.ok()) {
    OSTRAKA_CHECK(header.status().code() == absl::StatusCode::kInvalidArgument);
    OSTRAKA_CHECK(MessageOf(header.status()).find('\n') == std::string::npos);
    return;
  }
  std::uint64_t count = 1;
  for (const std::uint64_t extent : header->shape) count *= extent;  // wraps if some extent is 0
  bool empty = false;
  for (const std::uint64_t extent : header->shape) empty = empty || extent == 0;
  OSTRAKA_CHECK(header->element_count == (empty ? 0 : count));
  OSTRAKA_CHECK(header->data_offset + header->element_count * NpyItemBytes(header->type) ==
                file.size());
  const std::string written = EncodeNpyHeader(header->type, header->shape);
  Bytes again(written.begin(), written.end());
  again.insert(again.end(), file.begin() + static_cast<std::ptrdiff_t>(header->data_offset),
               file.end());
  const auto reread = ParseNpy(again);
  OSTRAKA_CHECK(reread.ok() && reread->shape == header->shape && reread->type == header->type);
}

}  // namespace
}  // namespace ostraka::base

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ostraka::base::CheckFile({data, size});
  return 0;
}
