// Any bytes as a file of trained weights: it is refused in one line, or gives finite floats, as
// many as the model has.
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>

#include "node/base/check.h"
#include "node/store/weights_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace base = ostraka::base;
  const base::TensorLayout layout = {{"a", {2, 3}}, {"b", {2}}, {"c", {}}};
  std::istringstream file(std::string(reinterpret_cast<const char*>(data), size));
  const auto weights = ostraka::store::ReadWeights(file, size, "FILE", layout);
  if (!weights.ok()) {
    OSTRAKA_CHECK(weights.status().code() == absl::StatusCode::kInvalidArgument);
    OSTRAKA_CHECK(base::MessageOf(weights.status()).find("FILE") == 0);
    return 0;
  }
  OSTRAKA_CHECK(weights->parameters->size() == base::ElementCount(layout));
  for (const float value : *weights->parameters) OSTRAKA_CHECK(std::isfinite(value));
  return 0;
}
