#include "node/cli/swarm/swarm_waits.h"

#include <algorithm>
#include <thread>

#include "node/cli/terminal/human.h"
#include "node/config/run_work.h"

namespace ostraka::cli {

base::StatusOr<base::Duration> MeasureWork(const protocol::Manifest& manifest,
                                           train::Trainer& trainer, std::uint32_t nodes) {
  ASSIGN_OR_RETURN(const base::Duration work, config::MeasureLeastWork(manifest, trainer));
  const std::uint64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t turns = (nodes + cores - 1) / cores;
  return work * static_cast<std::int64_t>(turns);
}

base::Duration ExchangeTime(const protocol::Manifest& manifest, std::uint64_t dimension,
                            std::uint32_t nodes, const WanLine& line) {
  const protocol::Codecs& codecs = manifest.codecs;
  const std::uint64_t part = dimension / nodes + 1;
  const std::uint64_t bytes = (nodes - 1) * (protocol::EncodedBytes(codecs.parts, part) +
                                             protocol::EncodedBytes(codecs.results, part));
  const double seconds =
      8.0 * static_cast<double>(bytes) / static_cast<double>(line.bits_per_second);
  return base::Duration{static_cast<std::int64_t>(seconds * 1e9)} + line.delay * 8;
}

std::string FitWaits(base::Duration work, protocol::Manifest& manifest) {
  const base::Duration wait = work * 3;
  if (wait <= manifest.part_timeout) return "";
  const std::int64_t seconds = wait.ns / 1'000'000'000 + 1;
  manifest.part_timeout = base::Seconds(seconds);
  manifest.seal_timeout = std::max(manifest.seal_timeout, manifest.part_timeout * 3);
  manifest.patience = std::max(manifest.patience, base::Milliseconds(work.ns * 3 / 2'000'000));
  return "a step takes about " + SpanText(static_cast<double>(work.ns) / 1e9) +
         " here, so parts are waited for up to " + SpanText(static_cast<double>(seconds)) +
         " (--part-timeout-ms, --patience-ms)";
}

}  // namespace ostraka::cli
