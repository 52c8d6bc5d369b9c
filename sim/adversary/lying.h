// Base of attacks that replace the result of an own job. The inner machine uses the false result,
// so all its later messages are consistent with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "sim/adversary/adversary.h"

namespace ostraka::sim {

// Replaces results of type `Result` from a step on; of all types, if it is protocol::JobResult.
template <typename Result>
class LyingEditor : public Editor {
 public:
  explicit LyingEditor(std::uint64_t from_step) : from_step_(from_step) {}

  void OnInput(EditorTurn& turn, protocol::Input input) final {
    const auto* done = std::get_if<protocol::JobDone>(&input);
    const Result* truth = done ? TruthIn(*done->result) : nullptr;
    const auto spec = truth ? turn.SpecOf(done->id) : nullptr;
    if (!spec || turn.step() < from_step_) return turn.Deliver(input);
    std::optional<Result> lie = Lie(turn, *spec, *truth);
    if (!lie) return turn.Deliver(input);
    turn.Confess();
    turn.Deliver(
        protocol::JobDone{done->id, std::make_shared<const protocol::JobResult>(std::move(*lie))});
  }

 private:
  static const Result* TruthIn(const protocol::JobResult& result) {
    if constexpr (std::is_same_v<Result, protocol::JobResult>) {
      return &result;
    } else {
      return std::get_if<Result>(&result);
    }
  }
  // Nullopt keeps the true result.
  virtual std::optional<Result> Lie(const EditorTurn& turn, const protocol::JobSpec& spec,
                                    const Result& truth) = 0;
  std::uint64_t from_step_;
};

}  // namespace ostraka::sim
