// Decoders take no more memory than a small multiple of what they were given, whatever it says.
// operator new is counted; Cap'n Proto's own segments come from calloc, but only to encode a value
// that has been read and is therefore bounded already.
#include <gtest/gtest.h>

#include <cstddef>

#include "tests/unit/wire/allocation_counter.h"
#include "tests/unit/wire/hostile.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::wire {
namespace {

// Room for reasons, exceptions and the lists of the largest counts, which cost nothing on the wire
// when all elements are zero.
constexpr std::size_t kConstantBytes = 64 * 1024;
constexpr std::size_t kFactor = 8;

template <typename Decode>
void ExpectFrugal(const std::string& name, const Bytes& bytes, Decode decode) {
  const std::size_t before = AllocatedBytes();
  const bool ok = decode(bytes).ok();
  const std::size_t allocated = AllocatedBytes() - before;
  EXPECT_LE(allocated, kConstantBytes + kFactor * bytes.size())
      << name << (ok ? " decoded" : " refused");
}

TEST(AllocationTest, TheCounterCounts) {
  const std::size_t before = AllocatedBytes();
  const Bytes some(1000);
  EXPECT_GE(AllocatedBytes() - before, some.size());
}

TEST(AllocationTest, Bombs) {
  for (const Bomb& bomb : ProofBombs()) {
    ExpectFrugal(bomb.name, bomb.proof, DecodeProof);
    ExpectFrugal(bomb.name, bomb.proof, DecodeBlock);
    ExpectFrugal(bomb.name, bomb.proof, DecodeEvidence);
    ExpectFrugal(bomb.name, bomb.proof, OpenUnsigned);
  }
}

TEST(AllocationTest, SamplesAsEveryType) {
  for (const NamedBytes& sample : AllSamples()) {
    ExpectFrugal(sample.name, sample.bytes, DecodeBoot);
    ExpectFrugal(sample.name, sample.bytes, DecodeCommit);
    ExpectFrugal(sample.name, sample.bytes, DecodePart);
    ExpectFrugal(sample.name, sample.bytes, DecodeAggregate);
    ExpectFrugal(sample.name, sample.bytes, DecodeResult);
    ExpectFrugal(sample.name, sample.bytes, DecodeReveal);
    ExpectFrugal(sample.name, sample.bytes, DecodeProof);
    ExpectFrugal(sample.name, sample.bytes, DecodeEcho);
    ExpectFrugal(sample.name, sample.bytes, DecodeBlock);
    ExpectFrugal(sample.name, sample.bytes, DecodeEvidence);
    ExpectFrugal(sample.name, sample.bytes, OpenUnsigned);
  }
}

// Each word of a valid PROOF in turn becomes the most greedy pointer there is.
TEST(AllocationTest, GreedyPointersEverywhere) {
  const Bytes sample = Encode(SampleProof());
  for (const ElementSize size : {ElementSize::kVoid, ElementSize::kByte, ElementSize::kWord,
                                 ElementSize::kPointer, ElementSize::kStruct}) {
    const Bytes pointer = ToBytes({ListPointer(0, size, kMaxCount)});
    for (std::size_t at = 0; at < sample.size(); at += pointer.size()) {
      Bytes bytes = sample;
      std::copy(pointer.begin(), pointer.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
      ExpectFrugal("word " + std::to_string(at / 8), bytes, DecodeProof);
    }
  }
}

}  // namespace
}  // namespace ostraka::wire
