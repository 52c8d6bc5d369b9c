#include "crypto/key_file.h"

#include <sodium.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "node/base/check.h"

namespace ostraka::crypto {
namespace {

constexpr std::string_view kFirstLine = "ostraka identity key ";
constexpr std::string_view kMagic = "OSK1";
constexpr std::string_view kKdfArgon2id = "A2";
constexpr std::string_view kKdfNone = "--";

// Offsets of the fields in the binary form.
constexpr std::size_t kKdfAt = 4;
constexpr std::size_t kSaltAt = 6;
constexpr std::size_t kOpsAt = kSaltAt + crypto_pwhash_argon2id_SALTBYTES;
constexpr std::size_t kMemoryAt = kOpsAt + 4;
constexpr std::size_t kNonceAt = kMemoryAt + 4;
constexpr std::size_t kHeaderBytes = kNonceAt + crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
static_assert(kHeaderBytes == 54);

constexpr std::size_t kPlainBytes = SigningKey::kSeedSize + PeerId::kSize;
constexpr std::size_t kClearBytes = kHeaderBytes + kPlainBytes;
constexpr std::size_t kEncryptedBytes =
    kHeaderBytes + kPlainBytes + crypto_aead_xchacha20poly1305_ietf_ABYTES;

static_assert(std::endian::native == std::endian::little);
static_assert(KdfCost::kMinMemoryKib * 1024 == crypto_pwhash_argon2id_MEMLIMIT_MIN);

base::Status NotAKeyFile() {
  return base::InvalidArgument(
      "this is not an ostraka identity key: give a file that `ostraka key new` made");
}

base::Status Damaged(std::string_view what) {
  return base::InvalidArgument("the key file is damaged (" + std::string(what) +
                               "): restore it from a backup");
}

base::Status CheckCost(const KdfCost& cost) {
  if (cost.ops >= crypto_pwhash_argon2id_OPSLIMIT_MIN && cost.ops <= KdfCost::kMaxOps &&
      cost.memory_kib >= KdfCost::kMinMemoryKib && cost.memory_kib <= KdfCost::kMaxMemoryKib) {
    return base::OkStatus();
  }
  return base::InvalidArgument("Argon2id with " + std::to_string(cost.ops) + " passes over " +
                               std::to_string(cost.memory_kib) +
                               " KiB is refused: use a key file with 1 to 10 passes over 8 KiB to "
                               "1 GiB");
}

std::uint32_t LoadU32(ByteView bytes) {
  std::uint32_t value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

void StoreU32(std::uint32_t value, std::span<std::uint8_t> out) {
  std::memcpy(out.data(), &value, sizeof value);
}

bool HasTextAt(ByteView bytes, std::size_t at, std::string_view text) {
  const ByteView expected = base::AsBytes(text);
  return bytes.size() >= at + text.size() &&
         std::equal(expected.begin(), expected.end(), bytes.begin() + static_cast<long>(at));
}

void PutText(std::string_view text, std::span<std::uint8_t> out) {
  std::copy(text.begin(), text.end(), out.begin());
}

struct ParsedFile {
  KeyFileInfo info;
  Secret binary;  // header | body; zero-padded where a clear file is shorter

  ByteView header() const { return binary.span().first(kHeaderBytes); }
  ByteView salt() const { return header().subspan(kSaltAt, crypto_pwhash_argon2id_SALTBYTES); }
  ByteView nonce() const { return header().subspan(kNonceAt); }
};

// Returns the public key of the first line and shortens `text` to the second line.
base::StatusOr<PeerId> TakeFirstLine(std::string_view& text) {
  constexpr std::size_t kHexDigits = 2 * PeerId::kSize;
  if (text.size() > kMaxKeyFileBytes || !text.starts_with(kFirstLine)) return NotAKeyFile();
  text.remove_prefix(kFirstLine.size());
  const std::string_view digits = text.substr(0, kHexDigits);
  const auto id = PeerId::FromHexDigits(digits);
  if (!id || id->Hex() != digits) return Damaged("its public key");
  text.remove_prefix(kHexDigits);
  if (!text.starts_with('\n')) return Damaged("the end of its first line");
  text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return *id;
}

// The cost that an encrypted file declares.
base::StatusOr<KdfCost> ReadCost(ByteView header) {
  const KdfCost cost{.ops = LoadU32(header.subspan(kOpsAt)),
                     .memory_kib = LoadU32(header.subspan(kMemoryAt))};
  RETURN_IF_ERROR(CheckCost(cost));
  return cost;
}

// The base64 of `binary`; secret, since `binary` may hold the key in the clear.
Secret ToBase64(ByteView binary) {
  Secret text(sodium_base64_encoded_len(binary.size(), sodium_base64_VARIANT_ORIGINAL));
  sodium_bin2base64(reinterpret_cast<char*>(text.span().data()), text.span().size(), binary.data(),
                    binary.size(), sodium_base64_VARIANT_ORIGINAL);
  return text;
}

// Number of bytes decoded into `out`; 0 unless `text` is exactly ToBase64 of them.
std::size_t FromBase64(std::string_view text, std::span<std::uint8_t> out) {
  std::size_t size = 0;
  if (sodium_base642bin(out.data(), out.size(), text.data(), text.size(), /*ignore=*/nullptr, &size,
                        /*b64_end=*/nullptr, sodium_base64_VARIANT_ORIGINAL) != 0) {
    return 0;
  }
  // libsodium 1.0.18 reads every byte above 0x7f as the digit "/".
  const Secret spelling = ToBase64(out.first(size));
  const bool same =
      std::ranges::equal(spelling.span().first(spelling.span().size() - 1), base::AsBytes(text));
  return same ? size : 0;
}

base::StatusOr<ParsedFile> Parse(std::string_view text) {
  ASSIGN_OR_RETURN(const PeerId id, TakeFirstLine(text));
  ParsedFile parsed{.info = {.id = id}, .binary = Secret(kEncryptedBytes)};
  const std::size_t size = FromBase64(text, parsed.binary.span());
  if (size < kHeaderBytes) return Damaged("its second line");
  const ByteView header = parsed.header();
  if (!HasTextAt(header, 0, kMagic)) {
    return base::InvalidArgument(
        "the key file has an unknown format: use the ostraka that made it");
  }
  if (HasTextAt(header, kKdfAt, kKdfArgon2id) && size == kEncryptedBytes) {
    ASSIGN_OR_RETURN(parsed.info.cost, ReadCost(header));
    parsed.info.encrypted = true;
    return parsed;
  }
  if (HasTextAt(header, kKdfAt, kKdfNone) && size == kClearBytes) {
    const ByteView unused = header.subspan(kSaltAt);
    if (!sodium_is_zero(unused.data(), unused.size())) return Damaged("its header");
    return parsed;
  }
  return Damaged("its kind or length");
}

base::StatusOr<Secret> DeriveKey(std::string_view passphrase, ByteView salt, const KdfCost& cost) {
  Secret key(crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
  if (crypto_pwhash_argon2id(key.span().data(), key.span().size(), passphrase.data(),
                             passphrase.size(), salt.data(), cost.ops,
                             std::size_t{cost.memory_kib} * 1024,
                             crypto_pwhash_argon2id_ALG_ARGON2ID13) != 0) {
    return base::Unavailable("Argon2id could not get " + std::to_string(cost.memory_kib) +
                             " KiB of memory: free some, or raise the limit");
  }
  return key;
}

// Checks that the seed, the public key beside it and the first line match.
base::StatusOr<SigningKey> KeyOfPlain(ByteView plain, const PeerId& claimed) {
  SigningKey key = SigningKey::FromSeed(plain.first(SigningKey::kSeedSize));
  if (!std::ranges::equal(plain.subspan(SigningKey::kSeedSize), key.id().bytes)) {
    return Damaged("its public and its secret key do not belong together");
  }
  if (key.id() != claimed) return Damaged("its first line names another key");
  return key;
}

base::StatusOr<Secret> Decrypt(const ParsedFile& parsed, std::string_view passphrase) {
  ASSIGN_OR_RETURN(const Secret key, DeriveKey(passphrase, parsed.salt(), parsed.info.cost));
  const ByteView header = parsed.header();
  const ByteView body = parsed.binary.span().subspan(kHeaderBytes);
  Secret plain(kPlainBytes);
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(
          plain.span().data(), /*mlen_p=*/nullptr, /*nsec=*/nullptr, body.data(), body.size(),
          header.data(), header.size(), parsed.nonce().data(), key.span().data()) != 0) {
    return base::InvalidArgument(
        "wrong passphrase, or the file was altered: try again, or restore it from a backup");
  }
  return plain;
}

// header | body of an encrypted file
base::StatusOr<Secret> Encrypt(ByteView plain, std::string_view passphrase, const KdfCost& cost) {
  RETURN_IF_ERROR(CheckCost(cost));
  Secret binary(kEncryptedBytes);
  const std::span<std::uint8_t> header = binary.span().first(kHeaderBytes);
  FillRandom(header);
  PutText(kMagic, header);
  PutText(kKdfArgon2id, header.subspan(kKdfAt));
  StoreU32(cost.ops, header.subspan(kOpsAt));
  StoreU32(cost.memory_kib, header.subspan(kMemoryAt));
  ASSIGN_OR_RETURN(const Secret key, DeriveKey(passphrase, header.subspan(kSaltAt), cost));
  OSTRAKA_CHECK(crypto_aead_xchacha20poly1305_ietf_encrypt(
                    binary.span().data() + kHeaderBytes, /*clen_p=*/nullptr, plain.data(),
                    plain.size(), header.data(), header.size(), /*nsec=*/nullptr,
                    header.data() + kNonceAt, key.span().data()) == 0);
  return binary;
}

// header | body of a file in the clear
Secret StoreInTheClear(ByteView plain) {
  Secret binary(kClearBytes);
  PutText(kMagic, binary.span());
  PutText(kKdfNone, binary.span().subspan(kKdfAt));
  std::ranges::copy(plain, binary.span().subspan(kHeaderBytes).begin());
  return binary;
}

std::string TextOf(const PeerId& id, ByteView binary) {
  const Secret base64 = ToBase64(binary);
  std::string text = std::string(kFirstLine) + id.Hex() + '\n';
  text += reinterpret_cast<const char*>(base64.span().data());  // zero-terminated
  return text += '\n';
}

}  // namespace

base::StatusOr<std::string> EncodeKeyFile(const SigningKey& key,
                                          std::optional<std::string_view> passphrase,
                                          KdfCost cost) {
  Secret plain(kPlainBytes);
  std::ranges::copy(key.seed(), plain.span().begin());
  std::ranges::copy(key.id().bytes, plain.span().subspan(SigningKey::kSeedSize).begin());
  if (!passphrase) return TextOf(key.id(), StoreInTheClear(plain.span()).span());
  if (passphrase->empty()) {
    return base::InvalidArgument("an empty passphrase protects nothing: give a longer one");
  }
  ASSIGN_OR_RETURN(const Secret binary, Encrypt(plain.span(), *passphrase, cost));
  return TextOf(key.id(), binary.span());
}

base::StatusOr<SigningKey> DecodeKeyFile(std::string_view text,
                                         const PassphraseSource& passphrase) {
  ASSIGN_OR_RETURN(const ParsedFile parsed, Parse(text));
  if (!parsed.info.encrypted) {
    return KeyOfPlain(parsed.binary.span().subspan(kHeaderBytes, kPlainBytes), parsed.info.id);
  }
  if (!passphrase) {
    return base::FailedPrecondition("the key file is encrypted: give its passphrase");
  }
  ASSIGN_OR_RETURN(std::string words, passphrase());
  const base::StatusOr<Secret> plain = Decrypt(parsed, words);
  sodium_memzero(words.data(), words.size());
  if (!plain.ok()) return plain.status();
  return KeyOfPlain(plain->span(), parsed.info.id);
}

base::StatusOr<KeyFileInfo> InspectKeyFile(std::string_view text) {
  ASSIGN_OR_RETURN(const ParsedFile parsed, Parse(text));
  return parsed.info;
}

}  // namespace ostraka::crypto
