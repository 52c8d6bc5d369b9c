// Writes the files of data sets, valid or invalid, for the tests that read them.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

#include "node/base/bytes.h"
#include "node/base/check.h"
#include "node/base/rng.h"

namespace ostraka::train {

inline void AppendBigEndian(base::Bytes& bytes, std::uint32_t word) {
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(word >> shift));
}

// An IDX file of unsigned bytes with these extents and this data, which need not agree.
inline base::Bytes Idx(std::initializer_list<std::uint32_t> extents, const base::Bytes& data) {
  base::Bytes bytes = {0, 0, 8, static_cast<std::uint8_t>(extents.size())};
  for (const std::uint32_t extent : extents) AppendBigEndian(bytes, extent);
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

inline base::Bytes RandomBytes(std::uint64_t seed, std::size_t count, std::uint64_t below = 256) {
  base::Rng rng(seed);
  base::Bytes bytes;
  for (std::size_t i = 0; i < count; ++i)
    bytes.push_back(static_cast<std::uint8_t>(rng.Below(below)));
  return bytes;
}

// Labels in rotation: all classes have equally many, up to a remainder.
inline base::Bytes RoundLabels(std::size_t count) {
  base::Bytes labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(static_cast<std::uint8_t>(i % 10));
  return labels;
}

inline base::Bytes CifarBatch(std::uint64_t seed, std::size_t rows) {
  base::Bytes bytes;
  for (std::size_t i = 0; i < rows; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i % 10));
    const base::Bytes pixels = RandomBytes(seed * 1000 + i, 3072);
    bytes.insert(bytes.end(), pixels.begin(), pixels.end());
  }
  return bytes;
}

// One gzip member, as the gzip program would write it.
inline base::Bytes Gzipped(const base::Bytes& bytes) {
  z_stream stream{};
  OSTRAKA_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) ==
                Z_OK);
  base::Bytes out(deflateBound(&stream, bytes.size()));
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  OSTRAKA_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline void WriteBytes(const std::string& path, const base::Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  OSTRAKA_CHECK(file);
}

// The four files of an MNIST-like data set of random images, side x side.
inline void WriteMnist(const std::string& dir, std::uint32_t training, std::uint32_t test,
                       std::uint32_t side, std::uint64_t seed = 1) {
  std::filesystem::create_directories(dir);
  const auto images = [&](std::uint32_t count, std::uint64_t which) {
    return Idx({count, side, side}, RandomBytes(2 * seed + which, count * side * side));
  };
  WriteBytes(dir + "/train-images-idx3-ubyte", images(training, 0));
  WriteBytes(dir + "/train-labels-idx1-ubyte", Idx({training}, RoundLabels(training)));
  WriteBytes(dir + "/t10k-images-idx3-ubyte", images(test, 1));
  WriteBytes(dir + "/t10k-labels-idx1-ubyte", Idx({test}, RoundLabels(test)));
}

inline void WriteCifar10(const std::string& dir, std::size_t rows_a_batch) {
  std::filesystem::create_directories(dir);
  for (std::uint64_t batch = 1; batch <= 5; ++batch) {
    WriteBytes(dir + "/data_batch_" + std::to_string(batch) + ".bin",
               CifarBatch(batch, rows_a_batch));
  }
  WriteBytes(dir + "/test_batch.bin", CifarBatch(9, rows_a_batch));
}

}  // namespace ostraka::train
