// The other keys of a run: those that are members, or were and may come back, and which of them
// have a link now. A member that is banned while we watch is forgotten only after a while, so that
// it can still learn of its ban.
//
// Promises:
//   O1  Every linked peer is a member that is not banned.
//   O2  A member that was banned is none again.
//   O3  `forget` is called once for each member that Ban removed, `forget_after` later, never
//       within a call of this class, and never after StopForgetting (CHECKed).
//
// May not know: why a member is banned; the transport.
// Memory: one entry for each key that the run has ever known.
// What an attacker can do here: its own link goes up and down; each change is one event for people.
//
// Thread safety: none; the protocol thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/os/timer.h"

namespace ostraka::host {

class KnownKeys {
 public:
  using Forget = std::function<void(const base::PeerId&)>;

  // REQUIRES: `io` outlives the known keys.
  KnownKeys(boost::asio::io_context& io, std::set<base::PeerId> others, base::Duration forget_after,
            Forget forget);

  // A block knows `peer`. False if it is a member already, or was banned.
  bool Add(const base::PeerId& peer);
  // The newest block says that just these have left by their own word. Until they are back they
  // count nowhere. False if it was so before.
  bool SetLeft(std::set<base::PeerId> left);
  // False if `peer` does not count: it is banned, or no member.
  bool LinkChanged(const base::PeerId& peer, bool up);
  // `peer` was banned just now. False if it was banned before, or is no member.
  bool Ban(const base::PeerId& peer);
  // `peer` was banned long ago: like Ban, without `forget`, which is the caller's to do.
  bool Remove(const base::PeerId& peer);
  void StopForgetting();

  std::size_t linked_count() const { return linked().size(); }
  std::size_t member_count() const { return others().size(); }
  std::vector<base::PeerId> others() const { return WithoutLeft(others_); }
  std::vector<base::PeerId> linked() const { return WithoutLeft(linked_); }

  // O1, O3; also at the end of each mutation.
  void CheckInvariants() const;

 private:
  std::vector<base::PeerId> WithoutLeft(const std::set<base::PeerId>& peers) const;

  boost::asio::io_context& io_;
  const base::Duration forget_after_;
  const Forget forget_;
  std::set<base::PeerId> others_;  // without this node
  std::set<base::PeerId> linked_;
  std::set<base::PeerId> left_;
  std::set<base::PeerId> banned_;
  std::map<base::PeerId, os::Timer> forgetting_;
  bool stopped_ = false;  // forgetting
};

}  // namespace ostraka::host
