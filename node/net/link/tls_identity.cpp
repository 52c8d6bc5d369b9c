#include "node/net/link/tls_identity.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <cstring>

#include "node/net/link/client_hello.h"

namespace ostraka::net {
namespace {

using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using CertificatePtr = std::unique_ptr<X509, decltype(&X509_free)>;

constexpr unsigned char kAlpn[] = "\x07ostraka";  // a length and the name
constexpr unsigned int kAlpnSize = sizeof(kAlpn) - 1;
// The longest certificate list that is read; ours has 220 bytes.
constexpr long kMaxCertificateBytes = 4096;

base::Status OpenSslFailed(const char* what) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return base::Internal(std::string("OpenSSL: ") + what + " failed: " + text.data());
}

KeyPtr PrivateKeyOf(const crypto::SigningKey& key) {
  const base::ByteView seed = key.seed();
  return {EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()),
          &EVP_PKEY_free};
}

base::StatusOr<CertificatePtr> SelfSign(EVP_PKEY* key) {
  CertificatePtr certificate(X509_new(), &X509_free);
  if (!certificate) return OpenSslFailed("X509_new");
  X509* x = certificate.get();
  // Dates are not checked, since strangers' clocks differ; these are RFC 5280's "no expiry" values.
  const bool filled = X509_set_version(x, X509_VERSION_3) == 1 &&
                      ASN1_INTEGER_set(X509_get_serialNumber(x), 1) == 1 &&
                      ASN1_TIME_set_string(X509_getm_notBefore(x), "20200101000000Z") == 1 &&
                      ASN1_TIME_set_string(X509_getm_notAfter(x), "99991231235959Z") == 1 &&
                      X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                                                 reinterpret_cast<const unsigned char*>("ostraka"),
                                                 -1, -1, 0) == 1 &&
                      X509_set_issuer_name(x, X509_get_subject_name(x)) == 1 &&
                      X509_set_pubkey(x, key) == 1;
  if (!filled) return OpenSslFailed("filling a certificate");
  // Ed25519 takes no digest: passing one is an error.
  if (X509_sign(x, key, nullptr) == 0) return OpenSslFailed("X509_sign");
  return certificate;
}

base::StatusOr<base::PeerId> CheckCertificate(X509* certificate) {
  EVP_PKEY* key = X509_get0_pubkey(certificate);
  if (key == nullptr) return base::InvalidArgument("showed a certificate with an unreadable key");
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519) {
    const char* name = EVP_PKEY_get0_type_name(key);
    return base::InvalidArgument(std::string("showed a certificate with a key of type ") +
                                 (name == nullptr ? "unknown" : name) + ", not Ed25519");
  }
  if (X509_verify(certificate, key) != 1) {
    ERR_clear_error();
    return base::InvalidArgument("showed a certificate that its own key did not sign");
  }
  base::PeerId id;
  std::size_t size = id.bytes.size();
  if (EVP_PKEY_get_raw_public_key(key, id.bytes.data(), &size) != 1 || size != id.bytes.size()) {
    return OpenSslFailed("EVP_PKEY_get_raw_public_key");
  }
  return id;
}

// Where ReportRefusal keeps its pointer. Asio uses the application slot (index 0) itself.
int RefusalIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

// Replaces OpenSSL's chain building (SSL_CTX_set_cert_verify_callback), so that none of its
// defaults can accept a certificate.
int VerifyPeerCertificate(X509_STORE_CTX* store, void* /*unused*/) {
  const auto* chain = X509_STORE_CTX_get0_untrusted(store);
  base::Status status = base::OkStatus();
  if (sk_X509_num(chain) != 1) {
    status = base::InvalidArgument("showed a chain of certificates, not one self-signed");
  } else {
    status = CheckCertificate(X509_STORE_CTX_get0_cert(store)).status();
  }
  if (status.ok()) {
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
  }
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* refusal = static_cast<std::string*>(SSL_get_ex_data(ssl, RefusalIndex()));
  if (refusal != nullptr) *refusal = base::MessageOf(status);
  X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
  return 0;
}

