#include "node/cli/terminal/float_file.h"

#include <fstream>

namespace ostraka::cli {

base::Status WriteFloats(const std::string& path, const std::vector<std::vector<float>>& rows) {
  std::ofstream file(path, std::ios::binary);
  for (const std::vector<float>& row : rows) {
    file.write(reinterpret_cast<const char*>(row.data()),
               static_cast<std::streamsize>(row.size() * sizeof(float)));
  }
  file.close();
  return file ? base::OkStatus() : base::Unavailable(path + ": cannot be written");
}

base::StatusOr<std::vector<std::vector<float>>> ReadFloats(const std::string& path,
                                                           std::uint64_t width) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::vector<float>> rows;
  std::vector<float> row(width);
  const auto bytes = static_cast<std::streamsize>(width * sizeof(float));
  while (file.read(reinterpret_cast<char*>(row.data()), bytes)) rows.push_back(row);
  if (rows.empty() || file.gcount() != 0) {
    return base::Unavailable(path + ": holds no rows of " + std::to_string(width) + " floats");
  }
  return rows;
}

}  // namespace ostraka::cli
