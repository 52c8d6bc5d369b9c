// HELLO and GO: the records before a connection is a link, and their order (docs/wire.md,
// "Channel").
//
//   kBegun ── HELLO that fits ours ──► kAccepted ── GO, theirs or ours ──► kOver
//
// Promises:
//   G1  The stage only grows, and only along the arrows.
//   G2  Nothing but one HELLO is accepted first, and nothing but one GO after it.
//   G3  theirs() is a HELLO that is compatible with ours once it was accepted.
//
// May not know: which of several connections should be the link, TLS, sockets, time.
//
// Memory: two HELLOs.
//
// What an attacker can do here: lie in `instance` and `lost_link`. The owner's choice of the link
// bounds what that is worth (node/net/mesh/link_choice.h).
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "node/base/bytes.h"
#include "node/net/records/hello.h"
#include "node/net/records/record.h"
#include "node/net/records/refusal.h"

namespace ostraka::net {

class Greeting {
 public:
  enum class Stage : std::uint8_t { kBegun, kAccepted, kOver };
  struct HelloCame {};
  struct GoCame {
    std::uint64_t link_id = 0;
  };
  // The record breaks the order or cannot be accepted: the reason to close the connection.
  struct Refused {
    Refusal refusal = Refusal::kHandshake;
    std::string reason;
  };
  using Event = std::variant<HelloCame, GoCame, Refused>;

  // `ours`: the HELLO that this side sends.
  explicit Greeting(const Hello& ours) : ours_(ours) {}

  // A record of the other side. REQUIRES: stage() < kOver.
  Event Take(RecordType type, base::ByteView body);
  // The connection is the link from here. REQUIRES: stage() == kAccepted.
  void End();

  Stage stage() const { return stage_; }
  const Hello& ours() const { return ours_; }
  // REQUIRES: stage() >= kAccepted.
  const Hello& theirs() const;

 private:
  void Advance(Stage next);

  const Hello ours_;
  Hello theirs_;
  Stage stage_ = Stage::kBegun;
};

// The body of GO.
base::Bytes EncodeGo(std::uint64_t link_id);

}  // namespace ostraka::net
