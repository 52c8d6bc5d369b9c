// One step of a run, recorded: senders, receivers, times of arrival, and decisions.
// Signed messages only, because unsigned requests are repeated until they are answered.
//
// Promises:
//   D1  Recording changes nothing in the run.
//   D2  A message that never arrives is kept, without a time of arrival.
//   D3  A message that its signer sends to one receiver again, as an answer, is kept once; copies
//       that others forward are not kept.
//
// Memory: messages of the newest few steps, and of the chosen one.
//
// Thread safety: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
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
    wire::Phase phase = wire::Phase::kA;
    base::Time sent;
    std::optional<base::Time> arrived;  // nullopt: never
  };
  struct Note {
    base::Time at;  // when the first honest peer saw it
    std::string text;
  };
  std::uint64_t step = 0;
  std::vector<Message> messages;
  std::vector<Note> notes;             // in the order of time, each text once
  std::vector<std::uint32_t> removed;  // peers that its block banned or dropped, ascending
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
    std::set<std::tuple<std::uint32_t, std::uint32_t, base::Digest>> sent;  // D3
  };
  void OnSend(const StepRecord& record, const protocol::Send& send);
  void OnArrival(const StepRecord& record, const protocol::MessageReceived& message);
  void OnObservation(const StepRecord& record, const protocol::Observation& what);
  void OnBlock(const StepRecord& record, const wire::Block& block);
  // Null for a step that is not kept.
  InProgress* At(std::uint64_t step);
  void NoteRemoved(std::uint64_t step, const base::PeerId& id);
  // Keeps the text unless it is known up to `differs_from`, by default as a whole.
  void Note(const StepRecord& record, std::uint64_t step, std::string text,
            std::size_t differs_from = std::string::npos);

  Roster roster_;
  std::optional<std::uint64_t> chosen_;
  std::optional<std::uint64_t> last_done_;
  std::uint64_t newest_ = 0;
  std::map<std::uint64_t, InProgress> steps_;
  // A broadcast is one frame sent many times; it is opened once.
  base::SharedBytes last_frame_;
  std::optional<wire::Slot> last_slot_;
  base::Digest last_digest_;
  base::PeerId last_signer_;
};

}  // namespace ostraka::sim
