#include "sim/report/sequence.h"

#include <set>
#include <variant>

#include "node/wire/codec.h"

namespace ostraka::sim {
namespace {

// Mermaid ends a text at ';' and takes '#' as the start of an entity.
std::string Plain(std::string text) {
  for (char& c : text) {
    if (c == ';' || c == '#' || c == ':') c = ',';
  }
  return text;
}

std::string NameOf(const base::SharedBytes& frame) {
  const auto opened = wire::Open(frame);
  if (!opened.ok()) return "unreadable frame";
  const wire::Slot& slot = opened->envelope.slot;
  return std::string(wire::MessageTypeName(slot.type)) + " " + std::to_string(slot.step) +
         wire::PhaseName(slot.phase) + " of " + opened->envelope.sender.Short().substr(0, 4);
}

template <typename Item>
void Push(std::deque<Item>& items, Item item, std::size_t kept) {
  items.push_back(std::move(item));
  if (items.size() > kept) items.pop_front();
}

}  // namespace

void SequenceRecorder::OnStep(const StepRecord& record) {
  const std::string line = Describe(record);
  if (const auto* message = std::get_if<protocol::MessageReceived>(&record.input)) {
    Push(entries_, {record.peer, message->from, NameOf(message->frame)}, kept_);
  }
  // Describe puts observations behind semicolons.
  if (const std::size_t notes = line.find("; "); notes != std::string::npos) {
    Push(entries_, {record.peer, {}, line.substr(notes + 2)}, kept_);
  }
  Push(lines_, line, kept_);
}

std::string SequenceRecorder::Mermaid(const Roster& roster) const {
  std::set<std::uint32_t> peers;
  std::string arrows;
  for (const Entry& entry : entries_) {
    const std::string to = "p" + std::to_string(entry.peer);
    peers.insert(entry.peer);
    if (entry.from.is_zero()) {
      arrows += "  Note over " + to + ": " + Plain(entry.text) + "\n";
    } else if (const auto from = roster.IndexOf(entry.from)) {
      peers.insert(*from);
      arrows += "  p" + std::to_string(*from) + "->>" + to + ": " + Plain(entry.text) + "\n";
    }
  }
  std::string text = "sequenceDiagram\n";
  for (const std::uint32_t peer : peers) {
    text += "  participant p" + std::to_string(peer) + " as " + std::to_string(peer) + " " +
            roster.ids[peer].Short().substr(0, 4) + (roster.byzantine[peer] ? " Byzantine" : "") +
            "\n";
  }
  return text + arrows;
}

std::string SequenceRecorder::Lines() const {
  std::string text;
  for (const std::string& line : lines_) text += line + "\n";
  return text;
}

}  // namespace ostraka::sim
