// What a program costs, before anything runs: floating-point operations and scratch memory.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "exact/program/program.h"

namespace ostraka::exact {

// Floating-point operations of a step: two for each fused multiply-add of a product, else about one
// for each element that a kernel reads. Saturates at 2^64 - 1.
std::uint64_t OperationsOf(const Program& program, const Step& step);

// Floats that a step needs beside its operands when it runs on `threads` threads.
std::size_t ScratchOf(const Step& step, std::size_t threads);
// Of those, what each thread needs.
std::size_t ScratchOfThread(const AttentionShape& shape, bool backward);

}  // namespace ostraka::exact
