// Any bytes as the values of a part or a result: refused, or finite values, of which an encoder
// makes as many bytes again, with the same codes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "node/base/check.h"
#include "node/protocol/ground/codec.h"

namespace ostraka::protocol {
namespace {

// Two bytes of count, one of codec, and the blob.
void CheckBlob(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return;
  const std::uint64_t count = data[0] + 256U * data[1];
  const Codec codec = kAllCodecs[data[2] % 4];
  const crypto::Blob blob{{data + 3, data + size}, {}};
  if (!HoldsValues(codec, blob.data, count)) return;
  OSTRAKA_CHECK(blob.data.size() == EncodedBytes(codec, count));
  OSTRAKA_CHECK(std::isfinite(Quantum(codec, blob.data, count)));
  const Values values(codec, blob, count);
  OSTRAKA_CHECK(values.span().size() == count);
  for (const float value : values.span()) OSTRAKA_CHECK(std::isfinite(value));
  const crypto::Blob again{Encode(codec, values), {}};
  OSTRAKA_CHECK(HoldsValues(codec, again.data, count));
  OSTRAKA_CHECK(again.data.size() == blob.data.size());
  const std::uint64_t values_a_scale = codec == Codec::kI4 ? 128 : 256;
  const std::uint64_t codes_from =
      codec == Codec::kRaw ? 0 : (count + values_a_scale - 1) / values_a_scale * 4;
  OSTRAKA_CHECK(std::equal(again.data.begin() + static_cast<std::ptrdiff_t>(codes_from),
                           again.data.end(),
                           blob.data.begin() + static_cast<std::ptrdiff_t>(codes_from)));
}

}  // namespace
}  // namespace ostraka::protocol

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ostraka::protocol::CheckBlob(data, size);
  return 0;
}
