// What this member has signed of its newest step, seen from outside of the machine: one that has
// committed to a coin owes the others the coin, its PROOF and its ECHOs, until the block.
//
// A message counts as signed when its record is Stored: the machine signs it on that input
// (node/protocol/mail/signer.h), or said it before a restart.
//
// Promises:
//   L1  Nothing is owed exactly if the machine is in no step, or no COMMIT of its step is signed.
//   L2  Of a Store nothing is kept but slots, and nothing once it is Stored.
//
// May not know: the machine, links, why somebody asks.
// Memory: the slots of the Stores in flight, three steps.
// What an attacker can do here: nothing.
//
// Thread safety: none; the protocol thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "node/host/report/stop_price.h"
#include "node/protocol/ground/machine.h"
#include "node/wire/messages.h"

namespace ostraka::host {

class Pledge {
 public:
  // What an earlier process had signed.
  void Restore(const protocol::Restored& restored);
  // The machine asks to store these records.
  void Asked(const protocol::Store& store);
  // To be told before the machine is.
  void Stored(protocol::StoreId id);

  // As of `progress`.
  Owed OwedIn(const protocol::Progress& progress) const;

  // L2; also at the end of each mutation.
  void CheckInvariants() const;

 private:
  void Note(const wire::Slot& slot);

  std::map<protocol::StoreId, std::vector<wire::Slot>> asked_;
  std::optional<std::uint64_t> commit_, reveal_, proof_;  // newest steps
};

}  // namespace ostraka::host
