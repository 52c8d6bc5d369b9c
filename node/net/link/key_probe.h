// Dials an address to learn whether a certain key answers there, and closes: TCP and TLS, and no
// word of the channel after them.
//
// Promises:
//   K1  `done` comes once, from the io_context, within the patience given, and not after the
//       destructor.
//   K2  kReached only if TLS has proven the expected key.
//   K3  The socket is closed before `done`, and by the destructor.
//
// May not know: members, why it is asked.
//
// Memory: a stream (record_stream.h), until it ends.
//
// What an attacker can do here: whoever listens at the address can be slow, which the patience
// ends, or answer with what is no TLS. It learns nothing but our key and the run's name in ALPN,
// which every dial shows.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <functional>
#include <memory>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/net/link/tls_identity.h"
#include "node/net/records/dial_back.h"
#include "node/os/endpoint.h"

namespace boost::asio {
class io_context;
}

namespace ostraka::net {

class KeyProbe {
 public:
  using Done = std::function<void(DialOutcome)>;

  // Begins at once. REQUIRES: `where.host` is a number; `tls` is not null.
  KeyProbe(boost::asio::io_context& io, const TlsContext& tls, const os::HostPort& where,
           const base::PeerId& expected, base::Duration patience, Done done);
  ~KeyProbe();
  KeyProbe(const KeyProbe&) = delete;
  KeyProbe& operator=(const KeyProbe&) = delete;

 private:
  class Attempt;
  std::shared_ptr<Attempt> attempt_;
};

}  // namespace ostraka::net
