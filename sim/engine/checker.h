// Interface of the properties that every run must have, checked from outside. A checker reads what
// honest machines do (frames on the wire, observations) and changes nothing. It shares no code with
// the protocol's own rules, so it also finds a rule that every peer gets wrong alike.
//
// Thread safety: none; one simulation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "node/base/status.h"
#include "sim/engine/trace.h"

namespace ostraka::sim {

// The participants. Indices are the simulator's.
struct Roster {
  std::vector<base::PeerId> ids;
  std::vector<bool> byzantine;
  // Honest, but crashed or cut off at some time. While it is, the peer counts as a fault; it may be
  // dropped but never banned.
  std::vector<bool> unlucky = {};
  std::uint32_t genesis = UINT32_MAX;  // those from here on come later

  bool IsHonest(std::uint32_t peer) const { return !byzantine[peer]; }
  bool Comes(std::uint32_t peer) const { return peer >= genesis; }
  bool IsUnlucky(std::uint32_t peer) const { return peer < unlucky.size() && unlucky[peer]; }
  // Nullopt for an id that is not in the roster.
  std::optional<std::uint32_t> IndexOf(const base::PeerId& id) const;
};

// "peer 3 (194aebcc6ae7c0b0)".
std::string Named(const Roster& roster, std::uint32_t peer);

// The observation in `action`, if it is one of type T.
template <typename T>
const T* Observed(const protocol::Action& action) {
  const auto* observe = std::get_if<protocol::Observe>(&action);
  return observe ? std::get_if<T>(&observe->what) : nullptr;
}

class Checker {
 public:
  virtual ~Checker() = default;
  virtual std::string_view name() const = 0;
  // An action of an honest peer. A non-Ok status names the violation in one line; its code is
  // FailedPrecondition.
  virtual base::Status OnAction(std::uint32_t peer, const protocol::Action& action) = 0;
  virtual base::Status AtEnd() { return base::OkStatus(); }
};

struct Failure {
  std::string checker;
  std::string message;
  base::Time at;
  std::uint64_t event = 0;  // sequence number of the step that failed
};

// Passes every step to all checkers and keeps the first failure.
class CheckerSet final : public StepObserver {
 public:
  explicit CheckerSet(Roster roster) : roster_(std::move(roster)) {}

  void Add(std::unique_ptr<Checker> checker) { checkers_.push_back(std::move(checker)); }
  const Roster& roster() const { return roster_; }

  void OnStep(const StepRecord& record) override;
  // Runs every AtEnd unless a checker has already failed.
  void Finish(base::Time now);
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  void Judge(const Checker& checker, const base::Status& status, base::Time now,
             std::uint64_t sequence);

  Roster roster_;
  std::vector<std::unique_ptr<Checker>> checkers_;
  std::optional<Failure> failure_;
};

}  // namespace ostraka::sim
