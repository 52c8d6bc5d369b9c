// The certificate check by itself: what it takes and what it says of all else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/rsa.h>

#include "tests/unit/net/transport_raw_peer.h"

namespace ostraka::net::transport_tls_identity_test {
namespace {

base::Bytes Der(X509* certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate, &der);
  base::Bytes bytes(der, der + size);
  OPENSSL_free(der);
  return bytes;
}

std::string ReasonFor(const base::Bytes& der) {
  const auto id = PeerIdOfCertificate(der);
  return id.ok() ? "taken" : base::MessageOf(id.status());
}

TEST(TlsIdentity, OwnCertificateProvesTheKey) {
  for (std::size_t rank = 0; rank < kTestKeys; ++rank) {
    const auto certificate = MakeCertificate(*TestKey(rank));
    ASSERT_TRUE(certificate.ok());
    const auto id = PeerIdOfCertificate(*certificate);
    ASSERT_TRUE(id.ok());
    EXPECT_EQ(*id, TestKey(rank)->id());
  }
}

TEST(TlsIdentity, OtherKeysAreNamed) {
  const KeyPtr rsa(EVP_RSA_gen(2048), &EVP_PKEY_free);
  const KeyPtr ec(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const KeyPtr ed448(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED448"), &EVP_PKEY_free);
  EXPECT_EQ(ReasonFor(Der(Certify(rsa.get(), rsa.get()).get())),
            "showed a certificate with a key of type RSA, not Ed25519");
  EXPECT_EQ(ReasonFor(Der(Certify(ec.get(), ec.get()).get())),
            "showed a certificate with a key of type EC, not Ed25519");
  EXPECT_EQ(ReasonFor(Der(Certify(ed448.get(), ed448.get()).get())),
            "showed a certificate with a key of type ED448, not Ed25519");
}

TEST(TlsIdentity, SignedByAnother) {
  const KeyPtr key = Ed25519Key(*TestKey(0));
  const KeyPtr other = Ed25519Key(*TestKey(1));
  EXPECT_EQ(ReasonFor(Der(Certify(key.get(), key.get()).get())), "taken");
  EXPECT_EQ(ReasonFor(Der(Certify(key.get(), other.get()).get())),
            "showed a certificate that its own key did not sign");
}

TEST(TlsIdentity, EveryFlippedByteIsRefusedOrKeepsTheKey) {
  const base::Bytes good = *MakeCertificate(*TestKey(0));
  std::size_t taken = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    base::Bytes bad = good;
    bad[i] ^= 0x20;
    const auto id = PeerIdOfCertificate(bad);
    if (!id.ok()) continue;
    ++taken;
    EXPECT_EQ(*id, TestKey(0)->id()) << i;
  }
  EXPECT_EQ(taken, 0u);  // the signature covers all of it
}

TEST(TlsIdentity, TruncatedExtendedAndEmptyBytesAreNoCertificate) {
  const base::Bytes good = *MakeCertificate(*TestKey(0));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(ReasonFor({good.begin(), good.begin() + size}),
              "showed bytes that are no certificate");
  }
  base::Bytes longer = good;
  longer.push_back(0);
  EXPECT_EQ(ReasonFor(longer), "showed bytes that are no certificate");
}

TEST(TlsIdentity, TheContextShowsTheCertificate) {
  const auto context = MakeTlsContext(*TestKey(3));
  ASSERT_TRUE(context.ok());
  EXPECT_EQ(Der(SSL_CTX_get0_certificate(context->get())), *MakeCertificate(*TestKey(3)));
}

}  // namespace
}  // namespace ostraka::net::transport_tls_identity_test
