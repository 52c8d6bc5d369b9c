#include "node/protocol/ground/codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "aggregation/kernels/simd.h"
#include "node/base/check.h"

namespace ostraka::protocol {
namespace {

static_assert(std::endian::native == std::endian::little, "blobs hold the machine's floats");

struct Form {
  Codec codec;
  std::string_view name;
  std::int32_t largest;  // Q, the largest magnitude of a code
  std::size_t block;     // values that share a scale
  std::size_t bits;      // of a code
};
constexpr std::array<Form, std::size(kAllCodecs)> kForms = {{
    {Codec::kRaw, "raw", 0, 1, 32},
    {Codec::kI16, "i16", 32767, 256, 16},
    {Codec::kI8, "i8", 127, 256, 8},
    {Codec::kI4, "i4", 7, 128, 4},
}};

const Form& FormOf(Codec codec) { return kForms[static_cast<std::size_t>(codec)]; }

// Values of larger magnitude are sent as this. It leaves room for sums of many rows.
constexpr float kLargestValue = 0x1.0p120F;
constexpr float kLeastScale = 0x1.0p-126F;  // the least normal number

// Added and taken away, it rounds a number below 2^22 in magnitude to an integer, ties to even.
constexpr float kRounder = 0x1.8p23F;

std::uint64_t BlocksOf(const Form& form, std::uint64_t count) {
  return count / form.block + (count % form.block == 0 ? 0 : 1);
}

// The codes of a blob, as numbers.
std::int32_t CodeAt(const Form& form, const std::uint8_t* codes, std::uint64_t i) {
  switch (form.bits) {
    case 16: {
      std::int16_t code = 0;
      std::memcpy(&code, codes + 2 * i, sizeof(code));
      return code;
    }
    case 8:
      return static_cast<std::int8_t>(codes[i]);
    default: {
      const int half = i % 2 == 0 ? codes[i / 2] & 15 : codes[i / 2] >> 4;
      return half < 8 ? half : half - 16;
    }
  }
}

// `codes` are 0 where nothing was put.
void PutCode(const Form& form, std::uint8_t* codes, std::uint64_t i, std::int32_t code) {
  switch (form.bits) {
    case 16: {
      const auto narrow = static_cast<std::int16_t>(code);
      std::memcpy(codes + 2 * i, &narrow, sizeof(narrow));
      return;
    }
    case 8:
      codes[i] = static_cast<std::uint8_t>(code);
      return;
    default:
      codes[i / 2] |= static_cast<std::uint8_t>((code & 15) << (i % 2 == 0 ? 0 : 4));
  }
}

// The memory of a vector, as that of a blob, is aligned for any number.
const float* FloatsIn(base::ByteView bytes) { return reinterpret_cast<const float*>(bytes.data()); }

float ScaleAt(const std::uint8_t* bytes, std::uint64_t block) {
  float scale = 0;
  std::memcpy(&scale, bytes + block * sizeof(float), sizeof(scale));
  return scale;
}

// Canonical form: without a scale all codes are 0, else one of them has the largest magnitude, and
// none a larger one.
bool IsCanonicalBlock(const Form& form, float scale, const std::uint8_t* codes, std::uint64_t begin,
                      std::uint64_t end) {
  std::int32_t most = 0;
  for (std::uint64_t i = begin; i < end; ++i) {
    most = std::max(most, std::abs(CodeAt(form, codes, i)));
  }
  if (std::bit_cast<std::uint32_t>(scale) == 0) return most == 0;
  const float largest = kLargestValue / static_cast<float>(form.largest);
  return scale >= kLeastScale && scale <= largest && most == form.largest;
}

}  // namespace

std::string_view CodecName(Codec codec) { return FormOf(codec).name; }

std::optional<Codec> FindCodec(std::string_view name) {
  for (const Form& form : kForms) {
    if (form.name == name) return form.codec;
  }
  return std::nullopt;
}

bool ServesParts(Codec codec) {
  return std::find(std::begin(kPartCodecs), std::end(kPartCodecs), codec) != std::end(kPartCodecs);
}

bool ServesResults(Codec codec) {
  return std::find(std::begin(kResultCodecs), std::end(kResultCodecs), codec) !=
         std::end(kResultCodecs);
}

std::uint64_t EncodedBytes(Codec codec, std::uint64_t count) {
  const Form& form = FormOf(codec);
  if (codec == Codec::kRaw) return count * sizeof(float);
  return BlocksOf(form, count) * sizeof(float) + (count * form.bits + 7) / 8;
}

base::Bytes Encode(Codec codec, std::span<const float> values) {
  const base::ByteView view = base::AsBytes(values);
  if (codec == Codec::kRaw) return {view.begin(), view.end()};
  const Form& form = FormOf(codec);
  base::Bytes bytes(EncodedBytes(codec, values.size()));
  const std::uint64_t blocks = BlocksOf(form, values.size());
  std::uint8_t* const codes = bytes.data() + blocks * sizeof(float);
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const std::size_t begin = block * form.block;
    const std::size_t end = std::min(values.size(), begin + form.block);
    float most = 0;
    for (std::size_t i = begin; i < end; ++i) most = std::max(most, std::fabs(values[i]));
    const float scale = std::min(most, kLargestValue) / static_cast<float>(form.largest);
    if (!(scale >= kLeastScale)) continue;  // all is 0
    std::memcpy(bytes.data() + block * sizeof(float), &scale, sizeof(scale));
    const auto limit = static_cast<float>(form.largest);
    for (std::size_t i = begin; i < end; ++i) {
      const float code = std::clamp(values[i] / scale, -limit, limit);
      PutCode(form, codes, i, static_cast<std::int32_t>((code + kRounder) - kRounder));
    }
  }
  return bytes;
}

