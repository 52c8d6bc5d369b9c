// The false AGGs of a colluder: a false result of its own job, or another body, signed in place of
// that of its machine. The machine must not sign its own, so it does not learn that the store of a
// changed AGG is done.
//
// Promises:
//   A1  A store is changed as a whole or left alone. All messages of a changed one are signed here.
//   A2  The messages of a changed store are handed out once.
//
// May not know: who gets which message, twins but their numbers.
//
// Memory: one result, and the messages of the changed stores under way.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "crypto/sign.h"
#include "node/wire/codec.h"
#include "sim/adversary/adversary.h"
#include "sim/script/script.h"

namespace ostraka::sim {

class FalseAggregates {
 public:
  explicit FalseAggregates(std::shared_ptr<const crypto::SigningKey> key) : key_(std::move(key)) {}

  // The result as the script has it. `spec`: of the job, if it is one of the inner machine's;
  // `content`: the deviation for a slot, or null.
  template <typename Content>
  protocol::JobDone Lied(EditorTurn& turn, const protocol::JobSpec* spec, protocol::JobDone done,
                         Content content) {
    const auto* truth = std::get_if<protocol::AggregateResult>(done.result.get());
    if (!truth || !truth->result || !spec) return done;
    wire::Slot slot;
    slot.step = turn.step();
    slot.phase = wire::Phase::kA;
    slot.type = wire::MessageType::kAggregate;
    const Deviation* how = content(slot);
    result_ = truth->result;
    if (!how || ChangesBody(how->what)) return done;
    turn.Confess();
    protocol::AggregateResult lie = Altered(std::get<protocol::AggregateSpec>(*spec), *truth, *how);
    result_ = lie.result;
    done.result = std::make_shared<const protocol::JobResult>(std::move(lie));
    return done;
  }

  // Looks at a store of machine number `machine`, and signs its messages if one is to be changed.
  template <typename Content>
  void Prepare(const EditorTurn& turn, std::uint8_t machine, const protocol::Store& store,
               Content content) {
    std::vector<base::SharedBytes> frames;
    bool differs = false;
    for (const protocol::Record& record : store.records) {
      if (record.kind != protocol::RecordKind::kSlot) return;  // A1
      auto own = wire::OpenUnsigned(record.value);
      if (!own.ok()) return;
      if (own->slot.type == wire::MessageType::kAggregate) {
        const Deviation* how = content(own->slot);
        differs = (how && ChangeBody(turn, *how, *own)) || differs;
      }
      frames.push_back(wire::Seal(std::move(own).value(), *key_).frame);
    }
    if (differs) changed_[{machine, store.id}] = std::move(frames);
  }
  // The messages of that store, if it was changed; nullopt else.
  std::optional<std::vector<base::SharedBytes>> Take(std::uint8_t machine, protocol::StoreId id) {
    auto frames = changed_.extract({machine, id});
    return frames.empty() ? std::nullopt : std::optional(std::move(frames.mapped()));
  }

  // Of the own column, as sent to others.
  const protocol::SharedBlob& result() const { return result_; }

 private:
  static bool ChangesBody(Deviation::Do what) {
    return what == Deviation::Do::kFullBitmap || what == Deviation::Do::kCommitsRoot;
  }
  static protocol::AggregateResult Altered(const protocol::AggregateSpec& spec,
                                           const protocol::AggregateResult& truth,
                                           const Deviation& how);
  static bool ChangeBody(const EditorTurn& turn, const Deviation& how, wire::Envelope& own);

  std::shared_ptr<const crypto::SigningKey> key_;
  protocol::SharedBlob result_;
  // By machine and store.
  std::map<std::pair<std::uint8_t, protocol::StoreId>, std::vector<base::SharedBytes>> changed_;
};

}  // namespace ostraka::sim
