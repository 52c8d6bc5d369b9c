#include "node/os/line_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "node/base/check.h"
#include "node/base/foreign_text.h"
#include "node/os/descriptor.h"
#include "node/os/durable_file.h"

namespace ostraka::os {
namespace {

namespace fs = std::filesystem;

base::StatusOr<std::string> ContentOf(const std::string& path, std::size_t most) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return std::string();
  if (status.type() == fs::file_type::none) return base::Unavailable("cannot read " + path);
  if (!fs::is_regular_file(status)) return base::InvalidArgument(path + " is no regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return base::Unavailable("cannot read " + path);
  std::string content(most + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (file.bad()) return base::Unavailable("cannot read " + path);
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (content.size() <= most) return base::WithoutForeignMarks(content);
  return base::InvalidArgument(path + " is longer than " + std::to_string(most) + " bytes");
}

std::vector<std::string> LinesOf(const std::string& content) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    lines.push_back(content.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

base::StatusOr<std::vector<std::string>> ReadLines(const std::string& path, std::size_t most) {
  ASSIGN_OR_RETURN(const std::string content, ContentOf(path, most));
  return LinesOf(content);
}

base::Status AddLine(const std::string& path, const std::string& line, std::size_t most) {
  OSTRAKA_CHECK(line.find('\n') == std::string::npos);
  const std::string folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : ".";
  // One writer at a time, or one takes the other's line away.
  const Descriptor lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.ok() || ::flock(lock.get(), LOCK_EX) != 0) {
    return base::Unavailable("cannot write " + path);
  }
  ASSIGN_OR_RETURN(std::string content, ContentOf(path, most));
  const std::vector<std::string> lines = LinesOf(content);
  if (std::find(lines.begin(), lines.end(), line) != lines.end()) return base::OkStatus();
  if (!content.empty() && content.back() != '\n') content += '\n';
  content += line + "\n";
  if (content.size() > most) {
    return base::InvalidArgument(path + " would be longer than " + std::to_string(most) + " bytes");
  }
  const base::ByteView bytes(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
  return WriteDurably(path, std::vector<base::ByteView>{bytes}, IfExists::kReplace);
}

}  // namespace ostraka::os
