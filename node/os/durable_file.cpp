#include "node/os/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "node/os/descriptor.h"

namespace ostraka::os {
namespace {

base::Status Failed(const std::string& path, int error) {
  return base::Unavailable("cannot write " + path + ": " + std::generic_category().message(error));
}

enum class Sync { kNo, kYes };

// A device, a pipe or a socket, perhaps behind links, such as /dev/stdout. A rename would put a
// file in its place.
bool IsNoFile(const std::string& path) {
  struct stat what {};
  return ::stat(path.c_str(), &what) == 0 && !S_ISREG(what.st_mode) && !S_ISDIR(what.st_mode);
}

base::Status WriteTo(const Descriptor& fd, const std::string& path,
                     std::span<const base::ByteView> pieces) {
  if (!fd.ok()) return Failed(path, errno);
  for (base::ByteView piece : pieces) {
    while (!piece.empty()) {
      const ssize_t written = ::write(fd.get(), piece.data(), piece.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return Failed(path, errno);
      piece = piece.subspan(static_cast<std::size_t>(written));
    }
  }
  return base::OkStatus();
}

base::Status WriteAll(const std::string& path, std::span<const base::ByteView> pieces, Sync sync) {
  const Descriptor fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  RETURN_IF_ERROR(WriteTo(fd, path, pieces));
  if (sync == Sync::kYes && ::fsync(fd.get()) != 0) return Failed(path, errno);
  return base::OkStatus();
}

base::Status GiveName(const std::string& temporary, const std::string& path, IfExists if_exists) {
  if (if_exists == IfExists::kReplace) {
    return ::rename(temporary.c_str(), path.c_str()) == 0 ? base::OkStatus() : Failed(path, errno);
  }
  // Unlike rename, link refuses an existing name.
  if (::link(temporary.c_str(), path.c_str()) == 0) {
    return ::unlink(temporary.c_str()) == 0 ? base::OkStatus() : Failed(temporary, errno);
  }
  if (errno == EEXIST) return base::FailedPrecondition(path + " exists");
  return Failed(path, errno);
}

base::Status SyncFolderOf(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok() || ::fsync(fd.get()) != 0) return Failed(path, errno);
  return base::OkStatus();
}

base::Status WriteWhole(const std::string& path, std::span<const base::ByteView> pieces,
                        IfExists if_exists, Sync sync) {
  const std::string temporary = path + ".tmp";
  base::Status status = WriteAll(temporary, pieces, sync);
  if (status.ok()) status = GiveName(temporary, path, if_exists);
  // Remove the partial file. A failure to remove it matters less than `status`.
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace

base::Status WriteDurably(const std::string& path, std::span<const base::ByteView> pieces,
                          IfExists if_exists) {
  if (if_exists == IfExists::kReplace && IsNoFile(path)) {
    return WriteTo(Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC)), path, pieces);
  }
  RETURN_IF_ERROR(WriteWhole(path, pieces, if_exists, Sync::kYes));
  return SyncFolderOf(path);
}

base::Status ReplaceQuickly(const std::string& path, base::ByteView content) {
  return WriteWhole(path, std::span(&content, 1), IfExists::kReplace, Sync::kNo);
}

}  // namespace ostraka::os
