// The format of key files; key_file_disk_test.cpp tests the disk.
#include "crypto/key_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>

namespace ostraka::crypto::key_file_test {
namespace {

using base::Bytes;
using base::MessageOf;
using testing::HasSubstr;
using testing::Not;

constexpr KdfCost kCheap{.ops = 1, .memory_kib = 8};
constexpr std::string_view kPassphrase = "correct horse battery staple";

// The key of RFC 8032's test 1. A Python model over OpenSSL's Ed25519, Argon2id and
// ChaCha20-Poly1305 wrote both files; the second has 2 passes over 64 KiB and the passphrase above.
// Every file that was ever written must stay readable.
constexpr std::string_view kSeedHex =
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
constexpr std::string_view kClearFile =
    "ostraka identity key d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\n"
    "T1NLMS0tAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAnWGxne/9WmC6hEr0kuws"
    "xERJxWl7MmkZcDusAxyuf2DXWpgBgrEKt9VL/tPJZAc6DuFy89qmIyWvAhpo9wdRGg==\n";
constexpr std::string_view kEncryptedFile =
    "ostraka identity key d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\n"
    "T1NLMUEyAAECAwQFBgcICQoLDA0ODwIAAABAAAAAZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp78eNZUvaDonvjdwKEFdtZ"
    "58mTeIa/d0GLT69TMUm59dUx4amakKCErV09x+CcTwELkQg1X/fAjkVMsQf26oE4ptwJ2khBRgmeqRvWlSksmJo=\n";

SigningKey GoldenKey() { return SigningKey::FromSeed(*base::FromHex(kSeedHex)); }

PassphraseSource Says(std::string_view passphrase) {
  return [passphrase]() -> base::StatusOr<std::string> { return std::string(passphrase); };
}

PassphraseSource MustNotBeAsked() {
  return []() -> base::StatusOr<std::string> {
    ADD_FAILURE() << "the passphrase was asked for";
    return base::Internal("asked");
  };
}

void ExpectOneLine(const base::Status& status) {
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(MessageOf(status), Not(HasSubstr("\n")));
  EXPECT_THAT(MessageOf(status), HasSubstr(": ")) << "what is wrong: what to do";
}

constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string ToBase64(ByteView bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t size = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < size ? bytes[i + j] : 0u);
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= size ? kBase64Digits[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

Bytes FromBase64(std::string_view text) {
  Bytes bytes;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    group = group << 6 | static_cast<std::uint32_t>(kBase64Digits.find(c));
    bits += 6;
    if (bits >= 8) bytes.push_back(static_cast<std::uint8_t>(group >> (bits -= 8)));
  }
  return bytes;
}

constexpr std::size_t kFirstLineBytes = 86;
constexpr std::size_t kOpsAt = 22;
constexpr std::size_t kMemoryAt = 26;

Bytes BinaryOf(std::string_view file) {
  file.remove_prefix(kFirstLineBytes);
  file.remove_suffix(1);
  return FromBase64(file);
}

std::string FileOf(ByteView binary) {
  return std::string(kEncryptedFile.substr(0, kFirstLineBytes)) + ToBase64(binary) + "\n";
}

std::string WithCost(std::uint32_t ops, std::uint32_t memory_kib) {
  Bytes binary = BinaryOf(kEncryptedFile);
  for (std::size_t i = 0; i < 4; ++i) {
    binary[kOpsAt + i] = static_cast<std::uint8_t>(ops >> (8 * i));
    binary[kMemoryAt + i] = static_cast<std::uint8_t>(memory_kib >> (8 * i));
  }
  return FileOf(binary);
}

TEST(KeyFile, OpensGoldenFiles) {
  const auto clear = DecodeKeyFile(kClearFile, MustNotBeAsked());
  ASSERT_TRUE(clear.ok()) << clear.status();
  EXPECT_EQ(base::ToHex(clear->seed()), kSeedHex);
  const auto encrypted = DecodeKeyFile(kEncryptedFile, Says(kPassphrase));
  ASSERT_TRUE(encrypted.ok()) << encrypted.status();
  EXPECT_EQ(base::ToHex(encrypted->seed()), kSeedHex);
  EXPECT_EQ(EncodeKeyFile(GoldenKey(), std::nullopt).value(), kClearFile);
  EXPECT_EQ(FileOf(BinaryOf(kEncryptedFile)), kEncryptedFile) << "this test's own base64";
}

TEST(KeyFile, RoundTripsWithAndWithoutPassphrase) {
  for (std::uint8_t fill = 0; fill < 20; ++fill) {
    const SigningKey key = SigningKey::FromSeed(Bytes(32, fill));
    const auto encrypted = EncodeKeyFile(key, "p", kCheap);
    ASSERT_TRUE(encrypted.ok()) << encrypted.status();
    EXPECT_EQ(DecodeKeyFile(*encrypted, Says("p")).value().id(), key.id());
    const auto clear = EncodeKeyFile(key, std::nullopt);
    ASSERT_TRUE(clear.ok()) << clear.status();
    EXPECT_EQ(DecodeKeyFile(*clear, nullptr).value().id(), key.id());
  }
}

TEST(KeyFile, EncryptsDifferentlyEachTime) {
  const std::string first = EncodeKeyFile(GoldenKey(), kPassphrase, kCheap).value();
  const std::string second = EncodeKeyFile(GoldenKey(), kPassphrase, kCheap).value();
  EXPECT_NE(BinaryOf(first), BinaryOf(second));
  const Bytes seed = *base::FromHex(kSeedHex);
  const Bytes binary = BinaryOf(first);
  EXPECT_EQ(std::search(binary.begin(), binary.end(), seed.begin(), seed.end()), binary.end())
      << "the seed is in the clear";
}

TEST(KeyFile, RefusesTheWrongPassphrase) {
  for (const std::string_view wrong : {"", "correct horse battery stapl",
                                       "Correct horse battery "
                                       "staple"}) {
    const auto key = DecodeKeyFile(kEncryptedFile, Says(wrong));
    ExpectOneLine(key.status());
    EXPECT_THAT(MessageOf(key.status()), HasSubstr("wrong passphrase, or the file was altered"));
  }
}

TEST(KeyFile, ReturnsTheErrorOfThePassphraseSource) {
  const auto source = []() -> base::StatusOr<std::string> { return base::Unavailable("no tty"); };
  EXPECT_EQ(DecodeKeyFile(kEncryptedFile, source).status(), base::Unavailable("no tty"));
  const auto none = DecodeKeyFile(kEncryptedFile, nullptr);
  ExpectOneLine(none.status());
  EXPECT_EQ(none.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(KeyFile, RefusesToEncryptBadly) {
  ExpectOneLine(EncodeKeyFile(GoldenKey(), "", kCheap).status());
  ExpectOneLine(EncodeKeyFile(GoldenKey(), "p", {.ops = 0, .memory_kib = 8}).status());
  ExpectOneLine(EncodeKeyFile(GoldenKey(), "p", {.ops = 11, .memory_kib = 8}).status());
  ExpectOneLine(EncodeKeyFile(GoldenKey(), "p", {.ops = 1, .memory_kib = 7}).status());
  ExpectOneLine(
      EncodeKeyFile(GoldenKey(), "p", {.ops = 1, .memory_kib = 1024 * 1024 + 1}).status());
}

// A file whose cost field was altered to more than this is not tried: with a passphrase it would
// take the requested memory, which is allowed, and then fail.
constexpr std::uint32_t kTriedMemoryKib = 16 * 1024;

// `text` may be refused, or open as the golden key; it must never open as another one.
void ExpectNoOtherKey(const std::string& text, const std::string& what) {
  const auto info = InspectKeyFile(text);
  if (info.ok() && info->cost.memory_kib > kTriedMemoryKib) return;
  const auto key = DecodeKeyFile(text, Says(kPassphrase));
  EXPECT_EQ(info.ok() || !key.ok(), true) << what << ": decoded what cannot be inspected";
  if (!key.ok()) return ExpectOneLine(key.status());
  ADD_FAILURE() << what << ": an altered file opened as " << key->id().Hex();
}

TEST(KeyFile, EveryAlteredCharacterIsNoticed) {
  for (const std::string_view file : {kClearFile, kEncryptedFile}) {
    // The last line feed may be missing but not replaced; this loop replaces it too.
    for (std::size_t at = 0; at < file.size(); ++at) {
      for (const int mask : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
        std::string text(file);
        text[at] = static_cast<char>(text[at] ^ mask);
        ExpectNoOtherKey(text, "character " + std::to_string(at));
      }
    }
  }
}

TEST(KeyFile, EveryAlteredBitIsNoticed) {
  for (const std::string_view file : {kClearFile, kEncryptedFile}) {
    const Bytes binary = BinaryOf(file);
    for (std::size_t bit = 0; bit < 8 * binary.size(); ++bit) {
      Bytes altered = binary;
      altered[bit / 8] ^= static_cast<std::uint8_t>(1 << (bit % 8));
      ExpectNoOtherKey(FileOf(altered), "bit " + std::to_string(bit));
    }
  }
}

TEST(KeyFile, EveryShortOrLongFileIsRefused) {
  for (const std::string_view file : {kClearFile, kEncryptedFile}) {
    for (std::size_t size = 0; size + 1 < file.size(); ++size) {
      ExpectNoOtherKey(std::string(file.substr(0, size)), "first " + std::to_string(size));
    }
    const std::string_view without_line_feed = file.substr(0, file.size() - 1);
    EXPECT_TRUE(DecodeKeyFile(without_line_feed, Says(kPassphrase)).ok());
    for (const char* const tail : {"\n", " ", "A", "=", "AAAA", "\nAAAA\n"}) {
      ExpectNoOtherKey(std::string(file) + tail, "with a tail");
    }
    const Bytes binary = BinaryOf(file);
    for (std::size_t size = 0; size < binary.size(); ++size) {
      ExpectNoOtherKey(FileOf(ByteView(binary).first(size)), "binary of " + std::to_string(size));
    }
  }
  ExpectOneLine(DecodeKeyFile(std::string(10'000, 'x'), MustNotBeAsked()).status());
}

// A file that opens as another key than it names would make its owner use the wrong identity.
TEST(KeyFile, RefusesAFirstLineThatNamesAnotherKey) {
  const PeerId other = SigningKey::FromSeed(Bytes(32, 1)).id();
  for (const std::string_view file : {kClearFile, kEncryptedFile}) {
    std::string text(file);
    text.replace(21, 64, other.Hex());
    EXPECT_EQ(InspectKeyFile(text)->id, other) << "Inspect gives the claim only";
    const auto key = DecodeKeyFile(text, Says(kPassphrase));
    ExpectOneLine(key.status());
    EXPECT_THAT(MessageOf(key.status()), HasSubstr("names another key"));
  }
}

TEST(KeyFile, RefusesHostileCostsBeforeTheyAreSpent) {
  struct {
    std::uint32_t ops, memory_kib;
  } const hostile[] = {{11, 64},     {0, 64},         {0xffffffff, 64},
                       {1, 1048577}, {1, 0xffffffff}, {0xffffffff, 0xffffffff},
                       {1, 7},       {1, 0}};
  rusage before{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &before), 0);
  for (const auto& cost : hostile) {
    const auto key = DecodeKeyFile(WithCost(cost.ops, cost.memory_kib), MustNotBeAsked());
    ExpectOneLine(key.status());
    EXPECT_THAT(MessageOf(key.status()), HasSubstr("Argon2id"));
    EXPECT_FALSE(InspectKeyFile(WithCost(cost.ops, cost.memory_kib)).ok());
  }
  rusage after{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &after), 0);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 8 * 1024) << "KiB more than before";
  // The limits themselves are allowed.
  EXPECT_TRUE(InspectKeyFile(WithCost(10, 1048576)).ok());
  EXPECT_TRUE(InspectKeyFile(WithCost(1, 8)).ok());
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||
                            __has_feature(memory_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

TEST(KeyFile, ReportsLackOfMemory) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs the address space that this test takes away";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit low{.rlim_cur = 512u << 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &low), 0);
  const KdfCost large{.ops = 1, .memory_kib = KdfCost::kMaxMemoryKib};
  const base::Status encoded = EncodeKeyFile(GoldenKey(), "p", large).status();
  const base::Status decoded =
      DecodeKeyFile(WithCost(large.ops, large.memory_kib), Says("p")).status();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  for (const base::Status& status : {encoded, decoded}) {
    ExpectOneLine(status);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  }
}

TEST(InspectKeyFile, ShowsPublicFactsWithoutThePassphrase) {
  const auto encrypted = InspectKeyFile(kEncryptedFile);
  ASSERT_TRUE(encrypted.ok()) << encrypted.status();
  EXPECT_EQ(encrypted->id, GoldenKey().id());
  EXPECT_TRUE(encrypted->encrypted);
  EXPECT_EQ(encrypted->cost, (KdfCost{.ops = 2, .memory_kib = 64}));
  const auto clear = InspectKeyFile(kClearFile);
  ASSERT_TRUE(clear.ok()) << clear.status();
  EXPECT_EQ(clear->id, GoldenKey().id());
  EXPECT_FALSE(clear->encrypted);
  EXPECT_EQ(clear->cost, (KdfCost{.ops = 0, .memory_kib = 0}));
}

TEST(InspectKeyFile, RecognizesOtherFiles) {
  const auto message = [](std::string_view text) {
    const base::Status status = InspectKeyFile(text).status();
    ExpectOneLine(status);
    return MessageOf(status);
  };
  EXPECT_THAT(message(""), HasSubstr("not an ostraka identity key"));
  EXPECT_THAT(message("-----BEGIN OPENSSH PRIVATE KEY-----\n"),
              HasSubstr("not an ostraka identity key"));
  Bytes newer = BinaryOf(kClearFile);
  newer[3] = '2';
  EXPECT_THAT(message(FileOf(newer)), HasSubstr("unknown format"));
  std::string shouting(kClearFile);
  shouting[21] = 'D';
  EXPECT_THAT(message(shouting), HasSubstr("public key"));
}

}  // namespace
}  // namespace ostraka::crypto::key_file_test
