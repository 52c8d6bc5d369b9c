// The steps before records flow: TCP, TLS, WebSocket upgrade, for one connection.
//
//   dial:   kTcp ──► kTls ──► kUpgrade ──► kOver
//   accept:          kTls ──► kUpgrade ──► kOver
//
// Promises:
//   H1  The step only grows, and only along the arrows.
//   H2  Exactly one of `upgraded` and `failed` is called, or none after Cancel; never within Start.
//       `authenticated` precedes `upgraded`, once, with an id that TLS has proven.
//   H3  A dialed connection is upgraded only if the proven id is the expected one.
//
// May not know: members, other connections, HELLO's meaning, records.
//
// Memory: constant, over the stream's.
//
// What an attacker can do here: be slow (the caller's deadline ends it, Late names the step), or
// break a rule of TLS, HTTP or WebSocket (`failed` names it).
//
// Lifetime: operations of the stream hold a reference. Thread safety: none; the thread that runs
// the io_context.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/net/link/link_options.h"
#include "node/net/link/record_stream.h"
#include "node/net/records/closing.h"
#include "node/net/records/hello.h"

namespace ostraka::net {

class Handshake : public std::enable_shared_from_this<Handshake> {
 public:
  struct Events {
    // Returns the HELLO to send. An error closes: Unavailable counts as a quota, others as
    // identity.
    std::function<base::StatusOr<Hello>(const base::PeerId& id)> authenticated;
    std::function<void(const Hello& ours)> upgraded;
    std::function<void(const Closing& why)> failed;
  };

  // `expected`: the id to dial; nullopt for a socket that the stream has adopted, from which
  // `first_bytes` were read. `remote`: "host:port".
  Handshake(std::shared_ptr<RecordStream> stream, const LinkTimeouts& timeouts,
            std::optional<base::PeerId> expected, std::string remote, base::Bytes first_bytes,
            Events events);

  // REQUIRES: called once.
  void Start();
  // No event follows.
  void Cancel() { step_ = Step::kOver; }

  // Why the connection closes if the time for all steps is over.
  Closing Late() const;

 private:
  using error_code = RecordStream::error_code;
  enum class Step : std::uint8_t { kIdle, kTcp, kTls, kUpgrade, kOver };

  bool is_over() const { return step_ == Step::kOver; }
  void Advance(Step next);
  void Dial();
  void OnConnected(error_code ec, bool name_unknown);
  bool Tune();
  void OnTls(error_code ec);
  void OnUpgraded(error_code ec);
  void Refuse(const std::string& reason, Refusal refusal = Refusal::kHandshake);
  void Lose(const std::string& reason);
  void Fail(const Closing& why);

  const std::shared_ptr<RecordStream> stream_;
  const LinkTimeouts timeouts_;
  const std::optional<base::PeerId> expected_;
  const std::string remote_;
  const Events events_;
  base::Bytes first_bytes_;  // until Start
  Step step_ = Step::kIdle;
  Hello ours_;
};

}  // namespace ostraka::net
