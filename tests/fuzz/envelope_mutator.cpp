// Mutations that keep frames valid, signed by the key of the corpus.
#include <memory>

#include "node/wire/codec.h"
#include "tests/fuzz/resign.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::fuzz {

base::Bytes Resigned(base::ByteView input, Choices& choices) {
  static const crypto::SigningKey kKey = wire::SampleKey(1);
  if (!choices.OneIn(3)) return {};
  const auto frame = std::make_shared<const base::Bytes>(input.begin(), input.end());
  auto opened = wire::Open(frame);
  if (!opened.ok()) return {};
  MutateEnvelope(opened->envelope, choices);
  return SignedAgain(std::move(opened->envelope), kKey);
}

}  // namespace ostraka::fuzz
