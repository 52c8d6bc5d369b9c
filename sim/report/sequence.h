// The last messages of a run as a sequence diagram (Mermaid), for people who look at a failure.
//
// Memory: the newest `kept` arrows.
//
// Thread safety: none; one simulation.
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

  // Records messages that arrived, and important observations of machines: seals, blocks,
  // suspicions, halts. Each receiver of a broadcast gets an arrow of its own.
  void OnStep(const StepRecord& record) override;

  // "sequenceDiagram\n  participant p0 as peer 0, Byzantine ...", with only the peers that take
  // part.
  std::string Mermaid(const Roster& roster) const;
  // The newest events, one line each.
  std::string Lines() const;

 private:
  struct Entry {
    std::uint32_t peer = 0;
    base::PeerId from;  // zero id: a note
    std::string text;
  };
  std::size_t kept_;
  std::deque<Entry> entries_;
  std::deque<std::string> lines_;
};

}  // namespace ostraka::sim
