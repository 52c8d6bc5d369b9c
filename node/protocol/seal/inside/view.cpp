#include "node/protocol/seal/inside/view.h"

namespace ostraka::protocol {

std::set<Digest> NamedValues(const SealView& seal) {
  std::set<Digest> named = seal.slow_path.rounds().ProposedValues();
  for (const auto& [sender, echo] : seal.echoes.all()) named.insert(echo.body.vector);
  if (seal.echoes.sent_at()) named.insert(seal.echoes.own_value());
  const SealLock& lock = seal.slow_path.certificates().lock();
  if (lock.rank > 0) named.insert(lock.value);
  if (seal.decision.made()) named.insert(seal.decision.value());
  return named;
}

}  // namespace ostraka::protocol