bool HoldsValues(Codec codec, base::ByteView bytes, std::uint64_t count) {
  // The first test keeps the second from overflowing.
  if (count > bytes.size() * 8 || bytes.size() != EncodedBytes(codec, count)) return false;
  const Form& form = FormOf(codec);
  if (codec == Codec::kRaw) {
    return aggregation::simd::BestKernels().all_finite(FloatsIn(bytes), count);
  }
  const std::uint64_t blocks = BlocksOf(form, count);
  const std::uint8_t* const codes = bytes.data() + blocks * sizeof(float);
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const std::uint64_t begin = block * form.block;
    const std::uint64_t end = std::min(count, begin + form.block);
    if (!IsCanonicalBlock(form, ScaleAt(bytes.data(), block), codes, begin, end)) return false;
  }
  return form.bits != 4 || count % 2 == 0 || codes[count / 2] >> 4 == 0;
}

Values::Values(Codec codec, const crypto::Blob& blob, std::uint64_t count) {
  OSTRAKA_CHECK(blob.data.size() == EncodedBytes(codec, count));
  if (codec == Codec::kRaw) {
    span_ = {FloatsIn(blob.data), static_cast<std::size_t>(count)};
    return;
  }
  const Form& form = FormOf(codec);
  const std::uint8_t* const codes = blob.data.data() + BlocksOf(form, count) * sizeof(float);
  decoded_.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    decoded_[i] =
        static_cast<float>(CodeAt(form, codes, i)) * ScaleAt(blob.data.data(), i / form.block);
  }
  span_ = decoded_;
}

double Quantum(Codec codec, base::ByteView bytes, std::uint64_t count) {
  if (codec == Codec::kRaw) return 0;
  const Form& form = FormOf(codec);
  double sum = 0;
  for (std::uint64_t block = 0; block < BlocksOf(form, count); ++block) {
    const std::uint64_t begin = block * form.block;
    const auto size = static_cast<double>(std::min<std::uint64_t>(form.block, count - begin));
    const auto scale = static_cast<double>(ScaleAt(bytes.data(), block));
    sum += size * scale * scale;
  }
  return (1 + 0x1.0p-6) / 2 * std::sqrt(sum);
}

}  // namespace ostraka::protocol
