// Examples in the fixed shapes of a graph's inputs.
//
//   tokens i32[B,T], targets i32[B,T]     for records of T + 1 tokens: target t is token t + 1
//   any f32[B,...],  targets i32[B]       for labelled images: the features of dataset.h
//   any number of [B,...]                 for examples: the column of an input's name, row-major;
//                                         a column tokens of T + 1 stands for both inputs of a text
// Targets are -1 where they are left out of the loss. Inputs that are drawn are 1, as an evaluation
// wants them, until they are drawn.
//
// Promises: every input has its size, and every integer its range, after each Fill.
// Memory: one micro-batch.
// What an attacker can do here: a graph whose inputs do not fit the data is refused by For.
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "exact/run/runner.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

namespace ostraka::train {

class MicroBatch {
 public:
  // InvalidArgument: inputs of `graph` that no example of `data` fits, or too few held-out rows.
  static base::StatusOr<MicroBatch> For(const exact::Graph& graph, const Dataset& data);

  std::size_t size() const { return size_; }  // examples
  // Whether Fill takes fewer examples than size(): those that lack are left out of the loss.
  bool may_be_partial() const { return pads_; }

  // Takes `rows` of `examples`, a part of `data`. Returns what its loss is the mean over: targets,
  // or examples where it has none. REQUIRES: rows.size() is size(), or less if may_be_partial();
  // rows in range; `data` is that of For.
  std::size_t Fill(const Dataset& data, const Examples& examples,
                   std::span<const std::uint32_t> rows);

  // After a Fill of the batch's micro-batch `index`: gives drawn inputs the values that all peers
  // must give them (docs/numerics.md, 8).
  void Draw(const base::Digest& batch_seed, std::size_t index);

  std::vector<exact::InputValues> inputs() const;
  // What the loss selects by; empty if it does not.
  std::span<const std::int32_t> targets() const;

 private:
  // One input of the graph.
  struct Values {
    std::vector<float> floats = {};
    std::vector<std::int32_t> integers = {};
    Column column = {};  // of examples: what of a row it has
    float keep = 0;      // of a drawn one: exact::Input::keep
    // Of a drawn one, of floats: memory is taken by the first Fill, when the graph's is planned.
    std::size_t count = 0;
  };

  MicroBatch() = default;
  static base::StatusOr<MicroBatch> ForTargets(const exact::Graph& graph, const Dataset& data);
  static base::StatusOr<MicroBatch> ForColumns(const exact::Graph& graph, const Dataset& data);
  base::Status CheckHeldOut(const Dataset& data);
  void AddDrawn(const exact::Graph& graph);
  void FillRecord(const Dataset& data, const Examples& examples, std::uint32_t row,
                  std::size_t place);
  void FillColumns(const Dataset& data, const Examples& examples, std::uint32_t row,
                   std::size_t place);

  std::size_t size_ = 0;
  bool pads_ = true;
  std::vector<Values> values_;          // in the graph's order: those that are drawn come last
  std::optional<std::size_t> targets_;  // which of them the loss selects by
  std::size_t other_ = 0;               // of tokens and images: the one that is not targets
};

}  // namespace ostraka::train
