// Decoders allocate at most a small multiple of their input, whatever it contains. operator new is
// counted; Cap'n Proto's own segments come from calloc, but only to encode a value that has been
// read and is therefore bounded.
#include <gtest/gtest.h>

#include <cstddef>

#include "node/wire/limits.h"
#include "tests/unit/wire/allocation_counter.h"
#include "tests/unit/wire/hostile.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::wire::allocation_test {
namespace {

// Allows for reasons, exceptions and lists of the largest counts, which take no bytes on the wire
// if all elements are zero.
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
    ExpectFrugal(bomb.name, bomb.proof, Decode<Proof>);
    ExpectFrugal(bomb.name, bomb.proof, DecodeBlock);
    ExpectFrugal(bomb.name, bomb.proof, DecodeEvidence);
    ExpectFrugal(bomb.name, bomb.proof, OpenUnsigned);
  }
}

TEST(AllocationTest, SamplesAsEveryType) {
  for (const NamedBytes& sample : AllSamples()) {
    ExpectFrugal(sample.name, sample.bytes, Decode<Boot>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Commit>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Part>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Aggregate>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Result>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Reveal>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Proof>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Echo>);
    ExpectFrugal(sample.name, sample.bytes, Decode<SealStatus>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Propose>);
    ExpectFrugal(sample.name, sample.bytes, Decode<SealVote>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Lock>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Rejoin>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Pull>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Vector>);
    ExpectFrugal(sample.name, sample.bytes, Decode<BlockMessage>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Chunk>);
    ExpectFrugal(sample.name, sample.bytes, Decode<Forward>);
    ExpectFrugal(sample.name, sample.bytes, DecodeBlock);
    ExpectFrugal(sample.name, sample.bytes, DecodeEvidence);
    ExpectFrugal(sample.name, sample.bytes, OpenUnsigned);
  }
}

// Each word of `sample` in turn becomes the pointer that claims the most.
template <typename Decode>
void ExpectFrugalWithGreedyPointers(const Bytes& sample, Decode decode) {
  for (const ElementSize size : {ElementSize::kVoid, ElementSize::kByte, ElementSize::kWord,
                                 ElementSize::kPointer, ElementSize::kStruct}) {
    const Bytes pointer = ToBytes({ListPointer(0, size, kMaxCount)});
    for (std::size_t at = 0; at < sample.size(); at += pointer.size()) {
      Bytes bytes = sample;
      std::copy(pointer.begin(), pointer.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
      ExpectFrugal("word " + std::to_string(at / 8), bytes, decode);
    }
  }
}

// Each word of `sample` in turn opens a list of `count` empty structs, which take no bytes.
template <typename Decode>
void ExpectFrugalWithEmptyStructs(const Bytes& sample, std::uint32_t count, Decode decode) {
  const Bytes tag = ToBytes({StructListTag(count, 0, 0)});
  for (std::size_t at = 0; at < sample.size(); at += tag.size()) {
    const auto offset = static_cast<std::int32_t>((sample.size() - at) / tag.size() - 1);
    const Bytes pointer = ToBytes({ListPointer(offset, ElementSize::kStruct, 0)});
    Bytes bytes = sample;
    std::copy(pointer.begin(), pointer.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    bytes.insert(bytes.end(), tag.begin(), tag.end());
    ExpectFrugal("word " + std::to_string(at / 8), bytes, decode);
  }
}

TEST(AllocationTest, GreedyPointersEverywhere) {
  ExpectFrugalWithGreedyPointers(Encode(SampleProof()), Decode<Proof>);
  ExpectFrugalWithGreedyPointers(Encode(SamplePull()), Decode<Pull>);
  ExpectFrugalWithGreedyPointers(Encode(SampleVector()), Decode<Vector>);
  ExpectFrugalWithGreedyPointers(EncodeBlock(SampleBlock()), DecodeBlock);
}

TEST(AllocationTest, EmptyStructsEverywhere) {
  for (const std::size_t count : {kMaxParts, kMaxCases}) {
    const auto elements = static_cast<std::uint32_t>(count);
    ExpectFrugalWithEmptyStructs(Encode(SampleProof()), elements, Decode<Proof>);
    ExpectFrugalWithEmptyStructs(EncodeBlock(SampleBlock()), elements, DecodeBlock);
  }
}

// The exception: a bit of a block may stand for a sender, 32 bytes in memory. Its number is
// bounded.
TEST(AllocationTest, SendersOfABlockAreBits) {
  std::vector<PeerId> all(kMaxPeers);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bytes[0] = static_cast<std::uint8_t>(i);
  Block block;
  block.aggregated.assign(kMaxParts, {.owner = Filled<PeerId>(1), .senders = all});
  const Bytes bytes = EncodeBlock(block);
  const std::size_t before = AllocatedBytes();
  ASSERT_TRUE(DecodeBlock(bytes).ok());
  EXPECT_LE(AllocatedBytes() - before,
            kConstantBytes + kFactor * bytes.size() + kMaxParts * kMaxPeers * PeerId::kSize);
}

}  // namespace
}  // namespace ostraka::wire::allocation_test
