// Trained weights that another program saved as safetensors (node/base/safetensors.h has the form):
// the tensors of a model by their names, in any order.
//
//   F32 as it is; F16 and BF16 widened, which is exact.
//
// What an attacker can do here: a file is an organiser's or a stranger's. Its header is at most
// 16 MiB, and no more is allocated than the model's floats (of ReadTensors: twice the file's bytes)
// and the largest of its tensors in the file. Pickles, which are programs, are refused.
//
// Thread safety: pure functions, except for reading the file.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/protocol/ground/state.h"

namespace ostraka::store {

struct Weights {
  protocol::SharedVector parameters;  // in the order of the layout
  std::vector<std::string> unused;    // tensors of the file that the model has not, by name
};

// NotFound: no such file. Unavailable: it cannot be read. InvalidArgument, naming the file and the
// tensor: no safetensors file; a tensor of the model is missing, or has another shape, another
// type, or a value that is not finite.
base::StatusOr<Weights> ReadWeights(const std::string& path, const base::TensorLayout& layout);
// All tensors of the file, by name. NotFound, Unavailable and InvalidArgument as above.
struct NamedTensor {
  base::TensorSpec spec;
  std::vector<float> values;
};
base::StatusOr<std::vector<NamedTensor>> ReadTensors(const std::string& path);

// ReadWeights of a stream of `size` bytes that people know as `name`.
base::StatusOr<Weights> ReadWeights(std::istream& file, std::uint64_t size, const std::string& name,
                                    const base::TensorLayout& layout);

}  // namespace ostraka::store
