// Learning rates over a run, by name.
//
//   constant                  the rate, after the warm-up
//   linear                    the protocol's own (node/protocol/ground/schedule.h): to 0 before the
//                             last kSettleSteps steps, which move nothing
//   cosine                    half a cosine, to 0 at the end (Loshchilov and Hutter 2017)
//   step:every=E,factor=F     times F after every E steps
//
// Each begins with a linear warm-up over `warmup_steps`. With the optimizer adamw all are the
// protocol's own, and kSettleSteps come on top of the cell's.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "aggregation/optim/sgd.h"
#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"
#include "sim/compare/cells/cell.h"

namespace ostraka::compare {

inline constexpr std::uint64_t kSettleSteps = 5;

// InvalidArgument for an unknown name (it suggests one) or a parameter outside its range.
base::Status CheckSchedule(std::string_view text);

// True for a schedule that the protocol has: linear, and with the optimizer adamw also cosine.
bool IsOfProtocol(const Cell& cell);

// The plan for the protocol's members; with the optimizer adamw also a server's.
// REQUIRES: IsOfProtocol(cell), or the optimizer sgd.
protocol::TrainingPlan PlanOf(const Cell& cell);

// REQUIRES: the optimizer sgd; the cell's schedule passed CheckSchedule.
aggregation::SgdOptions SgdOf(const Cell& cell, std::uint64_t step);

}  // namespace ostraka::compare
