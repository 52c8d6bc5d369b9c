#include "node/net/records/hello.h"

#include <algorithm>
#include <string>

#include "node/base/little_endian.h"

namespace ostraka::net {
namespace {

constexpr std::string_view kMagic("ostraka\0", 8);
constexpr std::size_t kVersionEnd = kMagic.size() + 4;
constexpr std::size_t kHelloBytes = kVersionEnd + base::Digest::kSize + 3 * 8;

}  // namespace

base::Bytes EncodeHello(const Hello& hello) {
  base::Bytes out(kMagic.begin(), kMagic.end());
  base::AppendLittleEndian(out, hello.version, 4);
  out.insert(out.end(), hello.run_id.bytes.begin(), hello.run_id.bytes.end());
  base::AppendLittleEndian(out, hello.capabilities, 8);
  base::AppendLittleEndian(out, hello.instance, 8);
  base::AppendLittleEndian(out, hello.lost_link, 8);
  return out;
}

base::StatusOr<Hello> DecodeHello(base::ByteView body, std::uint32_t our_version) {
  if (body.size() < kVersionEnd ||
      !std::equal(kMagic.begin(), kMagic.end(), body.begin(),
                  [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; })) {
    return base::InvalidArgument("said no HELLO");
  }
  Hello hello;
  hello.version =
      static_cast<std::uint32_t>(base::ReadLittleEndian(body.subspan(kMagic.size(), 4)));
  if (hello.version != our_version) return hello;
  if (body.size() != kHelloBytes) return base::InvalidArgument("said a HELLO of a wrong length");
  hello.run_id = *base::Digest::FromBytes(body.subspan(kVersionEnd, base::Digest::kSize));
  const base::ByteView tail = body.subspan(kVersionEnd + base::Digest::kSize);
  hello.capabilities = base::ReadLittleEndian(tail.subspan(0, 8));
  hello.instance = base::ReadLittleEndian(tail.subspan(8, 8));
  hello.lost_link = base::ReadLittleEndian(tail.subspan(16, 8));
  return hello;
}

base::Status CheckCompatible(const Hello& ours, const Hello& theirs) {
  if (theirs.version != ours.version) {
    return base::FailedPrecondition("speaks protocol " + std::to_string(theirs.version) +
                                    ", we speak " + std::to_string(ours.version));
  }
  if (theirs.run_id != ours.run_id) {
    return base::FailedPrecondition(
        "has a manifest that differs from ours: use the same bytes (its run is " +
        theirs.run_id.Short() + ", ours is " + ours.run_id.Short() + ")");
  }
  const bool we_skip = (ours.capabilities & kCapabilityUnhashed) != 0;
  const bool they_skip = (theirs.capabilities & kCapabilityUnhashed) != 0;
  if (they_skip && !we_skip) {
    return base::FailedPrecondition("runs unprotected, we run protected");
  }
  if (we_skip && !they_skip) {
    return base::FailedPrecondition("runs protected, we run unprotected");
  }
  return base::OkStatus();
}

}  // namespace ostraka::net
