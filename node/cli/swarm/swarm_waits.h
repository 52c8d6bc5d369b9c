// How long a swarm waits for parts where nobody says: its nodes share this machine, and a model
// whose step takes longer than the wait would void every column.
//
// Thread safety: pure functions but for the trainer, which one thread uses.
#pragma once

#include <cstdint>
#include <string>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/cli/swarm/wan_lines.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"

namespace ostraka::cli {

// What a step's work takes each of `nodes` nodes on this machine, by the time of a gradient.
// Gradient's errors.
base::StatusOr<base::Duration> MeasureWork(const protocol::Manifest& manifest,
                                           train::Trainer& trainer, std::uint32_t nodes);

// What a step's exchange takes by such lines: the time of the bytes that each of `nodes` nodes
// sends, its parts and its aggregate to all others, and eight delays.
base::Duration ExchangeTime(const protocol::Manifest& manifest, std::uint64_t dimension,
                            std::uint32_t nodes, const WanLine& line);

// Raises the waits of `manifest` to what holds `work`: three times as long for parts, one and a
// half times for patience. A line about it for people; empty: they hold it already.
std::string FitWaits(base::Duration work, protocol::Manifest& manifest);

}  // namespace ostraka::cli
