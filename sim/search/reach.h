// How near a run came to breaking something: figures that a search follows, and never verdicts.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "sim/premises/seal_watch.h"

namespace ostraka::sim {

// The largest of a run.
struct Distances {
  double echo_skew = 0;                // between honest ECHOs of a seal, in Delta
  double opening_skew = 0;             // between honest openings of a seal, in Delta
  std::uint32_t iterations_apart = 0;  // of honest members in a seal's slow path
  std::size_t certified = 0;           // values with a quorum of ballots in a seal
  std::size_t voted = 0;               // of VOTEs
  std::size_t locked = 0;              // values that honest members locked
  double names = 0;          // members who name one honest member as silent, / the fault bound
  double seconds = 0;        // of virtual time that a step took
  std::size_t left_out = 0;  // honest ECHOs that show an honest member's entry absent
};

class Reach final : public StepObserver {
 public:
  // `watch` has seen each step before this object does.
  Reach(const Roster& roster, const SealWatch* watch) : roster_(roster), watch_(watch) {}

  void OnStep(const StepRecord& record) override;

  const Distances& distances() const { return distances_; }
  // What was met, in words of a few letters: distances in steps, and (seal, iterations and ranks of
  // the first and the last honest member, values certified). A run with a word that is new has been
  // where no run was.
  std::set<std::string> Marks() const;

 private:
  void OnWord(const SealWatch::Said& said);
  void OnEcho(const SealWatch::Said& said);
  void OnProof(const SealWatch::Said& said);
  void OnObserved(const protocol::Action& action);
  void MarkPlace(const SealWatch::Said& said);

  Roster roster_;
  const SealWatch* watch_;
  std::uint64_t height_ = 0;
  base::Time height_at_;
  Distances distances_;
  std::map<std::uint64_t, std::map<base::PeerId, std::set<std::uint32_t>>> named_;  // by step
  std::set<std::string> places_;
};

}  // namespace ostraka::sim
