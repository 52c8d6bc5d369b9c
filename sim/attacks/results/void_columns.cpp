// void_columns: as an aggregator, makes its own column void by its own message.
//   kind 0  its AGG says that it formed no aggregate
//   kind 1  its AGG has a wrong root of the COMMITs
//   kind 2  its AGG leaves out its own part
//   kind 3  as a worker, it states that its own aggregate is missing
// With content = 1 it does so only for results that it dislikes: those whose coordinates have a
// positive sum.
//
// Rule: a column voided by its owner's message costs the owner (docs/protocol/checks.md). If voids
// were free, an owner could apply only the updates that it likes.
// Cost to honest members: the coordinates of a void column stay as they were for a step.
// Found by: the count of its void columns; dropped at the third.
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "crypto/set_root.h"
#include "node/protocol/rules/columns.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "sim/adversary/frames.h"
#include "sim/adversary/lying.h"
#include "sim/adversary/shift.h"
#include "sim/adversary/substitute.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

bool PointsUp(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) > 0;
}

class NoAggregate final : public LyingEditor<protocol::AggregateResult> {
 public:
  explicit NoAggregate(const EditorOptions& options)
      : LyingEditor(options.from_step), by_content_(options.Param("content") != 0) {}

 private:
  std::optional<protocol::AggregateResult> Lie(const EditorTurn&, const protocol::JobSpec& spec,
                                               const protocol::AggregateResult& truth) override {
    const auto& aggregate = std::get<protocol::AggregateSpec>(spec);
    if (by_content_ && !PointsUp(ResultOf(aggregate, truth))) return std::nullopt;
    return protocol::AggregateResult{nullptr};
  }

  bool by_content_;
};

class MissesItsOwn final : public LyingEditor<protocol::ProveResult> {
 public:
  explicit MissesItsOwn(const EditorOptions& options)
      : LyingEditor(options.from_step), by_content_(options.Param("content") != 0) {}

 private:
  std::optional<protocol::ProveResult> Lie(const EditorTurn& turn, const protocol::JobSpec& spec,
                                           const protocol::ProveResult& truth) override {
    const auto own = turn.round()->roles.PartOwnedBy(turn.self());
    if (!own || truth.columns[*own].missing) return std::nullopt;
    const auto& column = std::get<protocol::ProveSpec>(spec).columns[*own];
    if (by_content_ && !PointsUp(ValuesIn(column.codec, *column.result, column.range.size())))
      return std::nullopt;
    protocol::ProveResult lie = truth;
    lie.columns[*own] = {.missing = true, .size = truth.columns[*own].size};
    return lie;
  }

  bool by_content_;
};

// Signs another AGG in place of the inner machine's own, which never gets Stored for its own.
class OtherAggregate final : public Editor {
 public:
  explicit OtherAggregate(const EditorOptions& options)
      : from_step_(options.from_step),
        leaves_itself_out_(options.Param("kind") == 2),
        by_content_(options.Param("content") != 0),
        substitutes_(options) {}

  void OnInput(EditorTurn& turn, protocol::Input input) override {
    if (const auto* received = std::get_if<protocol::MessageReceived>(&input)) {
      NoteCommit(frames_.Open(received->frame));
    } else if (const auto* done = std::get_if<protocol::JobDone>(&input)) {
      const auto* result = std::get_if<protocol::AggregateResult>(done->result.get());
      const auto spec = turn.SpecOf(done->id);
      if (result && result->result && spec) {
        result_ = result->result;
        points_up_ = PointsUp(ResultOf(std::get<protocol::AggregateSpec>(*spec), *result));
      }
    }
    if (!substitutes_.OnInput(turn, input, result_)) turn.Deliver(input);
  }

  void OnAction(EditorTurn& turn, protocol::Action action) override {
    NoteCommit(frames_.Read(action));
    if (const auto* store = std::get_if<protocol::Store>(&action)) Prepare(turn, *store);
    const auto* seen = std::get_if<protocol::Observe>(&action);
    const auto* done = seen ? std::get_if<protocol::StepDone>(&seen->what) : nullptr;
    if (done) members_ = done->block->members;
    turn.Emit(std::move(action));
  }

 private:
  void NoteCommit(const wire::SignedEnvelope* message) {
    if (!message || message->envelope.slot.type != wire::MessageType::kCommit) return;
    const std::uint64_t step = message->envelope.slot.step;
    commits_[step][message->envelope.sender] = message->digest;
    while (commits_.size() > 4) commits_.erase(commits_.begin());
  }

  void Prepare(const EditorTurn& turn, const protocol::Store& store) {
    if (!result_ || members_.empty() || (by_content_ && !points_up_)) return;
    substitutes_.Prepare(store, [&](wire::Envelope& own) {
      if (own.slot.type != wire::MessageType::kAggregate || own.slot.step < from_step_)
        return false;
      auto body = wire::Decode<wire::Aggregate>(own.body);
      if (!body.ok()) return false;
      Spoil(turn, own.slot.step, *body);
      own.body = wire::Encode(*body);
      return true;
    });
  }

  void Spoil(const EditorTurn& turn, std::uint64_t step, wire::Aggregate& body) {
    if (!leaves_itself_out_) {
      body.commits_root = body.result_root;
      return;
    }
    auto senders = *wire::SendersOf(body.included, members_);
    std::erase(senders, turn.self());
    std::vector<base::Digest> commits;
    for (const base::PeerId& sender : senders) commits.push_back(commits_[step][sender]);
    body.included = wire::BitmapOf(senders, members_);
    body.commits_root = crypto::SetRoot(commits);
  }

  std::uint64_t from_step_;
  bool leaves_itself_out_;
  bool by_content_;
  Substitutes substitutes_;
  FrameReader frames_;
  protocol::SharedBlob result_;
  bool points_up_ = false;
  std::vector<base::PeerId> members_;                                      // members of the head
  std::map<std::uint64_t, std::map<base::PeerId, base::Digest>> commits_;  // by step
};

}  // namespace

std::unique_ptr<Editor> MakeVoidColumns(const EditorOptions& options) {
  const int kind = static_cast<int>(options.Param("kind"));
  if (kind == 0) return std::make_unique<NoAggregate>(options);
  if (kind == 3) return std::make_unique<MissesItsOwn>(options);
  return std::make_unique<OtherAggregate>(options);
}

}  // namespace ostraka::sim
