#include "sim/compare/cells/zip.h"

#include <array>
#include <cstdint>

#include "node/base/check.h"

namespace ostraka::compare {
namespace {

constexpr std::uint32_t kLocalMagic = 0x04034b50;
constexpr std::uint32_t kCentralMagic = 0x02014b50;
constexpr std::uint32_t kEndMagic = 0x06054b50;
constexpr std::uint16_t kVersion = 20;       // 2.0: folders and the stored method
constexpr std::uint16_t kFirstDay = 0x0021;  // 1980-01-01 in MS-DOS form

// CRC-32 as of ISO 3309, reflected.
std::uint32_t Crc32(base::ByteView bytes) {
  static const std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t value = byte;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xedb88320U : 0U);
      table[byte] = value;
    }
    return table;
  }();
  std::uint32_t crc = 0xffffffffU;
  for (const std::uint8_t byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ byte) & 0xff];
  return ~crc;
}

void Put16(std::uint16_t value, base::Bytes& out) {
  out.push_back(static_cast<std::uint8_t>(value & 0xff));
  out.push_back(static_cast<std::uint8_t>(value >> 8));
}
void Put32(std::uint32_t value, base::Bytes& out) {
  Put16(static_cast<std::uint16_t>(value & 0xffff), out);
  Put16(static_cast<std::uint16_t>(value >> 16), out);
}

// The fields that a local header and the central directory share.
void PutCommon(const ZipFile& file, std::uint32_t crc, base::Bytes& out) {
  Put16(kVersion, out);
  Put16(0, out);  // flags
  Put16(0, out);  // stored
  Put16(0, out);  // midnight
  Put16(kFirstDay, out);
  Put32(crc, out);
  Put32(static_cast<std::uint32_t>(file.bytes.size()), out);
  Put32(static_cast<std::uint32_t>(file.bytes.size()), out);
  Put16(static_cast<std::uint16_t>(file.name.size()), out);
  Put16(0, out);  // extra field
}

}  // namespace

base::Bytes ZipOf(const std::vector<ZipFile>& files) {
  OSTRAKA_CHECK(files.size() < 0xffff);
  base::Bytes out;
  base::Bytes directory;
  for (const ZipFile& file : files) {
    OSTRAKA_CHECK(file.bytes.size() + out.size() < 0xffff'0000U);
    const std::uint32_t crc = Crc32(file.bytes);
    Put32(kCentralMagic, directory);
    Put16(kVersion, directory);
    PutCommon(file, crc, directory);
    Put16(0, directory);  // comment
    Put16(0, directory);  // disk
    Put16(0, directory);  // attributes
    Put32(0, directory);
    Put32(static_cast<std::uint32_t>(out.size()), directory);
    directory.insert(directory.end(), file.name.begin(), file.name.end());
    Put32(kLocalMagic, out);
    PutCommon(file, crc, out);
    out.insert(out.end(), file.name.begin(), file.name.end());
    out.insert(out.end(), file.bytes.begin(), file.bytes.end());
  }
  const auto start = static_cast<std::uint32_t>(out.size());
  out.insert(out.end(), directory.begin(), directory.end());
  Put32(kEndMagic, out);
  Put16(0, out);  // disks
  Put16(0, out);
  Put16(static_cast<std::uint16_t>(files.size()), out);
  Put16(static_cast<std::uint16_t>(files.size()), out);
  Put32(static_cast<std::uint32_t>(directory.size()), out);
  Put32(start, out);
  Put16(0, out);  // comment
  return out;
}

}  // namespace ostraka::compare
