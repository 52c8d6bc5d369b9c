#include "node/config/run_memory.h"

#include <optional>

#include "node/protocol/lasting/memory_need.h"

namespace ostraka::config {
namespace {

// Code, libraries, threads, links and queues of a member of a small run; measured.
constexpr std::uint64_t kProgram = std::uint64_t{32} << 20;

}  // namespace

std::vector<MemoryRow> MemoryRowsOf(const protocol::Manifest& manifest,
                                    const train::Trainer& trainer) {
  const protocol::MemoryNeed need =
      protocol::MemoryOf(manifest, base::ElementCount(trainer.layout()));
  std::vector<MemoryRow> rows = {
      {"parameters and optimizer, now, updated and on their way to disk", need.states},
      {"states for members that come or were away, not yet on disk", need.served},
      {"parameters of past steps, to compute a gradient again", need.past},
      {"aggregates of this step and of those past steps", need.results},
      {"parts of gradients, own and received", need.parts},
      {manifest.training.inner.steps > 1 ? "the gradient and local steps" : "the gradient",
       need.work},
      {"the program", kProgram}};
  if (const std::optional<std::uint64_t> working = trainer.WorkingBytes()) {
    rows.push_back({"data, and what lies between the steps of a gradient", *working});
  }
  return rows;
}

std::uint64_t SumOf(const std::vector<MemoryRow>& rows) {
  std::uint64_t sum = 0;
  for (const MemoryRow& row : rows) sum += row.bytes;
  return sum;
}

}  // namespace ostraka::config
