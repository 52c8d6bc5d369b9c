// One step of a run as a message sequence: who sent what, when it came, and what was decided. Of
// what is signed: questions for what is missing are asked again and again until it is there.
//
// Memory: messages of the newest few steps, and of the one that is kept. Thread safety: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "node/wire/messages.h"
#include "sim/engine/checker.h"
#include "sim/engine/trace.h"

namespace ostraka::sim {

struct RecordedStep {
  struct Message {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    wire::MessageType type = wire::MessageType::kBoot;
    base::Time sent;
    std::optional<base::Time> arrived;  // nullopt: never
  };
  struct Note {
    base::Time at;  // when the first honest peer saw it
    std::string text;
  };
  std::uint64_t step = 0;
  std::vector<Message> messages;
  std::vector<Note> notes;  // by time, each text once
};

class StepRecorder final : public StepObserver {
 public:
  // Keeps step `chosen`; nullopt: the one whose block is the first to remove somebody, or else the
  // last that a block ended.
  StepRecorder(Roster roster, std::optional<std::uint64_t> chosen);

  void OnStep(const StepRecord& record) override;
  // Nullopt if the run never came to it.
  std::optional<RecordedStep> Recorded() const;

 private:
  struct InProgress {
    RecordedStep recorded;
    // Sent and not there yet: (from, to), in order.
    std::map<std::pair<std::uint32_t, std::uint32_t>,
             std::vector<std::pair<base::SharedBytes, std::size_t>>>
        under_way;
  };
  void OnSend(const StepRecord& record, const protocol::Send& send);
  void OnArrival(const StepRecord& record, const protocol::MessageReceived& message);
  void OnObservation(const StepRecord& record, const protocol::Observation& what);
  void OnBlock(const StepRecord& record, const wire::Block& block);
  // Null for a step that is not kept.
  InProgress* At(std::uint64_t step);
  void Note(const StepRecord& record, std::uint64_t step, std::string text);

  Roster roster_;
  std::optional<std::uint64_t> chosen_;
  std::optional<std::uint64_t> last_done_;
  std::uint64_t newest_ = 0;
  std::map<std::uint64_t, InProgress> steps_;
  // A broadcast is one frame sent many times: it is opened once.
  base::SharedBytes last_frame_;
  std::optional<wire::Slot> last_slot_;
};

// Lifelines from the top down, with an arrow a message; of more than `most` peers those that the
// step removed and the first others. Long waits are drawn short; times are at the left.
std::string StepSvg(const RecordedStep& step, const Roster& roster, std::size_t most = 8);

}  // namespace ostraka::sim
