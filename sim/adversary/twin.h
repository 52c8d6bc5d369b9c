// A second honest machine of a colluder, with its key and its coins. It lives inside the editor,
// which carries out its actions.
//
// Promises:
//   T1  The twin is stepped with one input after the other: what an action brings about waits until
//       the actions before it are carried out.
//   T2  Each job of the twin has one number among the editor's own jobs, and is handed back once.
//
// May not know: what its messages say, and who hears them.
//
// Memory: a machine, the inputs of one call, and two numbers for each job under way.
//
// Thread safety: none; one owner.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/ground/machine.h"

namespace ostraka::sim {

class Twin {
 public:
  void Begin(std::unique_ptr<protocol::Machine> machine) {
    OSTRAKA_CHECK(machine_ == nullptr && machine != nullptr);
    machine_ = std::move(machine);
  }
  bool here() const { return machine_ != nullptr; }

  // `act` carries out one action, and may call Step. REQUIRES: here().
  template <typename Act>
  void Step(base::Time now, const protocol::Input& input, Act act) {
    OSTRAKA_CHECK(here());
    inputs_.push_back(input);
    if (inputs_.size() > 1) return;  // an outer call is already stepping it (T1)
    for (; !inputs_.empty(); inputs_.pop_front()) {
      protocol::Outbox said;
      machine_->Step(now, protocol::Input(inputs_.front()), said);
      for (protocol::Action& action : said.actions()) act(std::move(action));
    }
  }

  void NoteJob(protocol::JobId ours, protocol::JobId its) {
    const bool added = jobs_.emplace(ours, its).second;
    OSTRAKA_CHECK(added);  // T2
  }
  // The twin's number of that job; nullopt if the job is not the twin's.
  std::optional<protocol::JobId> TakeJob(protocol::JobId ours) {
    const auto job = jobs_.extract(ours);
    return job.empty() ? std::nullopt : std::optional(job.mapped());
  }

  // Zero if it is not here.
  base::Digest Fingerprint() const { return here() ? machine_->Fingerprint() : base::Digest{}; }

 private:
  std::unique_ptr<protocol::Machine> machine_;
  std::deque<protocol::Input> inputs_;               // not stepped with yet
  std::map<protocol::JobId, protocol::JobId> jobs_;  // our id -> the twin's
};

}  // namespace ostraka::sim