int SelectAlpn(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size,
               const unsigned char* offered, unsigned int offered_size, void* /*unused*/) {
  unsigned char* selected = nullptr;
  if (SSL_select_next_proto(&selected, out_size, kAlpn, kAlpnSize, offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = selected;
  return SSL_TLSEXT_ERR_OK;
}

// OpenSSL numbers the alerts that the other side sends from this offset on.
bool IsAlert(unsigned long code) { return ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET; }
int AlertOf(unsigned long code) { return ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET; }

}  // namespace

base::StatusOr<TlsContext> MakeTlsContext(const crypto::SigningKey& key, const base::Digest& run) {
  std::string offered(reinterpret_cast<const char*>(kAlpn), kAlpnSize);
  if (!run.is_zero()) {
    const std::string name = AlpnOfRun(run);
    offered += static_cast<char>(name.size()) + name;
  }
  const TlsContext context(SSL_CTX_new(TLS_method()), &SSL_CTX_free);
  const KeyPtr private_key = PrivateKeyOf(key);
  if (!context || !private_key) return OpenSslFailed("making a context");
  ASSIGN_OR_RETURN(const CertificatePtr certificate, SelfSign(private_key.get()));
  SSL_CTX* ctx = context.get();
  const bool configured =
      SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) == 1 &&
      SSL_CTX_set_ciphersuites(
          ctx, "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1 &&
      SSL_CTX_set1_groups_list(ctx, "X25519:P-256") == 1 &&
      SSL_CTX_set1_sigalgs_list(ctx, "ed25519") == 1 && SSL_CTX_set_num_tickets(ctx, 0) == 1 &&
      SSL_CTX_set_alpn_protos(ctx, reinterpret_cast<const unsigned char*>(offered.data()),
                              static_cast<unsigned>(offered.size())) == 0 &&  // 0 is success here
      SSL_CTX_use_certificate(ctx, certificate.get()) == 1 &&
      SSL_CTX_use_PrivateKey(ctx, private_key.get()) == 1;
  if (!configured) return OpenSslFailed("configuring a context");
  SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_max_cert_list(ctx, kMaxCertificateBytes);
  SSL_CTX_set_alpn_select_cb(ctx, &SelectAlpn, nullptr);
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(ctx, &VerifyPeerCertificate, nullptr);
  return context;
}

base::StatusOr<base::Bytes> MakeCertificate(const crypto::SigningKey& key) {
  const KeyPtr private_key = PrivateKeyOf(key);
  if (!private_key) return OpenSslFailed("EVP_PKEY_new_raw_private_key");
  ASSIGN_OR_RETURN(const CertificatePtr certificate, SelfSign(private_key.get()));
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate.get(), &der);
  if (size <= 0) return OpenSslFailed("i2d_X509");
  base::Bytes bytes(der, der + size);
  OPENSSL_free(der);
  return bytes;
}

base::StatusOr<base::PeerId> PeerIdOfCertificate(base::ByteView der) {
  const unsigned char* at = der.data();
  const CertificatePtr certificate(d2i_X509(nullptr, &at, static_cast<long>(der.size())),
                                   &X509_free);
  if (!certificate || at != der.data() + der.size()) {
    ERR_clear_error();
    return base::InvalidArgument("showed bytes that are no certificate");
  }
  return CheckCertificate(certificate.get());
}

void ReportRefusal(ssl_st* ssl, std::string* refusal) {
  SSL_set_ex_data(ssl, RefusalIndex(), refusal);
}

base::StatusOr<base::PeerId> AuthenticatedPeer(ssl_st* ssl) {
  if (SSL_version(ssl) != TLS1_3_VERSION) return base::InvalidArgument("does not speak TLS 1.3");
  const unsigned char* alpn = nullptr;
  unsigned int alpn_size = 0;
  SSL_get0_alpn_selected(ssl, &alpn, &alpn_size);
  // A client without the extension never reaches SelectAlpn.
  if (alpn_size != kAlpnSize - 1 || std::memcmp(alpn, kAlpn + 1, alpn_size) != 0) {
    return base::InvalidArgument("did not ask for ALPN \"ostraka\"");
  }
  X509* certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) return base::InvalidArgument("showed no certificate");
  return CheckCertificate(certificate);
}

std::string ExplainTlsError(unsigned long code) {
  switch (ERR_GET_REASON(code)) {
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return "showed no Ed25519 certificate";
    case SSL_R_WRONG_SIGNATURE_TYPE:
      return "signed the handshake with a key that is not Ed25519";
    case SSL_R_NO_APPLICATION_PROTOCOL:
    case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
      return "speaks TLS, but not ALPN \"ostraka\"";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_UNKNOWN_PROTOCOL:
    case SSL_R_NO_PROTOCOLS_AVAILABLE:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "does not speak TLS 1.3";
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_BAD_RECORD_TYPE:
      return "does not speak TLS";
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return "has no Ed25519 certificate";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
      return "refused our certificate";
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC:
    case SSL_R_BAD_SIGNATURE:
    case SSL_R_DIGEST_CHECK_FAILED:
      return "sent a TLS handshake that does not verify: something changed it on its way, or it is "
             "forged";
    default:
      if (IsAlert(code)) {
        return "ended the TLS handshake with alert " + std::to_string(AlertOf(code)) +
               ": it cannot read ours";
      }
      return "sent a malformed TLS handshake (OpenSSL's reason " +
             std::to_string(ERR_GET_REASON(code)) + ")";
  }
}

std::string ExplainTlsRecordError(unsigned long code) {
  if (IsAlert(code)) {
    return "ended TLS with alert " + std::to_string(AlertOf(code)) + ": it cannot read ours";
  }
  return "sent a TLS record that does not decrypt: something changed it on its way, or it is "
         "forged";
}

std::string TlsLibrary() { return OpenSSL_version(OPENSSL_VERSION); }

}  // namespace ostraka::net
