// Trainer modules for the loader's tests, without libtorch. The build defines:
//   FAKE_VERSION  the version that the module claims;  FAKE_NO_ENTRY  it lacks the entry point.
#include "node/train/toy_trainer.h"
#include "node/train/trainer_module.h"

namespace ostraka::train {
namespace {

// A trainer that can be told apart: the toy problem, of the dimension that was asked for plus one,
// or of as many dimensions as there are rows, if they are fewer than ten.
base::StatusOr<std::unique_ptr<Trainer>> MakeFake(const TrainerOptions& options, Dataset data) {
  if (options.batch_size == 0) return base::InvalidArgument("the module refuses batch_size 0");
  TrainerOptions toy = options;
  toy.model = toy.data = "toy";
  toy.hidden = data.training.size() < 10 ? data.training.size() : options.hidden + 1;
  return MakeToyTrainer(toy);
}

}  // namespace
}  // namespace ostraka::train

#ifdef FAKE_NO_ENTRY
extern "C" const void* some_other_symbol() {
  return reinterpret_cast<const void*>(&ostraka::train::MakeFake);
}
#else
extern "C" const ostraka::train::TrainerModule* ostraka_trainer_module() {
  static constexpr ostraka::train::TrainerModule kModule{.version = FAKE_VERSION,
                                                         .make = &ostraka::train::MakeFake};
  return &kModule;
}
#endif
