// Who is at the other end: TLS 1.3 with self-signed certificates whose key is the peer's identity.
//
// There is no authority and no name in these certificates: the Ed25519 public key is the peer id,
// and TLS proves that the other side holds its private key. A certificate is taken only if it is
// alone (depth 0), its key is Ed25519 and it is signed by that key; dates and names mean nothing.
//
// Thread safety: a TlsContext may be shared by connections of one thread; the rest is pure.
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
// session cache. A dialer names `run` beside it (client_hello.h); zero: none. Internal: OpenSSL
// failed.
base::StatusOr<TlsContext> MakeTlsContext(const crypto::SigningKey& key,
                                          const base::Digest& run = {});

// The certificate that MakeTlsContext shows, in DER.
base::StatusOr<base::Bytes> MakeCertificate(const crypto::SigningKey& key);

// The id that a certificate proves once TLS has proven its key. InvalidArgument, with a reason as
// said of the other side, for any other bytes or certificate.
base::StatusOr<base::PeerId> PeerIdOfCertificate(base::ByteView der);

// The reason for which our own check refuses the certificate of a peer lands in `*refusal`, for
// what OpenSSL then reports says less. REQUIRES: `refusal` outlives `ssl`.
void ReportRefusal(ssl_st* ssl, std::string* refusal);

// After a handshake that succeeded: who the peer is. An error if anything that must hold does not.
base::StatusOr<base::PeerId> AuthenticatedPeer(ssl_st* ssl);

// What an OpenSSL error code (ERR_get_error's) of a handshake means here, as said of the other
// side, and of a record after it. Never in OpenSSL's words.
std::string ExplainTlsError(unsigned long code);
std::string ExplainTlsRecordError(unsigned long code);

}  // namespace ostraka::net
