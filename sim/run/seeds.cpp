#include "sim/run/seeds.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"

namespace ostraka::sim {
namespace {

constexpr char kLiesBesideAnAttack[] = "liars beside another attack";

// A digest of one event with all its data.
base::Digest DigestOf(const StepRecord& record) {
  Trace trace;
  trace.OnStep(record);
  return trace.digest();
}

// Ends a run that nobody wants any more.
class Stopper : public StepObserver {
 public:
  explicit Stopper(const std::function<bool()>& stop) : stop_(stop) {}
  void OnStep(const StepRecord& /*record*/) override {}
  bool WantsStop() const override { return stop_ && stop_(); }

 private:
  const std::function<bool()>& stop_;
};

class Recorder final : public Stopper {
 public:
  using Stopper::Stopper;
  void OnStep(const StepRecord& record) override { digests_.push_back(DigestOf(record)); }
  const std::vector<base::Digest>& digests() const { return digests_; }

 private:
  std::vector<base::Digest> digests_;
};

class Comparer final : public Stopper {
 public:
  Comparer(const std::vector<base::Digest>& expected, const std::function<bool()>& stop)
      : Stopper(stop), expected_(expected) {}
  void OnStep(const StepRecord& record) override {
    if (!difference_.empty()) return;
    const std::size_t event = next_++;
    if (event < expected_.size() && DigestOf(record) == expected_[event]) return;
    difference_ =
        "event " + std::to_string(event) + " differs when the seed runs again: " + Describe(record);
  }
  bool WantsStop() const override { return !difference_.empty() || Stopper::WantsStop(); }
  // Empty if the runs are equal.
  std::string difference() const {
    if (difference_.empty() && next_ != expected_.size()) return "the second run ends earlier";
    return difference_;
  }

