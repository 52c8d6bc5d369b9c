// One step of a run as a message sequence: senders, receivers, times of arrival, and decisions.
// Signed messages only, because unsigned requests are repeated until they are answered.
//
// Promises:
//   D1  Recording changes nothing in the run.
//   D2  A message that never arrives is kept, without a time of arrival.
//
// Memory: messages of the newest few steps, and of the chosen one.
//
// Thread safety: one owner.
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
  std::vector<Note> notes;  // in the order of time, each text once
};

class StepRecorder final : public StepObserver {
 public:
  // Keeps step `chosen`; nullopt: the first step whose block removes a member, or else the last
  // step that a block ended.
  StepRecorder(Roster roster, std::optional<std::uint64_t> chosen);

  void OnStep(const StepRecord& record) override;
  // Nullopt if the run never came to that step.
  std::optional<RecordedStep> Recorded() const;

 private:
  struct InProgress {
    RecordedStep recorded;
    // Messages in transit by (from, to), in order.
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
  // A broadcast is one frame sent many times; it is opened once.
  base::SharedBytes last_frame_;
  std::optional<wire::Slot> last_slot_;
};

// Draws lifelines from the top down, and an arrow for each message. If there are more than `most`
// peers, it draws those that the step removed and the first others. Long waits are shortened; times
// stand at the left.
std::string StepSvg(const RecordedStep& step, const Roster& roster, std::size_t most = 8);

}  // namespace ostraka::sim
