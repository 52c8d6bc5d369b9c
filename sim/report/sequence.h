// The last messages of a run as a sequence diagram (Mermaid), for people who look at a failure.
//
// Memory: the newest `kept` arrows. Thread safety: none; one simulation.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "sim/engine/checker.h"
#include "sim/engine/trace.h"

namespace ostraka::sim {

class SequenceRecorder final : public StepObserver {
 public:
  explicit SequenceRecorder(std::size_t kept) : kept_(kept) {}

  // Messages that arrived, and what machines observed of weight: seals, blocks, suspicions, halts.
  // Equal messages to many at one instant are arrows of their own.
  void OnStep(const StepRecord& record) override;

  // "sequenceDiagram\n  participant p0 as peer 0, Byzantine ...". Peers that take part only.
  std::string Mermaid(const Roster& roster) const;
  // The newest events, one line each.
  std::string Lines() const;

 private:
  struct Entry {
    std::uint32_t peer = 0;
    base::PeerId from;  // zero: a note
    std::string text;
  };
  std::size_t kept_;
  std::deque<Entry> entries_;
  std::deque<std::string> lines_;
};

}  // namespace ostraka::sim
