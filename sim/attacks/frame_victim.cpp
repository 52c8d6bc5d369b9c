// frame_victim: all colluders make every possible accusation against one honest member.
//
//   rule 1  as a validator or voter, condemns it                          (false_accuse)
//   rule 2  claims that its part never came                               (false_complaint, kind 0)
//   rule 3  claims that its numbers do not follow from its part           (kind 1)
//   rule 4  claims that its aggregate never came                          (kind 2)
//   rule 5  withholds the own part from it, which opens a dispute         (selective_send)
//   rule 6  withholds the own aggregate from it                           (withhold_result)
//   rule 7  names its ECHO as missing; in disputes testifies against it   (false_witness)
//   rule 8  sends it everything late, so that it becomes late itself      (late)
//   rule 9  signs messages in its name                                    (impersonate)
//
// With rule = 0 each rule is active in half of the steps, drawn alike for all colluders, so that
// they testify alike and the rules combine. Otherwise that one rule is always active.
//
// Rule: no rule removes a member on the testimony of t_s members or fewer.
// Cost to honest members: the victim's disputes and cases; its parts and results by way of others.
// Found by: the rule that the false testimony is for; the victim stays (`honest_removed`).
#include "sim/attacks/frame_victim.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "node/base/rng.h"
#include "node/protocol/rules/columns.h"
#include "sim/adversary/frames.h"
#include "sim/adversary/substitute.h"
#include "sim/attacks/messages/factories.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

void SetBit(base::Bytes& bitmap, std::size_t bit, bool on) {
  const auto mask = static_cast<std::uint8_t>(1U << (bit % 8));
  if (bit / 8 >= bitmap.size()) return;
  bitmap[bit / 8] =
      static_cast<std::uint8_t>(on ? bitmap[bit / 8] | mask : bitmap[bit / 8] & ~mask);
}

// Testifies in its PROOF that the victim's ECHO did not come and, in the victim's disputes,
// whatever makes the victim lose (node/protocol/rules/disputes.h).
class FalseWitness final : public SubstitutingEditor {
 public:
  explicit FalseWitness(const EditorOptions& options)
      : SubstitutingEditor(options, wire::MessageType::kProof), victims_(options) {}

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    if (const auto* observe = std::get_if<protocol::Observe>(&action)) {
      const auto* done = std::get_if<protocol::StepDone>(&observe->what);
      if (done) view_ = done->block;
    }
    SubstitutingEditor::OnAction(turn, std::move(action));
  }

 private:
  std::optional<base::Bytes> Another(const EditorTurn& turn, const wire::Envelope& own) override {
    const auto victim = victims_.At(turn);
    auto proof = wire::Decode<wire::Proof>(own.body);
    if (!victim || !view_ || !proof.ok()) return std::nullopt;
    const std::vector<base::PeerId>& members = view_->members;
    const auto place = std::lower_bound(members.begin(), members.end(), *victim);
    if (place == members.end() || *place != *victim) {
      std::erase(proof->joins, *victim);
      return wire::Encode(*proof);
    }
    proof->silent.resize((members.size() + 7) / 8);
    SetBit(proof->silent, static_cast<std::size_t>(place - members.begin()), true);
    const std::size_t disputes = view_->disputes.size();
    proof->held.resize((2 * disputes + 7) / 8);
    for (std::size_t d = 0; d < disputes; ++d) {
      const bool works = view_->disputes[d].worker == *victim;
      if (!works && view_->disputes[d].aggregator != *victim) continue;
      // Held parts are evidence for the worker, held aggregates for the aggregator.
      SetBit(proof->held, d, !works);
      SetBit(proof->held, disputes + d, works);
    }
    return wire::Encode(*proof);
  }

  Victims victims_;
  std::shared_ptr<const wire::Block> view_;  // the parent of the step in progress
};

// Another editor, active in half of the steps.
class InTurns final : public Editor {
 public:
  InTurns(std::unique_ptr<Editor> rule, const base::Rng& rng) : rule_(std::move(rule)), rng_(rng) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    // Timers for delayed messages of the inner editor fire in every step.
    const auto* timer = std::get_if<protocol::TimerFired>(&input);
    const bool own = timer != nullptr && timer->id >= kFirstReservedTimer;
    if (own || IsOn(turn)) return rule_->OnInput(turn, std::move(input));
    turn.Deliver(input);
  }
  void OnAction(EditorTurn& turn, protocol::Action action) override {
    const bool news = std::holds_alternative<protocol::Observe>(action);
    if (news || IsOn(turn)) return rule_->OnAction(turn, std::move(action));
    turn.Emit(std::move(action));
  }
  base::Digest Fingerprint() const override { return rule_->Fingerprint(); }

 private:
  bool IsOn(const EditorTurn& turn) const { return rng_.Fork("step", turn.step()).Next() % 2 == 0; }

  std::unique_ptr<Editor> rule_;
  base::Rng rng_;
};

using Make = std::unique_ptr<Editor> (*)(const EditorOptions&);

std::unique_ptr<Editor> MakeFalseWitness(const EditorOptions& options) {
  return std::make_unique<FalseWitness>(options);
}

struct Rule {
  Make make;
  std::map<std::string, double> params;
};
const std::vector<Rule>& Rules() {
  static const std::vector<Rule> kRules = {
      {MakeFalseAccuse, {{"victim", 1}}},
      {MakeFalseComplaint, {{"kind", 0}}},
      {MakeFalseComplaint, {{"kind", 1}}},
      {MakeFalseComplaint, {{"kind", 2}}},
      {MakeSelectiveSend, {{"stubborn", 0}, {"rotate", 0}}},
      {MakeWithholdResult, {{"all", 0}}},
      {MakeFalseWitness, {}},
      {MakeLate, {{"deltas", 1.9}, {"victim", 1}}},
      {MakeImpersonate, {}},
  };
  return kRules;
}

}  // namespace

std::vector<std::unique_ptr<Editor>> MakeFrameVictim(const EditorOptions& options) {
  const auto only = static_cast<std::size_t>(options.Param("rule"));
  const base::Rng rng = base::Rng(options.coven_seed).Fork("frame_victim");
  std::vector<std::unique_ptr<Editor>> editors;
  for (std::size_t i = 0; i < Rules().size(); ++i) {
    if (only != 0 && only != i + 1) continue;
    EditorOptions own = options;
    own.params = Rules()[i].params;
    std::unique_ptr<Editor> rule = Rules()[i].make(own);
    if (only == 0) rule = std::make_unique<InTurns>(std::move(rule), rng.Fork("rule", i));
    editors.push_back(std::move(rule));
  }
  return editors;
}

}  // namespace ostraka::sim
