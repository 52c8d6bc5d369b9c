// .npy files (node/base/npy.h): mapped into memory to read, written whole or not at all.
//
// Thread safety: a mapped file is immutable; writing is for one thread a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "node/base/npy.h"
#include "node/base/status.h"

namespace ostraka::cli {

// Nothing is read until it is touched, and what was read can be dropped again: a file may be larger
// than the memory. Nobody may make the file shorter while it is mapped.
class NpyFile {
 public:
  // NotFound: there is no such file. Unavailable: it cannot be read. InvalidArgument: it is no file
  // of numbers that ParseNpy accepts, or not in C order. Messages begin with the path.
  static base::StatusOr<NpyFile> Map(const std::string& path);
  ~NpyFile();
  NpyFile(NpyFile&& other) noexcept;
  NpyFile& operator=(NpyFile&& other) noexcept;

  const std::string& path() const { return path_; }
  const base::NpyHeader& header() const { return header_; }
  // REQUIRES: T is float for kFloat32 and double for kFloat64.
  template <typename T>
  std::span<const T> values() const {
    return {reinterpret_cast<const T*>(bytes_ + header_.data_offset),
            static_cast<std::size_t>(header_.element_count)};
  }

 private:
  NpyFile() = default;
  std::string path_;
  base::NpyHeader header_;
  const std::uint8_t* bytes_ = nullptr;
  std::size_t size_ = 0;
};

// One array a step: (n, d) is one step, (T, n, d) are T.
struct Steps {
  std::size_t count = 1;      // T
  std::size_t rows = 0;       // n
  std::size_t dimension = 0;  // d
  bool many = false;          // the array has three dimensions
};
// InvalidArgument unless the array has two or three dimensions and none of them is 0.
base::StatusOr<Steps> StepsOf(const NpyFile& file);

// The rows of step `t`, in the file. REQUIRES: as `values`.
template <typename T>
aggregation::BasicRows<T> RowsOfStep(const NpyFile& file, const Steps& steps, std::size_t t) {
  aggregation::BasicRows<T> rows;
  rows.dimension = steps.dimension;
  const T* first = file.values<T>().data() + t * steps.rows * steps.dimension;
  for (std::size_t i = 0; i < steps.rows; ++i) rows.row.push_back(first + i * steps.dimension);
  return rows;
}

// Replaces `path`. Unavailable, with what to do, if it cannot be written.
template <typename T>
base::Status WriteNpy(const std::string& path, const std::vector<std::uint64_t>& shape,
                      std::span<const T> values);

}  // namespace ostraka::cli
