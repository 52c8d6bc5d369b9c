#include "tests/fuzz/resign.h"

#include <algorithm>
#include <utility>

#include "node/wire/codec.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace ostraka::fuzz {
namespace {

// Small bodies stay small, so that a mutation has an effect.
constexpr std::size_t kMaxGrowth = 64;

// A value near the old one, or any value.
std::uint64_t Changed(std::uint64_t value, Choices& choices) {
  if (choices.OneIn(4)) return std::uint64_t{choices.Below(1 << 16)} << choices.Below(48);
  return value + choices.Below(5) - 2;
}

void MutateSlot(wire::Slot& slot, Choices& choices) {
  switch (choices.Below(7)) {
    case 0:
      slot.run_id.bytes[choices.Below(base::Digest::kSize)] ^= 1;
      return;
    case 1:
      slot.incarnation = static_cast<std::uint32_t>(Changed(slot.incarnation, choices));
      return;
    case 2:
      slot.step = Changed(slot.step, choices);
      return;
    case 3:
      slot.phase = static_cast<wire::Phase>(choices.Below(wire::kPhaseCount));
      return;
    case 4:
      slot.type = static_cast<wire::MessageType>(choices.Below(wire::kMessageTypeCount));
      return;
    case 5:
      slot.draw = static_cast<std::uint32_t>(Changed(slot.draw, choices));
      return;
    default:
      slot.iteration = static_cast<std::uint32_t>(Changed(slot.iteration, choices));
      return;
  }
}

}  // namespace

base::Bytes Mutated(base::ByteView bytes, std::size_t max_size) {
  base::Bytes changed(
      bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), max_size)));
  const std::size_t size = changed.size();
  changed.resize(max_size);
  changed.resize(LLVMFuzzerMutate(changed.data(), size, max_size));
  return changed;
}

void MutateEnvelope(wire::Envelope& envelope, Choices& choices) {
  if (choices.OneIn(4)) return MutateSlot(envelope.slot, choices);
  if (choices.OneIn(8)) {
    envelope.entry.bytes[choices.Below(base::Digest::kSize)] ^= 1;
    return;
  }
  envelope.body = Mutated(envelope.body, envelope.body.size() + kMaxGrowth);
}

base::Bytes SignedAgain(wire::Envelope envelope, const crypto::SigningKey& key) {
  envelope.sender = key.id();
  if (wire::IsService(envelope.slot.type)) return *wire::EncodeService(envelope);
  return *wire::Seal(std::move(envelope), key).frame;
}

}  // namespace ostraka::fuzz

// The signed mutation, if it fits; otherwise the input as libFuzzer changes it.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  ostraka::fuzz::Choices choices(seed);
  const ostraka::base::Bytes bytes = ostraka::fuzz::Resigned({data, size}, choices);
  if (bytes.empty() || bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
