// .npy files (node/base/npy.h): reading maps them into memory, writing is atomic.
//
// Thread safety: a mapped file is immutable; at most one thread writes a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "node/base/npy.h"
#include "node/base/status.h"
#include "node/cli/arrays/cut_file.h"
#include "node/os/descriptor.h"

namespace ostraka::cli {

// Pages are read on first access and can be dropped again, so a file may exceed the memory. Only
// data that do not begin at a multiple of their numbers' size are copied. If another program
// shortens the file, the process ends, or CheckWhole says so (node/cli/arrays/cut_file.h).
class NpyFile {
 public:
  // NotFound: no such file. Unavailable: it cannot be read or copied. InvalidArgument: ParseNpy
  // refuses it, or it is not in C order. Messages begin with the path.
  static base::StatusOr<NpyFile> Map(const std::string& path);
  ~NpyFile();
  NpyFile(NpyFile&& other) noexcept;
  NpyFile& operator=(NpyFile&& other) noexcept;

  const std::string& path() const { return path_; }
  const base::NpyHeader& header() const { return header_; }
  // REQUIRES: T is float for kFloat32 and double for kFloat64.
  template <typename T>
  std::span<const T> values() const {
    return {reinterpret_cast<const T*>(data_), static_cast<std::size_t>(header_.element_count)};
  }
  // Unavailable: the file is shorter than it was when it was mapped, so that what was read may be
  // zeros. For whoever is about to use a result.
  base::Status CheckWhole() const;

 private:
  NpyFile() = default;
  std::string path_;
  base::NpyHeader header_;
  base::Status Align();

  const std::uint8_t* bytes_ = nullptr;  // the mapped file
  std::size_t size_ = 0;
  const std::uint8_t* data_ = nullptr;  // in bytes_ or copy_
  std::unique_ptr<std::uint8_t[]> copy_;
  std::unique_ptr<CutFileGuard> guard_;
  os::Descriptor file_{-1};
};

// One array of n x d per step: shape (n, d) is one step, (T, n, d) are T steps.
struct Steps {
  std::size_t count = 1;      // T
  std::size_t rows = 0;       // n
  std::size_t dimension = 0;  // d
  bool many = false;          // true if the array has three dimensions
};
// InvalidArgument unless the array has two or three dimensions, all nonzero.
base::StatusOr<Steps> StepsOf(const NpyFile& file);

// The rows of step `t`, pointing into the file. REQUIRES: T as for `values`.
template <typename T>
aggregation::BasicRows<T> RowsOfStep(const NpyFile& file, const Steps& steps, std::size_t t) {
  aggregation::BasicRows<T> rows;
  rows.dimension = steps.dimension;
  const T* first = file.values<T>().data() + t * steps.rows * steps.dimension;
  for (std::size_t i = 0; i < steps.rows; ++i) rows.row.push_back(first + i * steps.dimension);
  return rows;
}

// Replaces `path`. Unavailable, with a remedy, if it cannot be written.
template <typename T>
base::Status WriteNpy(const std::string& path, const std::vector<std::uint64_t>& shape,
                      std::span<const T> values);

}  // namespace ostraka::cli
