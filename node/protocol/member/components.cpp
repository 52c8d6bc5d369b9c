#include "node/protocol/member/components.h"

#include <utility>

#include "node/base/check.h"
#include "node/protocol/ground/reach.h"

namespace ostraka::protocol {

namespace {

ModelState FirstState(PeerOptions& options) {
  const std::uint64_t dimension = base::ElementCount(options.layout);
  OSTRAKA_CHECK(options.initial_parameters->size() == dimension);
  // A part has at least two elements, so that its directions are random.
  OSTRAKA_CHECK(dimension >= 2 * SeatsIn(*options.manifest));
  return InitialStateOf(options, options.manifest->training.optimizer);
}

}  // namespace

ModelState InitialStateOf(PeerOptions& options, aggregation::Optimizer optimizer) {
  if (options.initial_slots.empty()) {
    return FreshState(std::move(options.initial_parameters), optimizer);
  }
  ModelState state{std::move(options.initial_parameters), std::move(options.initial_slots)};
  OSTRAKA_CHECK(SlotNamesOf(state) == SlotNamesOf(optimizer));
  return state;
}

Components::Components(PeerOptions& options)
    : Core(options.manifest, options.key, options.layout, FirstState(options),
           options.secrets ? options.secrets(options.key->id())
                           : std::make_unique<SeedSecrets>(options.key->id())),
      MemberState(static_cast<Core&>(*this), options.guest_bytes_a_second),
      genesis(self, manifest->run_id, chain.shared_head(), inbox),
      check(std::move(options.verifier), ration, turn, voice),
      post(self, manifest->run_id, CountsReach(*manifest)),
      routes(options.routes) {
  post.SetHead(chain.shared_head());
  OSTRAKA_CHECK(Validate(*manifest).ok());
  OSTRAKA_CHECK(IsMember(chain.head().members, self) || IsOpen(*manifest));
}

void Components::CheckInvariants() const {
  Core::CheckInvariants();
  MemberState::CheckInvariants(KeysIn(*manifest));
  genesis.CheckInvariants();
}

void Components::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, stage);
  Core::HashInto(hasher);
  crypto::Feed(hasher, genesis);
  MemberState::HashInto(hasher);
  crypto::Feed(hasher, post);
}

}  // namespace ostraka::protocol
