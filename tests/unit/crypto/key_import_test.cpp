#include "crypto/key_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ostraka::crypto::key_import_test {
namespace {

using base::MessageOf;
using testing::HasSubstr;

// RFC 8032, 7.1, test 1; the PEM text of that seed is what OpenSSL 3.0 writes.
constexpr char kSeed[] = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
constexpr char kPublic[] = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
constexpr char kPem[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";

std::string Refusal(std::string_view text) {
  const auto key = ImportKey(text);
  EXPECT_EQ(key.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return MessageOf(key.status());
}

TEST(KeyImport, TakesTheSeedInHexadecimal) {
  for (const std::string& text :
       {std::string(kSeed), " \r\n" + std::string(kSeed) + "\r\n",
        std::string("9D61B19DEFFD5A60BA844AF492EC2CC44449C5697B326919703BAC031CAE7F60")}) {
    const auto key = ImportKey(text);
    ASSERT_TRUE(key.ok()) << key.status();
    EXPECT_EQ(key->id().Hex(), kPublic);
  }
}

TEST(KeyImport, TakesOpenSslsPem) {
  const auto key = ImportKey(kPem);
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_EQ(key->id().Hex(), kPublic);
  std::string windows = kPem;
  for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) {
    windows.insert(at, 1, '\r');
  }
  EXPECT_EQ(ImportKey("\n" + windows)->id(), key->id());
}

TEST(KeyImport, RefusesOtherTexts) {
  const std::string seed = kSeed;
  for (const std::string& text : {std::string(), std::string("\n"), seed.substr(1), seed + "0",
                                  seed.substr(2) + "zz", seed.substr(0, 32) + " " + seed.substr(32),
                                  std::string(64, '\0'), std::string(5000, 'x')}) {
    EXPECT_THAT(Refusal(text), HasSubstr("64 hexadecimal digits"));
  }
}

TEST(KeyImport, RefusesPemOfOtherKindsWithARemedy) {
  EXPECT_THAT(Refusal("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIG=\n"), HasSubstr("openssl pkey"));
  EXPECT_THAT(Refusal("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n"), HasSubstr("SSH key"));
  EXPECT_THAT(Refusal("ostraka identity key 00\nabc\n"), HasSubstr("already"));
  // An X25519 key differs in one byte of the algorithm, an EC key in more.
  EXPECT_THAT(Refusal("-----BEGIN PRIVATE KEY-----\n"
                      "MC4CAQAwBQYDK2VuBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
                      "-----END PRIVATE KEY-----\n"),
              HasSubstr("no Ed25519 key"));
  const std::string pem = kPem;
  EXPECT_THAT(Refusal(pem.substr(0, pem.size() - 20)), HasSubstr("cut short"));
  EXPECT_THAT(Refusal(pem + pem), HasSubstr("more follows"));
  for (std::size_t i = 28; i < 92; i += 4) {
    std::string bad = pem;
    bad.erase(i, 4);
    EXPECT_THAT(Refusal(bad), HasSubstr("no Ed25519 key")) << i;
  }
}

}  // namespace
}  // namespace ostraka::crypto::key_import_test
