// The only function that libostraka_torch.so exports.
#include <torch/csrc/api/include/torch/version.h>

#include "node/train/torch/torch_trainer.h"
#include "node/train/trainer_module.h"

extern "C" __attribute__((visibility("default"))) const ostraka::train::TrainerModule*
ostraka_trainer_module() {
  static constexpr ostraka::train::TrainerModule kModule{.make = &ostraka::train::MakeTorchTrainer,
                                                         .library = "libtorch " TORCH_VERSION};
  return &kModule;
}
