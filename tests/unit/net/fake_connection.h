// A connection without a socket, which records what it is told.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "node/net/link/connection.h"

namespace ostraka::net {

class FakeConnection final : public Connection {
 public:
  FakeConnection() = default;
  explicit FakeConnection(const PeerId& peer) : peer_(peer) {}

  void Start() override { started = true; }
  void SendGo(std::uint64_t /*link_id*/) override {}
  void BecomeLink() override {}
  void Send(SharedBytes /*frame*/, std::shared_ptr<OutgoingBlob> /*blob*/) override {}
  void SendCarried(const PeerId& /*peer*/, SharedBytes /*frame*/) override {}
  void SendDialBack(const DialBackRecord& /*record*/) override {}
  void SendData(const DataRecord& /*record*/) override {}
  bool Lend(std::uint64_t /*chunk*/, SharedBytes /*bytes*/) override { return false; }
  void Look() override {}
  void Close(const Closing& closing, CloseCode /*code*/) override { Abort(closing); }
  void CloseWhenFlushed(const std::string& reason) override {
    Abort({Closing::Why::kLocal, reason});
  }
  void Abort(const Closing& closing) override {
    closing_ = true;
    why_ = closing;
  }
  void Abandon() override {}

  bool closing() const override { return closing_; }
  const Closing& why() const override { return why_; }
  bool delivered() const override { return false; }
  const Hello& their_hello() const override { return hello_; }
  const std::optional<PeerId>& peer() const override { return peer_; }
  const std::string& remote() const override { return remote_; }
  bool dialed() const override { return false; }
  const SendQueue& queue() const override { return queue_; }

  // TLS has proven `peer`.
  void Prove(const PeerId& peer) { peer_ = peer; }

  bool started = false;

 private:
  bool closing_ = false;
  Closing why_;
  Hello hello_;
  std::optional<PeerId> peer_;
  std::string remote_ = "192.0.2.1:1";
  SendQueue queue_{1000, 1000};
};

}  // namespace ostraka::net
