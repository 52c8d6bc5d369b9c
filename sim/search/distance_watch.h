// How near a run came to breaking something: numbers that guide a search, never verdicts.
//
// Memory: the distances, and the names in PROOFs by step.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "sim/premises/seal_watch.h"

namespace ostraka::sim {

// The largest values of a run.
struct Distances {
  double echo_skew = 0;                // time between honest ECHOs of a seal, in Delta
  double opening_skew = 0;             // time between honest openings of a seal, in Delta
  std::uint32_t iterations_apart = 0;  // difference between honest members in a seal's slow path
  std::size_t certified = 0;           // number of values with a quorum of ballots in one seal
  std::size_t voted = 0;               // number of values with a quorum of VOTEs
  std::size_t locked = 0;              // number of values that honest members locked
  double names = 0;    // members that name one honest member as silent, divided by the fault bound
  double seconds = 0;  // virtual time of a step
  std::size_t left_out = 0;  // honest ECHOs that show an honest member's entry as absent
};

class DistanceWatch final : public StepObserver {
 public:
  // REQUIRES: `watch` sees each step before this object does.
  DistanceWatch(const Roster& roster, const SealWatch* watch) : roster_(roster), watch_(watch) {}

  void OnStep(const StepRecord& record) override;

  const Distances& distances() const { return distances_; }
  // The situations that the run met, as short words: graded distances, and (seal, iterations and
  // ranks of the first and the last honest member, values certified). A run with a new word reached
  // a situation that no run before it reached.
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
