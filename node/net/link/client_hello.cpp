#include "node/net/link/client_hello.h"

#include <algorithm>

namespace ostraka::net {
namespace {

constexpr std::uint8_t kHandshakeRecord = 0x16;
constexpr std::uint8_t kClientHello = 0x01;
constexpr std::size_t kRecordHeader = 5;
constexpr std::size_t kMessageHeader = 4;
constexpr std::size_t kAlpnExtension = 16;  // RFC 7301

// Reads big-endian numbers and length-prefixed fields. Once input runs short, it stays empty and
// not ok().
class Cursor {
 public:
  explicit Cursor(base::ByteView bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  bool empty() const { return rest_.empty(); }
  std::size_t Number(std::size_t size) {
    std::size_t value = 0;
    for (const std::uint8_t byte : Take(size)) value = value << 8 | byte;
    return value;
  }
  base::ByteView Take(std::size_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const base::ByteView taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  base::ByteView Counted(std::size_t size_bytes) { return Take(Number(size_bytes)); }

 private:
  base::ByteView rest_;
  bool ok_ = true;
};

bool Lists(base::ByteView extension, std::string_view alpn) {
  Cursor protocols(Cursor(extension).Counted(2));
  while (protocols.ok() && !protocols.empty()) {
    const base::ByteView name = protocols.Counted(1);
    if (std::equal(name.begin(), name.end(), alpn.begin(), alpn.end(),
                   [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); })) {
      return true;
    }
  }
  return false;
}

// The body of a ClientHello: RFC 8446, 4.1.2.
bool Names(base::ByteView hello, std::string_view alpn) {
  Cursor cursor(hello);
  cursor.Take(2 + 32);  // version, random
  cursor.Counted(1);    // session id
  cursor.Counted(2);    // cipher suites
  cursor.Counted(1);    // compression
  Cursor extensions(cursor.Counted(2));
  while (extensions.ok() && !extensions.empty()) {
    const std::size_t type = extensions.Number(2);
    const base::ByteView body = extensions.Counted(2);
    if (type == kAlpnExtension) return Lists(body, alpn);
  }
  return false;
}

}  // namespace

std::string AlpnOfRun(const base::Digest& run_id) {
  constexpr std::size_t kDigits = 32;
  return "ostraka/" + run_id.Hex().substr(0, kDigits);
}

Opening JudgeOpening(base::ByteView bytes, std::string_view alpn) {
  if (bytes.front() != kHandshakeRecord) return Opening::kNotTls;
  if (bytes.size() < kRecordHeader + kMessageHeader) return Opening::kIncomplete;
  Cursor record(bytes.subspan(3));
  const std::size_t record_bytes = record.Number(2);
  const bool is_hello = record.Number(1) == kClientHello;
  const std::size_t hello_bytes = record.Number(3);
  // A ClientHello that is split over several records counts as unnamed: no client splits it
  // unasked.
  const bool is_whole = is_hello && record_bytes == kMessageHeader + hello_bytes &&
                        kRecordHeader + record_bytes <= kMaxClientHelloBytes;
  if (!is_whole) return Opening::kUnnamed;
  if (bytes.size() < kRecordHeader + record_bytes) return Opening::kIncomplete;
  const base::ByteView hello = bytes.subspan(kRecordHeader + kMessageHeader, hello_bytes);
  return Names(hello, alpn) ? Opening::kNamed : Opening::kUnnamed;
}

}  // namespace ostraka::net
