// Who asks to come into a drawn world, and by what: keys of the genesis, of its list, and of
// nobody, with invites that are good, ended, nearly used up, to watch only, or signed by nobody
// that counts.
//
// Promises:
//   O1  Equal arguments give equal statements.
//
// May not know: who may come in. It includes nothing of node/protocol/rules.
//
// Memory: a voucher for each key.
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "node/base/rng.h"
#include "node/protocol/ground/manifest.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

class Door {
 public:
  explicit Door(base::Rng rng) : rng_(rng) {}

  // Few guests, or more than can be candidates at once.
  std::uint32_t DrawGuestCount() { return guest_count_ = Luck(25) ? 24 : 6; }
  // Draws manifest.join. `guests`: keys of nobody. `stranger` may be a moderator, and `forger`
  // signs invites without being one. REQUIRES: as many guests as were drawn; the members are set.
  void Open(std::vector<PeerId> guests, const PeerId& stranger, const PeerId& forger,
            Manifest& manifest);

  const std::vector<PeerId>& guests() const { return guests_; }
  // It asks to come in, and not to return.
  bool Comes(const PeerId& peer) const { return comes_.contains(peer); }

  // By who states it and by the key that asks.
  using Stated = std::map<PeerId, std::map<PeerId, std::optional<wire::Voucher>>>;
  // A moderator takes back an invite, or all of its own: rightly, or by another key's signature.
  using Keys = std::map<PeerId, std::shared_ptr<const crypto::SigningKey>>;
  wire::Revocation DrawRevocation(const Manifest& manifest, const Keys& keys);
  Stated Draw(const wire::Block& head, const Manifest& manifest, std::uint64_t step);
  // What of it fits one PROOF beside those `joins`.
  std::vector<wire::Arrival> Fitting(const std::map<PeerId, std::optional<wire::Voucher>>& vouchers,
                                     const std::vector<PeerId>& joins);

 private:
  bool Luck(std::uint64_t percent) { return rng_.Chance(percent, 100); }
  template <typename T>
  const T& AnyOf(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(rng_.Below(list.size()))];
  }
  std::vector<PeerId> Some(std::vector<PeerId> of, std::size_t count);
  wire::Invite DrawnInvite(const Manifest& manifest, std::uint64_t step);
  wire::Voucher AnyVoucher(const Manifest& manifest);
  std::optional<wire::Voucher> ShownBy(const PeerId& peer, const Manifest& manifest);

  base::Rng rng_;
  std::uint32_t guest_count_ = 0;
  std::vector<PeerId> guests_;
  PeerId forger_;
  std::vector<wire::Invite> invites_;
  std::map<PeerId, std::optional<wire::Voucher>> shown_;
  std::set<PeerId> comes_;
};

}  // namespace ostraka::protocol
