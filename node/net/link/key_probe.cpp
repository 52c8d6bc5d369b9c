#include "node/net/link/key_probe.h"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <utility>

#include "node/base/check.h"
#include "node/net/link/record_stream.h"
#include "node/os/timer.h"

namespace ostraka::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

DialOutcome OutcomeOf(const error_code& error) {
  if (error == asio::error::connection_refused || error == asio::error::connection_reset) {
    return DialOutcome::kRefused;
  }
  return error == asio::error::timed_out ? DialOutcome::kSilent : DialOutcome::kUnreachable;
}

}  // namespace

class KeyProbe::Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(asio::io_context& io, const TlsContext& tls, const base::PeerId& expected, Done done)
      : stream_(std::make_shared<RecordStream>(io, tls)),
        deadline_(io),
        expected_(expected),
        done_(std::move(done)) {}

  void Start(const os::HostPort& where, base::Duration patience) {
    deadline_.Start(patience, [weak = weak_from_this()] {
      // Held until the end, because `done` may destroy the probe.
      const auto self = weak.lock();
      if (self) self->End(self->connected_ ? DialOutcome::kNoNode : DialOutcome::kSilent);
    });
    stream_->Connect(where, [self = shared_from_this()](error_code ec, bool /*name_unknown*/) {
      self->OnConnected(ec);
    });
  }

  // No event follows.
  void Close() {
    done_ = nullptr;
    deadline_.Cancel();
    stream_->CloseSocket();
  }

 private:
  void OnConnected(error_code ec) {
    if (!done_) return;
    if (ec) return End(OutcomeOf(ec));
    connected_ = true;
    stream_->StartTlsAsClient([self = shared_from_this()](error_code result) {
      if (self->done_) self->OnTls(result);
    });
  }

  void OnTls(error_code ec) {
    if (ec) return End(DialOutcome::kNoNode);
    const base::StatusOr<base::PeerId> id = stream_->Authenticated();
    if (!id.ok()) return End(DialOutcome::kNoNode);
    End(*id == expected_ ? DialOutcome::kReached : DialOutcome::kOtherKey);  // K2
  }

  void End(DialOutcome outcome) {
    OSTRAKA_CHECK(done_ != nullptr);  // K1
    const Done done = std::move(done_);
    Close();
    done(outcome);
  }

  const std::shared_ptr<RecordStream> stream_;
  os::Timer deadline_;
  const base::PeerId expected_;
  bool connected_ = false;
  Done done_;  // null once it has ended
};

KeyProbe::KeyProbe(asio::io_context& io, const TlsContext& tls, const os::HostPort& where,
                   const base::PeerId& expected, base::Duration patience, Done done)
    : attempt_(std::make_shared<Attempt>(io, tls, expected, std::move(done))) {
  attempt_->Start(where, patience);
}

KeyProbe::~KeyProbe() { attempt_->Close(); }

}  // namespace ostraka::net
