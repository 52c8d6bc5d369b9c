// What the owners of simulated peers tell them, and when: as each process starts, and in each step
// what is to hold in the next one (protocol::Told).
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "sim/engine/checker.h"
#include "sim/engine/simulator.h"

namespace ostraka::sim {

// Adds what is to hold in the COMMIT of `step`. `head`: the newest block that the peer has shown;
// null before the first.
using Wish = std::function<void(std::uint64_t step, const wire::Block* head, protocol::Told& told)>;

class Prompter final : public StepObserver {
 public:
  explicit Prompter(Simulator* simulator) : simulator_(simulator) {}
  void OnStep(const StepRecord& record) override;
  // All wishes of a peer are asked in the order of Add.
  void Add(std::uint32_t peer, Wish wish) { wishes_[peer].push_back(std::move(wish)); }

 private:
  void Prompt(std::uint32_t peer, std::uint64_t step);

  Simulator* simulator_;
  std::map<std::uint32_t, std::vector<Wish>> wishes_;
  std::map<std::uint32_t, std::shared_ptr<const wire::Block>> heads_;
};

}  // namespace ostraka::sim
