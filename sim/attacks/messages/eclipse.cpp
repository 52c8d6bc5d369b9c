// eclipse: no colluder sends anything to one honest member: neither its own messages nor answers.
// (Cutting the victim off from honest members too is a fault of the network: --cut.)
//
// Rule: honest members forward what a member lacks, so that nobody depends on its direct links.
// Cost to honest members: one victim gets the colluders' messages later, and asks for them.
// Found by: nothing; contained.
#include <memory>
#include <utility>
#include <variant>

#include "sim/adversary/frames.h"
#include "sim/attacks/messages/factories.h"

namespace ostraka::sim {
namespace {

class Eclipse final : public Editor {
 public:
  explicit Eclipse(const EditorOptions& options)
      : from_step_(options.from_step), victims_(options) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const auto* send = std::get_if<protocol::Send>(&action);
    const bool begun = turn.round() != nullptr && turn.step() >= from_step_;
    if (!send || !begun || send->to != victims_.At(turn)) return turn.Emit(std::move(action));
    turn.Confess();
  }

 private:
  std::uint64_t from_step_;
  Victims victims_;
};

}  // namespace

std::unique_ptr<Editor> MakeEclipse(const EditorOptions& options) {
  return std::make_unique<Eclipse>(options);
}

}  // namespace ostraka::sim
