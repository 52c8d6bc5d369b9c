// Streamed data in memory: an index with its chunks, and a source of them that can misbehave.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "crypto/merkle.h"
#include "node/base/bytes.h"
#include "node/base/range_reader.h"
#include "node/train/stream/stream_index.h"

namespace ostraka::train::testing {

// Rows of two columns, x u8[2] and targets u8[]: row i holds i, i + 1 and the class i mod 3.
inline base::Bytes StreamRow(std::uint32_t i) {
  return {static_cast<std::uint8_t>(i % 200), static_cast<std::uint8_t>(i % 200 + 1),
          static_cast<std::uint8_t>(i % 3)};
}

// By name, as they lie in a folder: the index, and files of `file_chunks` chunks of `chunk_rows`.
inline std::map<std::string, base::Bytes> StreamFiles(std::uint32_t chunks,
                                                      std::uint32_t chunk_rows,
                                                      std::uint32_t file_chunks) {
  const std::string lines = "ostraka-stream 1 2 " + std::to_string(chunks * chunk_rows) + " 3 2 " +
                            std::to_string(chunk_rows) + " " + std::to_string(file_chunks) +
                            "\nx u8[2] 0 201\ntargets u8[] 0 3\n";
  std::map<std::string, base::Bytes> files;
  base::Bytes& index = files[kIndexFile];
  index.assign(lines.begin(), lines.end());
  const auto add = [](base::Bytes& to, const base::Bytes& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  for (std::uint32_t i = 0; i < 5; ++i) add(index, StreamRow(1000 + i));
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    base::Bytes bytes;
    for (std::uint32_t i = 0; i < chunk_rows; ++i) add(bytes, StreamRow(chunk * chunk_rows + i));
    const base::Digest leaf = crypto::ChunkLeaf(bytes);
    index.insert(index.end(), leaf.bytes.begin(), leaf.bytes.end());
    std::string number = std::to_string(chunk / file_chunks);
    add(files["stream." + std::string(5 - number.size(), '0') + number], bytes);
  }
  return files;
}

// What a source did, and what it shall do.
struct SourceLog {
  std::atomic<int> reads = 0;
  std::atomic<int> fails = 0;       // the next reads that are Unavailable
  std::atomic<bool> lies = false;   // one bit of each piece is wrong
  std::atomic<bool> lacks = false;  // this machine cannot read it
};

class MemoryReader final : public base::RangeReader {
 public:
  MemoryReader(std::map<std::string, base::Bytes> files, SourceLog& log,
               std::string place = "memory")
      : files_(std::move(files)), log_(log), place_(std::move(place)) {}

  const std::string& place() const override { return place_; }

  base::StatusOr<base::Bytes> Read(const std::string& file, std::uint64_t begin, std::uint64_t size,
                                   const Unwanted&) override {
    ++log_.reads;
    if (log_.lacks) return base::FailedPrecondition("there are no authorities here");
    if (log_.fails > 0) {
      --log_.fails;
      return base::Unavailable("no answer");
    }
    const auto found = files_.find(file);
    if (found == files_.end()) return base::NotFound("no file " + file);
    if (begin + size > found->second.size()) return base::InvalidArgument(file + " is short");
    base::Bytes bytes(found->second.begin() + static_cast<std::ptrdiff_t>(begin),
                      found->second.begin() + static_cast<std::ptrdiff_t>(begin + size));
    if (log_.lies) bytes[0] ^= 1;
    return bytes;
  }
  base::StatusOr<base::Bytes> ReadWhole(const std::string& file, std::uint64_t most,
                                        const Unwanted& unwanted) override {
    const auto found = files_.find(file);
    if (found == files_.end()) return base::NotFound("no file " + file);
    EXPECT_LE(found->second.size(), most);
    return Read(file, 0, found->second.size(), unwanted);
  }

 private:
  const std::map<std::string, base::Bytes> files_;
  SourceLog& log_;
  const std::string place_;
};

}  // namespace ostraka::train::testing
