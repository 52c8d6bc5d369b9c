// Frames that stay frames, signed by the key of the corpus.
#include <memory>

#include "node/wire/codec.h"
#include "tests/fuzz/resign.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::fuzz {
namespace {

// Empty if the input is no frame, or this time is for changing bytes blindly.
base::Bytes Resigned(base::ByteView input, Choices& choices) {
  static const crypto::SigningKey kKey = wire::SampleKey(1);
  if (!choices.OneIn(3)) return {};
  const auto frame = std::make_shared<const base::Bytes>(input.begin(), input.end());
  auto opened = wire::Open(frame);
  if (!opened.ok()) return {};
  MutateEnvelope(opened->envelope, choices);
  return SignedAgain(std::move(opened->envelope), kKey);
}

}  // namespace
}  // namespace ostraka::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  ostraka::fuzz::Choices choices(seed);
  return ostraka::fuzz::PutOrMutate(ostraka::fuzz::Resigned({data, size}, choices), data, size,
                                    max_size);
}
