#include "node/protocol/lasting/core.h"

namespace ostraka::protocol {

Core::Core(std::shared_ptr<const Manifest> run, std::shared_ptr<const crypto::SigningKey> key,
           base::TensorLayout tensors, ModelState state, std::unique_ptr<Secrets> drawn)
    : self(key->id()),
      manifest(std::move(run)),
      layout(std::move(tensors)),
      secrets(std::move(drawn)),
      journal(std::move(key), turn),
      voice(self, manifest->run_id, turn, journal),
      jobs(turn),
      chain(std::make_shared<const Block>(GenesisHead(*manifest)), std::move(state)) {}

void Core::KeepResult(std::uint64_t step, std::uint32_t column, const SharedBlob& blob) {
  if (!chain.KeepResult(step, column, blob)) return;
  chain.ResultIsStored(step, column, journal.StoreResult(step, column, blob));
}

void Core::StoreState() { chain.StateIsStored(journal.StoreState(chain.head(), chain.state())); }

void Core::CheckInvariants() const {
  journal.CheckInvariants();
  voice.CheckInvariants();
  jobs.CheckInvariants();
  chain.CheckInvariants();
  inbox.CheckInvariants();
  own_pace.CheckInvariants();
}

void Core::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, journal, voice, jobs, chain, inbox, own_pace);
}

}  // namespace ostraka::protocol
