// A trained state as a folder that `from_pretrained` of the library transformers loads.
//
// Thread safety: none; it works on files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/store/checkpoint.h"

namespace ostraka::cli {

struct HfFolder {
  base::TensorLayout layout;  // of model.safetensors
  std::size_t frozen = 0;     // tensors of the original that the run does not train
  std::vector<std::string> copied;
};

// Makes the folder `out`: model.safetensors with the tensors of `checkpoint`, under the names that
// the model of the folder `original` has for them and with its other tensors, if there is a
// *.safetensors; and copies of its files of settings and of its tokenizer: *.json, *.txt, *.jinja
// and *.model. Never of programs. Errors leave no `out`.
// InvalidArgument: `original` holds no config.json, or another model. FailedPrecondition: `out`
// exists. Unavailable, NotFound: files.
base::StatusOr<HfFolder> WriteHfFolder(const store::Checkpoint& checkpoint,
                                       const std::string& original, const std::string& out);

// Of the tensors of a state, the part of each name that the model `known` does not have, such as
// "module.": the shortest with which each name begins so that the rest is a tensor of `known` of
// that shape. InvalidArgument: there is none.
base::StatusOr<std::string> PrefixOver(const base::TensorLayout& state,
                                       const base::TensorLayout& known);

}  // namespace ostraka::cli
