#include "node/train/stream/folder_reader.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace ostraka::train {
namespace {

class FolderReader final : public base::RangeReader {
 public:
  explicit FolderReader(const std::string& folder) : folder_(folder) {}

  const std::string& place() const override { return folder_; }

  base::StatusOr<base::Bytes> Read(const std::string& file, std::uint64_t begin, std::uint64_t size,
                                   const Unwanted&) override {
    ASSIGN_OR_RETURN(const std::uint64_t whole, SizeOf(file));
    if (begin > whole || size > whole - begin) {
      return base::InvalidArgument(folder_ + "/" + file + " is shorter than its index says");
    }
    return Bytes(file, begin, size);
  }

  base::StatusOr<base::Bytes> ReadWhole(const std::string& file, std::uint64_t most,
                                        const Unwanted&) override {
    ASSIGN_OR_RETURN(const std::uint64_t whole, SizeOf(file));
    if (whole > most) {
      return base::InvalidArgument(folder_ + "/" + file + " is larger than " +
                                   std::to_string(most) + " bytes");
    }
    return Bytes(file, 0, whole);
  }

 private:
  base::StatusOr<std::uint64_t> SizeOf(const std::string& file) const {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(folder_ + "/" + file, error);
    if (!error) return size;
    return base::NotFound(folder_ + "/" + file + " cannot be read: " + error.message());
  }

  base::StatusOr<base::Bytes> Bytes(const std::string& file, std::uint64_t begin,
                                    std::uint64_t size) const {
    base::Bytes bytes(size);
    std::ifstream stream(folder_ + "/" + file, std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(begin));
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    if (!stream) return base::Unavailable(folder_ + "/" + file + " cannot be read");
    return bytes;
  }

  const std::string folder_;
};

}  // namespace

std::unique_ptr<base::RangeReader> ReadFolder(const std::string& folder) {
  return std::make_unique<FolderReader>(folder);
}

}  // namespace ostraka::train
