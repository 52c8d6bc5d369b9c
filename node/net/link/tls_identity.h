// Peer identity: TLS 1.3 with self-signed certificates whose key is the peer's identity key.
//
// There is no certificate authority, and names and dates are ignored. The Ed25519 public key is the
// peer id, and TLS proves that the other side holds its private key. A certificate is accepted only
// if the chain has no other (depth 0), its key is Ed25519 and that key signed it.
//
// Thread safety: a TlsContext may be shared by connections of one thread; the other functions are
// pure.
#pragma once

#include <memory>
#include <string>

#include "crypto/sign.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX and SSL
struct ssl_st;

namespace ostraka::net {

// One OpenSSL context for both roles.
using TlsContext = std::shared_ptr<ssl_ctx_st>;

// TLS 1.3 only, ed25519 signatures only, both sides authenticated, ALPN "ostraka", no tickets, no
// session cache. A dialer also offers the ALPN name of `run` (client_hello.h) unless `run` is zero.
// Internal: OpenSSL failed.
base::StatusOr<TlsContext> MakeTlsContext(const crypto::SigningKey& key,
                                          const base::Digest& run = {});

// The certificate that MakeTlsContext presents, in DER.
base::StatusOr<base::Bytes> MakeCertificate(const crypto::SigningKey& key);

// The id that a certificate stands for once TLS has proven possession of its key. InvalidArgument,
// phrased about the other side, for any other bytes or certificate.
base::StatusOr<base::PeerId> PeerIdOfCertificate(base::ByteView der);

// Makes the certificate check write its reason for a refusal to `*refusal`, because OpenSSL's own
// report says less. REQUIRES: `refusal` outlives `ssl`.
void ReportRefusal(ssl_st* ssl, std::string* refusal);

// The peer's id after a successful handshake. An error if any required property does not hold.
base::StatusOr<base::PeerId> AuthenticatedPeer(ssl_st* ssl);

// Explains an OpenSSL error code (from ERR_get_error) of a handshake, or of a later record, phrased
// about the other side and never in OpenSSL's words.
std::string ExplainTlsError(unsigned long code);
std::string ExplainTlsRecordError(unsigned long code);

// The library that does all this, as it is loaded: "OpenSSL 3.0.19 27 Jan 2026".
std::string TlsLibrary();

}  // namespace ostraka::net
