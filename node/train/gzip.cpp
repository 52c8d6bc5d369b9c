#include "node/train/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string>

namespace ostraka::train {
namespace {

constexpr std::size_t kFirstBytes = 1 << 16;
constexpr std::uint8_t kFirstMagic = 0x1f;
constexpr std::uint8_t kSecondMagic = 0x8b;
constexpr int kGzipWindow = MAX_WBITS + 16;  // + 16: a gzip header and nothing else

// Ends the inflation at the end of its scope.
class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, kGzipWindow) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool ready() const { return ready_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

uInt Clamped(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

// Whether only padding follows a member.
bool IsPadding(base::ByteView rest) {
  return std::all_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

bool LooksLikeGzip(base::ByteView bytes) {
  return bytes.size() >= 2 && bytes[0] == kFirstMagic && bytes[1] == kSecondMagic;
}

base::StatusOr<base::Bytes> Gunzip(base::ByteView bytes, std::size_t max_bytes) {
  Inflater inflater;
  if (!inflater.ready()) return base::Unavailable("not enough memory to decompress");
  z_stream& stream = inflater.stream();
  base::Bytes out;
  std::size_t used = 0;
  std::size_t written = 0;
  for (;;) {
    if (written == out.size()) {
      // One byte beyond the limit proves that the content is larger.
      const std::size_t wanted = std::max(kFirstBytes, 2 * out.size());
      if (out.size() > max_bytes) {
        return base::InvalidArgument("holds more than " + std::to_string(max_bytes) +
                                     " bytes when decompressed");
      }
      out.resize(std::min(wanted, max_bytes + 1));
    }
    // zlib takes its input by a non-const pointer but does not write to it.
    stream.next_in = const_cast<Bytef*>(bytes.data() + used);
    stream.avail_in = Clamped(bytes.size() - used);
    stream.next_out = out.data() + written;
    stream.avail_out = Clamped(out.size() - written);
    const uInt given = stream.avail_in;
    const uInt room = stream.avail_out;
    const int result = inflate(&stream, Z_NO_FLUSH);
    used += given - stream.avail_in;
    written += room - stream.avail_out;
    if (result == Z_STREAM_END) {
      const base::ByteView rest = bytes.subspan(used);
      if (IsPadding(rest)) break;
      if (rest.front() != kFirstMagic) {
        return base::InvalidArgument("gzip: bytes after its end, which are no gzip member");
      }
      if (inflateReset(&stream) != Z_OK) return base::Unavailable("zlib could not go on");
      continue;
    }
    if (result == Z_BUF_ERROR || (result == Z_OK && used == bytes.size() && written < out.size())) {
      return base::InvalidArgument("gzip: cut short");
    }
    if (result != Z_OK) {
      return base::InvalidArgument(std::string("gzip: damaged (") +
                                   (stream.msg == nullptr ? "unknown" : stream.msg) + ")");
    }
  }
  if (written > max_bytes) {
    return base::InvalidArgument("holds more than " + std::to_string(max_bytes) +
                                 " bytes when decompressed");
  }
  out.resize(written);
  return out;
}

}  // namespace ostraka::train
