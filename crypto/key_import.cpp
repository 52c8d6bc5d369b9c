#include "crypto/key_import.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "crypto/secret.h"
#include "node/base/foreign_text.h"

namespace ostraka::crypto {
namespace {

// RFC 8410: PrivateKeyInfo { version 0, algorithm 1.3.101.112, OCTET STRING { OCTET STRING seed }
// }.
constexpr std::array<std::uint8_t, 16> kPkcs8Head = {
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};
constexpr std::string_view kPemBegin = "-----BEGIN PRIVATE KEY-----";
constexpr std::string_view kPemEnd = "-----END PRIVATE KEY-----";
constexpr char kSpace[] = " \t\r\n";

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

base::StatusOr<SigningKey> FromPem(std::string_view text) {
  const std::size_t end = text.find(kPemEnd);
  if (end == std::string_view::npos || Trimmed(text.substr(end + kPemEnd.size())) != "") {
    return base::InvalidArgument("the PEM text is cut short, or more follows it");
  }
  const std::string_view base64 = Trimmed(text.substr(kPemBegin.size(), end - kPemBegin.size()));
  Secret der(kPkcs8Head.size() + SigningKey::kSeedSize);
  std::size_t size = 0;
  const int failed =
      sodium_base642bin(der.span().data(), der.span().size(), base64.data(), base64.size(), kSpace,
                        &size, /*b64_end=*/nullptr, sodium_base64_VARIANT_ORIGINAL);
  if (failed != 0 || size != der.span().size() ||
      !std::equal(kPkcs8Head.begin(), kPkcs8Head.end(), der.span().begin())) {
    return base::InvalidArgument(
        "the PEM text holds no Ed25519 key: make one with `openssl genpkey -algorithm ed25519`");
  }
  return SigningKey::FromSeed(ByteView(der.span()).subspan(kPkcs8Head.size()));
}

base::StatusOr<SigningKey> FromHex(std::string_view digits) {
  Secret seed(SigningKey::kSeedSize);
  std::size_t size = 0;
  if (digits.size() != 2 * SigningKey::kSeedSize ||
      sodium_hex2bin(seed.span().data(), seed.span().size(), digits.data(), digits.size(),
                     /*ignore=*/nullptr, &size, /*hex_end=*/nullptr) != 0 ||
      size != SigningKey::kSeedSize) {
    return base::InvalidArgument(
        "this is no key: give an Ed25519 seed as 64 hexadecimal digits, or PEM as `openssl genpkey "
        "-algorithm ed25519` writes it");
  }
  return SigningKey::FromSeed(seed.span());
}

}  // namespace

base::StatusOr<SigningKey> ImportKey(std::string_view text) {
  if (text.starts_with(base::kByteOrderMark)) text.remove_prefix(base::kByteOrderMark.size());
  text = Trimmed(text);
  if (text.starts_with(kPemBegin)) return FromPem(text);
  if (text.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----")) {
    return base::InvalidArgument(
        "the PEM text has a passphrase: pipe it through `openssl pkey -in FILE` first");
  }
  if (text.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----")) {
    return base::InvalidArgument(
        "this is an SSH key, and one key should not serve two protocols: make one with `ostraka "
        "key new`");
  }
  if (text.starts_with("ostraka identity key ")) {
    return base::InvalidArgument("this is a key file of ostraka already: use it as it is");
  }
  return FromHex(text);
}

}  // namespace ostraka::crypto
