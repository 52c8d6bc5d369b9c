#include "tests/unit/wire/vector_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace ostraka::wire {
namespace {

constexpr std::size_t kBytesPerLine = 32;

base::Status WriteText(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  return out ? base::OkStatus() : base::Unavailable("cannot write " + path);
}

}  // namespace

base::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return base::NotFound("no file " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

base::StatusOr<base::Bytes> ReadVector(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadText(path));
  std::istringstream lines(text);
  std::string hex;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) hex += line;
  }
  const auto bytes = base::FromHex(hex);
  if (!bytes) return base::InvalidArgument(path + " is not hexadecimal");
  return *bytes;
}

base::Status WriteVector(const std::string& path, const std::string& comment,
                         base::ByteView bytes) {
  std::string text = "# " + comment + "\n";
  for (std::size_t i = 0; i < bytes.size(); i += kBytesPerLine) {
    text += base::ToHex(bytes.subspan(i, std::min(kBytesPerLine, bytes.size() - i))) + "\n";
  }
  return WriteText(path, text);
}

base::Status WriteRaw(const std::string& path, base::ByteView bytes) {
  return WriteText(path, std::string(bytes.begin(), bytes.end()));
}

}  // namespace ostraka::wire
