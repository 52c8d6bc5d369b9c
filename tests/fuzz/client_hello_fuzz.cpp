// Any bytes as the first ones of a stranger: judged within their length, undecided only where more
// bytes may come, and never judged otherwise once more of them have come.
#include <cstdint>
#include <string>

#include "node/base/check.h"
#include "node/net/link/client_hello.h"

namespace ostraka::net {
namespace {

void CheckOpening(base::ByteView bytes) {
  const std::string alpn = AlpnOfRun({});
  const Opening whole = JudgeOpening(bytes, alpn);
  OSTRAKA_CHECK(whole != Opening::kIncomplete || bytes.size() < kMaxClientHelloBytes);
  // Pieces of the lengths that a network may make of it.
  for (std::size_t size = 1; size < bytes.size(); size += 1 + size / 2) {
    const Opening part = JudgeOpening(bytes.first(size), alpn);
    OSTRAKA_CHECK(part == Opening::kIncomplete || part == whole);
  }
}

}  // namespace
}  // namespace ostraka::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) ostraka::net::CheckOpening({data, size});
  return 0;
}
