#include "node/cli/arrays/npy_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "node/os/durable_file.h"

namespace ostraka::cli {
namespace {

base::Status Cannot(const std::string& path, const char* what) {
  const std::string message = path + ": cannot " + what + ": " + std::strerror(errno);
  return errno == ENOENT ? base::NotFound(message) : base::Unavailable(message);
}

}  // namespace

base::StatusOr<NpyFile> NpyFile::Map(const std::string& path) {
  // O_NONBLOCK: opening a pipe must not block.
  os::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return Cannot(path, "open it");
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return Cannot(path, "look at it");
  if (!S_ISREG(info.st_mode)) {
    return base::InvalidArgument(path +
                                 " is not a regular file: write the array to a regular file first");
  }
  NpyFile mapped;
  mapped.path_ = path;
  mapped.size_ = static_cast<std::size_t>(info.st_size);
  if (mapped.size_ > 0) {
    void* bytes = mmap(nullptr, mapped.size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (bytes == MAP_FAILED) return Cannot(path, "map it");
    mapped.bytes_ = static_cast<const std::uint8_t*>(bytes);
    mapped.guard_ = std::make_unique<CutFileGuard>(path, bytes, mapped.size_);
  }
  mapped.file_ = std::move(file);
  auto header = base::ParseNpy({mapped.bytes_, mapped.size_});
  if (!header.ok()) {
    return base::InvalidArgument(path + ": " + base::MessageOf(header.status()));
  }
  mapped.header_ = std::move(header).value();
  if (mapped.header_.fortran_order) {
    return base::InvalidArgument(path +
                                 ": the array is in Fortran order, column after column: save "
                                 "numpy.ascontiguousarray of it");
  }
  RETURN_IF_ERROR(mapped.Align());
  return mapped;
}

base::Status NpyFile::Align() {
  data_ = bytes_ + header_.data_offset;
  if (header_.data_offset % base::NpyItemBytes(header_.type) == 0) return base::OkStatus();
  const std::size_t bytes = header_.element_count * base::NpyItemBytes(header_.type);
  copy_.reset(new (std::nothrow) std::uint8_t[bytes]);
  if (copy_ == nullptr) {
    return base::Unavailable(path_ + ": its data are not aligned, and there is no memory for " +
                             std::to_string(bytes) +
                             " bytes to align them: write it again with numpy.save");
  }
  std::memcpy(copy_.get(), data_, bytes);
  data_ = copy_.get();
  return base::OkStatus();
}

base::Status NpyFile::CheckWhole() const {
  struct stat info {};
  if (fstat(file_.get(), &info) == 0 && static_cast<std::size_t>(info.st_size) >= size_) {
    return base::OkStatus();
  }
  return base::Unavailable(CutFileMessage(path_));
}

NpyFile::~NpyFile() {
  if (bytes_ != nullptr) munmap(const_cast<std::uint8_t*>(bytes_), size_);
}

NpyFile::NpyFile(NpyFile&& other) noexcept { *this = std::move(other); }

NpyFile& NpyFile::operator=(NpyFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(header_, other.header_);
  std::swap(bytes_, other.bytes_);
  std::swap(size_, other.size_);
  std::swap(data_, other.data_);
  std::swap(copy_, other.copy_);
  std::swap(guard_, other.guard_);
  std::swap(file_, other.file_);
  return *this;
}

base::StatusOr<Steps> StepsOf(const NpyFile& file) {
  const std::vector<std::uint64_t>& shape = file.header().shape;
  if (shape.size() != 2 && shape.size() != 3) {
    return base::InvalidArgument(
        file.path() + " has shape " + file.header().ShapeText() +
        ": give a matrix with one row for each worker, or one such matrix for each step");
  }
  if (file.header().element_count == 0) {
    return base::InvalidArgument(file.path() + " has shape " + file.header().ShapeText() +
                                 ": the array is empty; give at least one row and one value");
  }
  Steps steps;
  steps.many = shape.size() == 3;
  steps.count = steps.many ? shape[0] : 1;
  steps.rows = shape[shape.size() - 2];
  steps.dimension = shape.back();
  return steps;
}

template <typename T>
base::Status WriteNpy(const std::string& path, const std::vector<std::uint64_t>& shape,
                      std::span<const T> values) {
  constexpr base::NpyType kType =
      std::is_same_v<T, float> ? base::NpyType::kFloat32 : base::NpyType::kFloat64;
  const std::string header = base::EncodeNpyHeader(kType, shape);
  const std::array pieces = {base::AsBytes(header), base::AsBytes(values)};
  return os::WriteDurably(path, pieces, os::IfExists::kReplace);
}

template base::Status WriteNpy<float>(const std::string&, const std::vector<std::uint64_t>&,
                                      std::span<const float>);
template base::Status WriteNpy<double>(const std::string&, const std::vector<std::uint64_t>&,
                                       std::span<const double>);

}  // namespace ostraka::cli
