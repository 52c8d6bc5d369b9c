// Examples in the fixed shapes of a graph's inputs.
//
// A graph has two inputs. "targets" holds what to predict, with -1 for what is left out of the
// loss. The other holds what to predict it from:
//   tokens i32[B,T], targets i32[B,T]     for records of T + 1 tokens: target t is token t + 1
//   any f32[B,...],  targets i32[B]       for labelled images: the features of dataset.h
//
// Promises: every input has its size, and every integer its range, after each Fill.
// Memory: one micro-batch.
// What an attacker can do here: a graph whose inputs do not fit the data is refused by For.
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exact/run/runner.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

class MicroBatch {
 public:
  // InvalidArgument: inputs of `graph` that no example of `data` fits.
  static base::StatusOr<MicroBatch> For(const exact::Graph& graph, const Dataset& data);

  std::size_t size() const { return size_; }  // examples

  // Takes `rows` of `examples`, a part of `data`; places beyond them are left out of the loss.
  // Returns the number of targets in the loss. REQUIRES: rows.size() <= size(); rows in range;
  // `data` is that of For.
  std::size_t Fill(const Dataset& data, const Examples& examples,
                   std::span<const std::uint32_t> rows);

  std::vector<exact::InputValues> inputs() const;
  std::span<const std::int32_t> targets() const { return targets_; }

 private:
  MicroBatch() = default;
  void FillRecord(const Dataset& data, const Examples& examples, std::uint32_t row,
                  std::size_t place);

  std::size_t size_ = 0;
  bool of_tokens_ = false;
  bool targets_first_ = false;  // the graph's order of inputs
  std::vector<float> features_;
  std::vector<std::int32_t> tokens_;
  std::vector<std::int32_t> targets_;
};

}  // namespace ostraka::train
