#include "node/protocol/recording/head.h"

#include <utility>

#include "node/base/tensor_layout.h"
#include "node/protocol/ground/reach.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/ground/stored_state.h"

namespace ostraka::protocol {

wire::RecordingHead HeadOf(const PeerOptions& options, base::Bytes manifest,
                           const std::string& program) {
  wire::RecordingHead head;
  head.protocol_version = wire::kProtocolVersion;
  head.draft = wire::kProtocolDraft;
  head.manifest = std::move(manifest);
  head.self = options.key->id();
  for (const base::TensorSpec& tensor : options.layout) {
    head.layout.push_back({tensor.name, tensor.shape});
  }
  PeerOptions first = options;
  head.state = EncodeState(InitialStateOf(first, options.manifest->training.optimizer));
  head.credential = options.credential;
  if (options.anchor != nullptr) head.anchor = wire::EncodeBlock(*options.anchor);
  head.guest_bytes_a_second = options.guest_bytes_a_second;
  head.program = program;
  return head;
}

base::StatusOr<PeerOptions> OptionsOf(const wire::RecordingHead& head,
                                      std::shared_ptr<const Manifest> manifest,
                                      const std::shared_ptr<const Said>& said) {
  const auto refuse = [](const char* what) { return base::InvalidArgument(what); };
  PeerOptions options;
  std::uint64_t dimension = 0;
  for (const wire::RecordedTensor& tensor : head.layout) {
    options.layout.push_back({tensor.name, tensor.shape});
    // No more elements than the state has room for, whatever the shapes multiply to.
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : tensor.shape) {
      if (extent != 0 && elements > head.state.size() / extent) {
        return refuse("its model is larger than its first state");
      }
      elements *= extent;
    }
    dimension += elements;
  }
  if (dimension < 2 * SeatsIn(*manifest)) return refuse("its model is too small for its members");
  auto state = DecodeState(head.state, dimension, SlotNamesOf(manifest->training.optimizer));
  if (!state) return refuse("its first state has another size than its model");
  const bool is_listed = IsMember(GenesisHead(*manifest).members, head.self);
  if (!is_listed && !IsOpen(*manifest)) return refuse("its key is no member of its run");
  options.manifest = std::move(manifest);
  options.key = std::make_shared<const SaidKey>(head.self, said);
  options.verifier = std::make_shared<crypto::PlainVerifier>();
  options.initial_parameters = std::move(state->parameters);
  options.initial_slots = std::move(state->slots);
  options.credential = head.credential;
  if (!head.anchor.empty()) {
    ASSIGN_OR_RETURN(wire::Block anchor, wire::DecodeBlock(head.anchor));
    options.anchor = std::make_shared<const wire::Block>(std::move(anchor));
  }
  options.guest_bytes_a_second = head.guest_bytes_a_second;
  options.secrets = [said](const PeerId&) { return std::make_unique<SaidSecrets>(said); };
  return options;
}

}  // namespace ostraka::protocol
