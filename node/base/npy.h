// NumPy's .npy files, format versions 1 to 3: the header, read strictly and written.
//
// Reads what numpy.load reads, of little-endian float32 and float64 arrays: headers of any padding,
// and those of Python 2. Never unpickles, and never allocates what
// the header alone announces: the caller learns where the data lie in bytes that it already holds.
// Format: numpy.lib.format, NEP 1.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::base {

enum class NpyType { kFloat32, kFloat64 };

constexpr std::size_t NpyItemBytes(NpyType type) { return type == NpyType::kFloat32 ? 4 : 8; }
// "float32", "float64".
std::string NpyTypeName(NpyType type);

// Longest header that is read, without the magic and length before it. NumPy's own limit for
// untrusted files.
inline constexpr std::size_t kMaxNpyHeaderBytes = 10000;
inline constexpr std::size_t kMaxNpyDimensions = 32;  // NumPy's

struct NpyHeader {
  NpyType type = NpyType::kFloat32;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;  // empty: a single number
  std::size_t data_offset = 0;       // not always a multiple of NpyItemBytes
  std::uint64_t element_count = 0;   // the product of `shape`

  // "(16, 1000000)", as Python writes it.
  std::string ShapeText() const;
};

// Parses the header of `file`, a whole file. InvalidArgument, in one line with a remedy, unless the
// announced data fill the rest of the file exactly.
StatusOr<NpyHeader> ParseNpy(ByteView file);

// The bytes before the data of a C-ordered array: version 1.0, as NumPy itself writes it, padded to
// 64 bytes. REQUIRES: at most kMaxNpyDimensions.
std::string EncodeNpyHeader(NpyType type, const std::vector<std::uint64_t>& shape);

}  // namespace ostraka::base
