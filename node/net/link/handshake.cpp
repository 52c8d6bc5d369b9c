#include "node/net/link/handshake.h"

#include <utility>

#include "node/base/check.h"
#include "node/net/link/channel_errors.h"
#include "node/net/link/tls_identity.h"
#include "node/os/endpoint.h"

namespace ostraka::net {

Handshake::Handshake(std::shared_ptr<RecordStream> stream, const LinkTimeouts& timeouts,
                     std::optional<base::PeerId> expected, std::string remote,
                     base::Bytes first_bytes, Events events)
    : stream_(std::move(stream)),
      timeouts_(timeouts),
      expected_(expected),
      remote_(std::move(remote)),
      events_(std::move(events)),
      first_bytes_(std::move(first_bytes)) {}

void Handshake::Advance(Step next) {
  const bool skips_tcp = step_ == Step::kIdle && next == Step::kTls && !expected_;
  OSTRAKA_CHECK(skips_tcp || static_cast<int>(next) == static_cast<int>(step_) + 1);  // H1
  step_ = next;
}

// --- TCP -----------------------------------------------------------------------------------------

void Handshake::Start() {
  if (expected_) return Dial();
  Advance(Step::kTls);
  if (!Tune()) return;
  stream_->StartTlsAsServer(std::move(first_bytes_),
                            [self = shared_from_this()](error_code ec) { self->OnTls(ec); });
}

void Handshake::Dial() {
  Advance(Step::kTcp);
  const base::StatusOr<os::HostPort> where = os::ParseHostPort(remote_);
  if (!where.ok()) {
    return stream_->Post([self = shared_from_this(), reason = base::MessageOf(where.status())] {
      if (!self->is_over()) self->Lose(reason);
    });
  }
  stream_->Connect(*where, [self = shared_from_this()](error_code ec, bool name_unknown) {
    self->OnConnected(ec, name_unknown);
  });
}

void Handshake::OnConnected(error_code ec, bool name_unknown) {
  if (is_over()) return;
  if (ec && name_unknown) {
    return Lose("has an address that no name server knows: " + ec.message());
  }
  if (ec) return Lose("cannot be reached: " + ec.message());
  Advance(Step::kTls);
  if (!Tune()) return;
  stream_->StartTlsAsClient(
      [self = shared_from_this()](error_code result) { self->OnTls(result); });
}

bool Handshake::Tune() {
  const error_code ec = stream_->TuneSocket();
  if (!ec) return true;
  stream_->Post([self = shared_from_this(), reason = ec.message()] {
    if (!self->is_over()) self->Lose("cannot be given TCP_NODELAY: " + reason);
  });
  return false;
}

// --- TLS and identity ----------------------------------------------------------------------------

void Handshake::OnTls(error_code ec) {
  if (is_over()) return;
  if (!stream_->tls_refusal().empty()) return Refuse(stream_->tls_refusal());
  if (IsTlsError(ec)) return Refuse(Explain(ec));
  if (ec) return Lose("left during the TLS handshake: " + Explain(ec));
  const base::StatusOr<base::PeerId> id = stream_->Authenticated();
  if (!id.ok()) return Refuse(base::MessageOf(id.status()));
  if (expected_ && *id != *expected_) {  // H3
    return Refuse("is " + id->Short() + ", not the " + expected_->Short() + " that we dialed",
                  Refusal::kIdentity);
  }
  const base::StatusOr<Hello> hello = events_.authenticated(*id);
  if (is_over()) return;
  if (!hello.ok()) {
    const bool too_many = hello.status().code() == absl::StatusCode::kUnavailable;
    return Refuse(base::MessageOf(hello.status()), too_many ? Refusal::kQuota : Refusal::kIdentity);
  }
  ours_ = *hello;
  Advance(Step::kUpgrade);
  const auto done = [self = shared_from_this()](error_code result) { self->OnUpgraded(result); };
  if (expected_) {
    stream_->UpgradeAsClient(timeouts_, remote_, done);
  } else {
    stream_->UpgradeAsServer(timeouts_, done);
  }
}

// --- upgrade -------------------------------------------------------------------------------------

void Handshake::OnUpgraded(error_code ec) {
  if (is_over()) return;
  if (IsTlsError(ec)) return Refuse(ExplainOnLink(ec));
  if (IsWebSocketError(ec)) return Refuse(ExplainUpgrade(ec));
  if (ec) return Lose("left during the WebSocket upgrade: " + Explain(ec));
  Advance(Step::kOver);
  events_.upgraded(ours_);
}

// --- how it fails --------------------------------------------------------------------------------

Closing Handshake::Late() const {
  const std::string within = " within " + FormatSeconds(timeouts_.handshake);
  switch (step_) {
    case Step::kTls:
      return {Closing::Why::kRefused, "did not finish the TLS handshake" + within,
              Refusal::kHandshake};
    case Step::kUpgrade:
      return {Closing::Why::kRefused, "did not finish the WebSocket upgrade" + within,
              Refusal::kHandshake};
    default:
      return {Closing::Why::kLost, "did not answer" + within};
  }
}

void Handshake::Refuse(const std::string& reason, Refusal refusal) {
  Fail({Closing::Why::kRefused, reason, refusal});
}

void Handshake::Lose(const std::string& reason) { Fail({Closing::Why::kLost, reason}); }

void Handshake::Fail(const Closing& why) {
  Cancel();
  events_.failed(why);
}

}  // namespace ostraka::net