 private:
  const std::vector<base::Digest>& expected_;
  std::size_t next_ = 0;
  std::string difference_;
};

void Count(const FaultCounts& faults, std::map<std::string, std::uint64_t>& counts) {
  counts["kill"] += faults.kills;
  counts["start again"] += faults.starts_again;
  counts["disk lost"] += faults.disks_lost;
  counts["link cut"] += faults.link_cuts;
  counts["message lost"] += faults.messages_lost;
  if (faults.links_full > 0) counts["link closed full"] += faults.links_full;
  if (faults.carried_dropped > 0) counts["carried message dropped"] += faults.carried_dropped;
  counts["message twice"] += faults.messages_twice;
  counts["store stalled"] += faults.store_stalls;
}

bool IsIdDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string WithoutNumbers(const std::string& text) {
  constexpr std::size_t kIdDigits = 16;  // of Id32::Short
  std::string rule;
  for (std::size_t i = 0; i < text.size();) {
    const auto rest = text.begin() + static_cast<std::ptrdiff_t>(i);
    const auto id = static_cast<std::size_t>(std::find_if_not(rest, text.end(), IsIdDigit) - rest);
    const auto number =
        static_cast<std::size_t>(std::find_if_not(rest, text.end(), IsDigit) - rest);
    if (id >= kIdDigits) {
      rule += "PEER";
      i += id;
    } else if (number > 0) {
      rule += 'N';
      i += number;
    } else {
      rule += text[i++];
    }
  }
  return rule;
}

std::string RuleOf(const wire::Removal& removal) {
  return std::string(wire::RemovalKindName(removal.kind)) + ": " +
         WithoutNumbers(wire::TextOf(removal.reason));
}

void SeedsTally::Add(SimResult one, bool twice) {
  ++all_.seeds;
  all_.run_twice += twice ? 1 : 0;
  all_.steps += one.steps;
  all_.events += one.events;
  all_.batches += one.batches;
  all_.honest_late_ms = std::max(all_.honest_late_ms, one.honest_late_ms);
  all_.virtual_time = all_.virtual_time + one.virtual_time;
  const auto count = [&one](const base::PeerId& peer, ByTruth& of) {
    const auto among = [&peer](const std::vector<base::PeerId>& peers) {
      return std::find(peers.begin(), peers.end(), peer) != peers.end();
    };
    ++(among(one.peers.byzantine)    ? of.byzantine
       : among(one.peers.stragglers) ? of.stragglers
                                     : of.honest);
  };
  for (const wire::Removal& removal : one.removals) {
    count(removal.peer, wire::IsBan(removal.kind) ? all_.banned : all_.dropped);
  }
  for (const base::PeerId& peer : one.returned) count(peer, all_.returned);
  all_.slow_steps += one.slow_steps;
  all_.stood_still += one.stood_still ? 1 : 0;
  all_.loss_mean += (one.loss - all_.loss_mean) / static_cast<double>(all_.seeds);
  // A loss that is no number is the worst.
  if (!std::isnan(all_.loss_worst) && !(one.loss <= all_.loss_worst)) all_.loss_worst = one.loss;
  if (one.recovery &&
      (!all_.slowest_recovery || all_.slowest_recovery->took < one.recovery->took)) {
    all_.slowest_recovery = one.recovery;
  }
  if (one.detection_steps) detections_.push_back(*one.detection_steps);
  all_.trace_digest = crypto::Hasher(crypto::kDomainTrace)
                          .Update(all_.trace_digest)
                          .Update(one.trace_digest)
                          .Finish();
  Count(one.faults, all_.faults);
  if (!one.peers.byzantine.empty()) {
    ++all_.attack_runs[one.attack];
    all_.misdeeds[one.attack] += one.misdeeds;
  }
  if (one.lies > 0) {
    ++all_.attack_runs[kLiesBesideAnAttack];
    all_.misdeeds[kLiesBesideAnAttack] += one.lies;
  }
  for (const wire::Removal& removal : one.removals) {
    const std::string rule = RuleOf(removal);
    ++all_.rules[rule];
    if (std::binary_search(one.peers.byzantine.begin(), one.peers.byzantine.end(), removal.peer)) {
      ++all_.answers[one.attack][rule];
    }
  }
  if (!one.ok) all_.failures.push_back(std::move(one));
}

SeedsResult SeedsTally::Finish() && {
  all_.ok = all_.failures.empty();
  std::sort(detections_.begin(), detections_.end());
  for (const std::uint64_t steps : detections_) {
    all_.detection_mean += static_cast<double>(steps) / static_cast<double>(detections_.size());
  }
  if (!detections_.empty()) {
    const std::size_t rank = (detections_.size() * 95 + 99) / 100;  // nearest rank, from 1
    all_.detection_p95 = detections_[rank - 1];
  }
  return std::move(all_);
}

base::StatusOr<SimResult> RunSeed(const SimOptions& options, bool twice,
                                  const std::function<bool()>& stop) {
  Stopper stopper(stop);
  if (!twice) return RunSimulation(options, {}, &stopper);
  Recorder recorder(stop);
  ASSIGN_OR_RETURN(SimResult first, RunSimulation(options, {}, &recorder));
  Comparer comparer(recorder.digests(), stop);
  ASSIGN_OR_RETURN(const SimResult second, RunSimulation(options, {}, &comparer));
  std::string difference = comparer.difference();
  if (difference.empty() && first.trace_digest != second.trace_digest) {
    difference = "the second run ends with another digest";
  }
  if (first.ok && !difference.empty()) {
    first.ok = false;
    first.failure = Failure{"determinism", difference, {}, 0};
  }
  return first;
}

base::StatusOr<SeedsResult> RunSeeds(SimOptions options, std::uint64_t first, std::uint64_t last,
                                     const std::function<bool(const SimResult&)>& progress) {
  OSTRAKA_CHECK(first <= last);
  SeedsTally tally;
  for (std::uint64_t i = 0; i <= last - first; ++i) {
    options.seed = first + i;
    ASSIGN_OR_RETURN(SimResult one, RunSimulation(options));
    const bool go_on = !progress || progress(one);
    tally.Add(std::move(one));
    if (!go_on) break;
  }
  return std::move(tally).Finish();
}

}  // namespace ostraka::sim
