#include "crypto/base64url.h"

#include <sodium.h>

namespace ostraka::crypto {

std::string ToBase64Url(base::ByteView bytes) {
  constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), kVariant);
  text.pop_back();  // its terminating zero
  return text;
}

base::StatusOr<base::Bytes> FromBase64Url(std::string_view text) {
  base::Bytes bytes(text.size() / 4 * 3 + 3);
  std::size_t size = 0;
  const int failed = sodium_base642bin(bytes.data(), bytes.size(), text.data(), text.size(),
                                       /*ignore=*/nullptr, &size, /*b64_end=*/nullptr,
                                       sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  bytes.resize(failed != 0 ? 0 : size);
  // Each value has one spelling: the bits that no byte uses are zero.
  if (failed != 0 || ToBase64Url(bytes) != text) {
    return base::InvalidArgument("is not base64url without padding");
  }
  return bytes;
}

}  // namespace ostraka::crypto
