// Which connection with one member is the link (docs/decisions/0003-channel.md).
//
// The side with the smaller id decides alone: it sends GO on the first connection whose HELLO it
// accepts, and closes the others as duplicates. A new connection replaces a link only if its HELLO
// proves the link dead: by another instance (the peer restarted) or by naming the link as lost. The
// other side follows each GO that was not overtaken by a later one.
//
// Promises:
//   K1  There is at most one link. Its id and instance are kept with it.
//   K2  Of two honest sides both have the same link, or one of them is about to learn of it.
//   K3  A link that is not closing is replaced only with proof (OnHello), or by the side that
//       decides (OnGo).
//   K4  lost_link names the last link that ended, as HELLO tells it.
//
// May not know: dials, addresses, who is a member.
//
// Memory: a reference to one connection.
//
// What an attacker can do here: claim a new instance again and again, and so replace its own link.
// Nobody else's link is touched, since TLS has proven whose connection it is.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "node/base/check.h"
#include "node/base/time.h"
#include "node/net/link/connection.h"

namespace ostraka::net {

class LinkChoice {
 public:
  enum class Verdict : std::uint8_t { kLink, kDuplicate };

  explicit LinkChoice(bool we_decide) : we_decide_(we_decide) {}

  bool we_decide() const { return we_decide_; }
  // The link, which may be closing; null: down.
  const std::shared_ptr<Connection>& link() const { return link_; }
  bool is_up() const { return link_ != nullptr && !link_->closing(); }
  std::uint64_t link_id() const { return link_id_; }
  std::uint64_t lost_link() const { return lost_link_; }

  // Judges a new connection by its HELLO. REQUIRES: we_decide().
  Verdict OnHello(const Hello& theirs) const {
    OSTRAKA_CHECK(we_decide_);
    if (!is_up()) return Verdict::kLink;
    const bool is_dead = theirs.instance != instance_ || theirs.lost_link == link_id_;
    return is_dead ? Verdict::kLink : Verdict::kDuplicate;  // K3
  }
  // Judges a GO that came on a connection of `instance`. REQUIRES: !we_decide().
  Verdict OnGo(std::uint64_t instance, std::uint64_t link_id) const {
    OSTRAKA_CHECK(!we_decide_);
    const bool is_late = link_ != nullptr && instance == instance_ && link_id < link_id_;
    return is_late ? Verdict::kDuplicate : Verdict::kLink;
  }

  // REQUIRES: link() is null, `link` is not.
  void Begin(std::shared_ptr<Connection> link, std::uint64_t link_id, std::uint64_t instance,
             base::Time now) {
    OSTRAKA_CHECK(link_ == nullptr && link != nullptr);  // K1
    link_ = std::move(link);
    link_id_ = link_id;
    instance_ = instance;
    up_since_ = now;
  }
  // Returns how long the link lived. REQUIRES: link() is not null.
  base::Duration End(base::Time now) {
    OSTRAKA_CHECK(link_ != nullptr);  // K1
    link_ = nullptr;
    lost_link_ = link_id_;  // K4
    return now - up_since_;
  }

 private:
  const bool we_decide_;
  std::shared_ptr<Connection> link_;
  std::uint64_t link_id_ = 0;    // of the link, or of the last one
  std::uint64_t instance_ = 0;   // the peer's process on that link
  std::uint64_t lost_link_ = 0;  // 0: none yet
  base::Time up_since_;
};

}  // namespace ostraka::net
