#include "node/protocol/member/parts.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/ground/reach.h"

namespace ostraka::protocol {

namespace {

std::uint64_t GuestBytesASecond(const PeerOptions& options) {
  const std::uint64_t most = Ration::BytesASecond(base::ElementCount(options.layout));
  if (options.guest_bytes_a_second == 0) return most;
  return std::min(most, options.guest_bytes_a_second);
}

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

Parts::Parts(PeerOptions& options)
    : self(options.key->id()),
      manifest(options.manifest),
      layout(options.layout),
      secrets(options.secrets ? options.secrets(self) : std::make_unique<SeedSecrets>(self)),
      journal(options.key, &turn),
      voice(self, manifest->run_id, &turn, &journal),
      jobs(&turn),
      chain(std::make_shared<const Block>(GenesisHead(*manifest)), FirstState(options)),
      genesis(self, manifest->run_id, chain.shared_head(), &inbox),
      ration(Ration::BytesASecond(base::ElementCount(layout)), GuestBytesASecond(options)),
      check(std::move(options.verifier), &ration, &turn, &voice),
      server({self, layout, &turn, &voice, &journal, &chain, &inbox, &ration}),
      charges(self, manifest, &journal),
      reports(self),
      duties(self, manifest, &chain),
      duty_jobs(&duties, &jobs),
      post(self, manifest->run_id, CountsReach(*manifest)),
      routes(options.routes) {
  post.SetHead(chain.shared_head());
  OSTRAKA_CHECK(Validate(*manifest).ok());
  OSTRAKA_CHECK(IsMember(chain.head().members, self) || IsOpen(*manifest));
}

void Parts::CheckInvariants() const {
  const std::size_t keys = KeysIn(*manifest);
  journal.CheckInvariants();
  voice.CheckInvariants();
  jobs.CheckInvariants();
  chain.CheckInvariants();
  inbox.CheckInvariants();
  genesis.CheckInvariants();
  ration.CheckInvariants(keys);
  charges.CheckInvariants();
  duty_jobs.CheckInvariants();
  followers.CheckInvariants(keys);
  past_seals.CheckInvariants();
}

void Parts::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, stage, journal, voice, jobs, chain, inbox, genesis, ration, charges, reports,
               duties, duty_jobs, followers, past_seals, fork_watch, pace, post);
}

}  // namespace ostraka::protocol
