#include "sim/run/cluster.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "aggregation/kernels/rows.h"
#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/protocol/ground/known_run.h"
#include "node/protocol/ground/reach.h"
#include "node/protocol/member/peer.h"
#include "node/protocol/rules/invite_book.h"
#include "node/train/local_steps.h"
#include "sim/adversary/adversary.h"
#include "sim/attacks/registry.h"
#include "sim/attacks/results/other_work.h"
#include "sim/check/applied_checker.h"
#include "sim/check/arrival_checker.h"
#include "sim/check/checkers.h"
#include "sim/check/chronicle.h"
#include "sim/check/column_checkers.h"
#include "sim/check/departure_checker.h"
#include "sim/check/guest_checker.h"
#include "sim/check/lateness_checker.h"
#include "sim/check/look_checker.h"
#include "sim/check/order_checkers.h"
#include "sim/check/queue_checker.h"
#include "sim/check/recovery.h"
#include "sim/check/reroll_checker.h"
#include "sim/check/size_checker.h"
#include "sim/check/yardstick.h"
#include "sim/engine/counting_opener.h"
#include "sim/engine/memo_opener.h"
#include "sim/engine/memo_verifier.h"
#include "sim/engine/simulator.h"
#include "sim/premises/premise_checkers.h"
#include "sim/premises/stranger_checker.h"
#include "sim/setup/arrivals.h"
#include "sim/setup/departures.h"
#include "sim/setup/fault_plan.h"
#include "sim/setup/models.h"
#include "sim/setup/prompter.h"
#include "sim/setup/travels.h"
#include "sim/setup/turnover.h"
#include "sim/trainers/trainers.h"

namespace ostraka::sim {
namespace {

constexpr char kLiarsAttack[] = "lying_echo";

protocol::GradientFunction GradientsOf(train::Trainer& trainer) {
  return [&trainer](const protocol::GradientSpec& spec) -> base::StatusOr<std::vector<float>> {
    ASSIGN_OR_RETURN(train::Worked worked,
                     train::WorkOf(trainer, {*spec.parameters, spec.batch_seed, spec.batches,
                                             spec.local, spec.again}));
    return std::move(worked.values);
  };
}

protocol::GradientFunction OtherWorkOf(std::string_view attack, train::Trainer& trainer) {
  return [attack = std::string(attack),
          &trainer](const protocol::GradientSpec& spec) -> base::StatusOr<std::vector<float>> {
    ASSIGN_OR_RETURN(
        train::Worked worked,
        OtherWork(attack, trainer, {*spec.parameters, spec.batch_seed, spec.batches, spec.local}));
    return std::move(worked.values);
  };
}

// The block after which a machine of these options begins.
std::shared_ptr<const wire::Block> HeadOf(const protocol::PeerOptions& peer) {
  if (peer.anchor != nullptr) return peer.anchor;
  return std::make_shared<const wire::Block>(protocol::GenesisHead(*peer.manifest));
}

class LineSink final : public StepObserver {
 public:
  explicit LineSink(const TraceSink& sink) : sink_(sink) {}
  void OnStep(const StepRecord& record) override { sink_(Describe(record)); }

 private:
  const TraceSink& sink_;
};

Keys MakeKeys(const base::Rng& rng, std::uint32_t count,
              const std::shared_ptr<MemoVerifier>& memo) {
  Keys keys;
  for (std::uint32_t i = 0; i < count; ++i) {
    keys.push_back(std::make_shared<const NotedKey>(DrawKey(rng.Fork("key", i)), memo));
  }
  std::sort(keys.begin(), keys.end(),
            [](const auto& a, const auto& b) { return a->id() < b->id(); });
  return keys;
}

// Which members are Byzantine: a uniform choice, by partial Fisher-Yates.
// Of those that come the intruders and the forgers.
Roster DrawRoster(base::Rng rng, const Keys& keys, const SimOptions& options) {
  Roster roster;
  roster.genesis = options.peers;
  std::vector<std::uint32_t> order(options.peers);
  std::iota(order.begin(), order.end(), 0);
  for (const auto& key : keys) roster.ids.push_back(key->id());
  roster.byzantine.assign(keys.size(), false);
  for (std::uint32_t i = 0; i < options.byzantine; ++i) {
    std::swap(order[i], order[i + rng.Below(order.size() - i)]);
    roster.byzantine[order[i]] = true;
  }
  for (std::uint32_t i = 0; i < options.intruders + options.forgers; ++i) {
    roster.byzantine[options.peers + options.comes + i] = true;
  }
  return roster;
}

// Those of the genesis by key, and then those of the guests by key.
Keys AllKeys(const base::Rng& rng, const SimOptions& options,
             const std::shared_ptr<MemoVerifier>& memo) {
  Keys keys = MakeKeys(rng, options.peers, memo);
  const Keys guests = MakeKeys(rng.Fork("guests"), KeysIn(options) - options.peers, memo);
  keys.insert(keys.end(), guests.begin(), guests.end());
  return keys;
}

// Which members only dial: a uniform choice, as that of the Byzantine ones.
std::vector<bool> DrawDialers(base::Rng rng, const SimOptions& options) {
  std::vector<bool> dialers(KeysIn(options), false);
  std::vector<std::uint32_t> order(options.peers);
  std::iota(order.begin(), order.end(), 0);
  for (std::uint32_t i = 0; i < options.nat; ++i) {
    std::swap(order[i], order[i + rng.Below(order.size() - i)]);
    dialers[order[i]] = true;
  }
  return dialers;
}

std::shared_ptr<const protocol::Manifest> MakeManifest(const SimOptions& options,
                                                       const protocol::TrainingPlan& plan,
                                                       const Roster& roster,
                                                       const std::vector<bool>& dialers,
                                                       const Gatehouse& gatehouse) {
  auto manifest = std::make_shared<protocol::Manifest>();
  manifest->run_id = crypto::Hash(crypto::kDomainManifest, base::AsBytes(FormatOptions(options)));
  manifest->name = "simulation";
  manifest->mode = options.mode;
  for (std::size_t i = 0; i < options.peers; ++i) {
    manifest->members.push_back({.id = roster.ids[i], .address = "", .only_dials = dialers[i]});
  }
  manifest->join = gatehouse.Plan();
  if (IsOpen(*manifest)) manifest->join.seats = KeysIn(options);
  manifest->training = plan;
  manifest->codecs = options.codecs;
  manifest->tau = options.tau;
  manifest->tau_initial = protocol::FirstTau(options.codecs);
  manifest->validators = options.validators;
  manifest->alarm_validators = options.alarm_validators;
  if (options.waits.delta.ns > 0) manifest->delta = options.waits.delta;
  manifest->adaptive = options.waits.part_floor.ns > 0;
  if (manifest->adaptive) manifest->part_floor = options.waits.part_floor;
  // The slowest machine is in time with the least.
  manifest->work = {options.waits.gradient_time.ns / 4 * 5 * options.batches};
  if (BatchesVary(plan)) manifest->patience = std::max(manifest->patience, manifest->work);
  if (options.waits.fastest_percent == 0) {
    manifest->patience = manifest->patience + options.waits.gradient_time * 2;
  }
  if (options.exact) {
    manifest->compute_profile = protocol::kExact;
    manifest->eps_g = 0;
  }
  return manifest;
}

SimulatorOptions MakeSimulatorOptions(const SimOptions& options) {
  SimulatorOptions simulator;
  simulator.seed = options.seed;
  simulator.network.distance = {options.delay_min, options.delay_max - options.delay_min};
  simulator.network.jitter = options.jitter;
  simulator.network.bytes_per_second = options.bytes_per_second;
  simulator.network.line_bytes_per_second = options.line_bytes_per_second;
  simulator.network.uplink_bytes_per_second = options.uplink_bytes_per_second;
  simulator.network.loss_permille = options.loss_permille;
  simulator.duplicate_permille = options.duplicate_permille;
  simulator.stall_permille = options.stall_permille;
  simulator.skew = options.skew;
  simulator.drift_ppm = options.drift_ppm;
  simulator.fsync = {base::Duration{options.fsync_max.ns / 8},
                     base::Duration{options.fsync_max.ns - options.fsync_max.ns / 8}};
  simulator.jobs.gradient = simulator.jobs.gradient + options.waits.gradient_time;
  return simulator;
}

// The machine of each key: how long its gradients take, and a second pass.
std::vector<JobTimes> DrawMachines(base::Rng rng, const SimOptions& options, const Roster& roster,
                                   const JobTimes& slowest) {
  const std::int64_t fastest = options.waits.fastest_percent;
  if (fastest == 0 && options.waits.stragglers == 0) return {};
  std::vector<JobTimes> machines(roster.ids.size(), slowest);
  for (JobTimes& machine : machines) {
    const std::int64_t percent = rng.Between(fastest == 0 ? 100 : fastest, 100);
    machine.gradient.ns = machine.gradient.ns / 100 * percent;
    machine.again_percent = rng.Between(std::min(100U, options.waits.again_percent),
                                        std::max(100U, options.waits.again_percent));
    machine.micro_batches = std::int64_t{1} << rng.Below(4);
  }
  std::uint32_t slow = std::max(1U, options.waits.slowest);
  for (std::size_t peer = 0; peer < machines.size(); ++peer) {
    if (slow > 0 && !roster.byzantine[peer]) {
      --slow;
      machines[peer].gradient = slowest.gradient;
    } else if (options.waits.slowest > 0) {
      machines[peer].gradient.ns = slowest.gradient.ns / 100 * fastest;
    }
  }
  for (const std::uint32_t peer : StragglersOf(options, roster)) {
    machines[peer].gradient = options.waits.straggler_time;
  }
  return machines;
}

// As node/host has it of `--bandwidth`.
std::uint64_t GuestBytesOf(const SimOptions& options) {
  return options.uplink_bytes_per_second / protocol::kGuestsOneIn;
}

// Gives an absent adversary its machine; its attack starts it only once.
std::function<std::unique_ptr<protocol::Machine>()> OnlyOnce(
    std::unique_ptr<protocol::Machine> machine) {
  const auto held = std::make_shared<std::unique_ptr<protocol::Machine>>(std::move(machine));
  return [held] {
    OSTRAKA_CHECK(*held != nullptr);
    return std::move(*held);
  };
}

// Owns all objects of one run.
class Cluster {
 public:
  static base::StatusOr<std::unique_ptr<Cluster>> Make(const SimOptions& options,
                                                       const Training& training);
  SimResult Run(const TraceSink& trace, StepObserver* observer);

 private:
  Cluster(const SimOptions& options, const Training& training);
  base::StatusOr<std::vector<Simulator::Member>> MakeMembers(const std::vector<float>& initial);
  AdversaryOptions AdversaryAt(std::uint32_t peer) const;
  bool Cheats(std::uint32_t peer) const;
  void AddWishes(Prompter& prompter) const;
  std::function<std::unique_ptr<protocol::Machine>()> ReturningAdversary(
      std::uint32_t index, protocol::PeerOptions peer) const;
  void AddCheckers(Simulator& simulator);
  void AddPremises(Simulator& simulator);
  void AddRemovalChecker();
  void Summarise(const Simulator& simulator, SimResult& result);
  Rest RestOf(const SimResult& result) const;
  void HoldAgainstYardstick(const Simulator& simulator, SimResult& result);

  SimOptions options_;
  base::Rng rng_;
  Training training_;
  struct Frames {
    std::shared_ptr<wire::Opener> opener;
    std::shared_ptr<std::vector<std::uint64_t>> opened;  // by each honest peer's machine
    std::shared_ptr<MemoVerifier> verifier;
  };
  Frames frames_;
  Keys keys_;
  Roster roster_;
  FaultPlan faults_;
  std::vector<bool> dialers_;  // by index: it only dials
  struct Guests {
    Gatehouse gatehouse;
    std::shared_ptr<Turnover> turnover = nullptr;  // null: none
    std::shared_ptr<Travels> travels = nullptr;    // of the attackers; null: none
  };
  Guests guests_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  std::shared_ptr<Coven> coven_;
  // The coven of the liars. Their confessions are separate, since no rule removes them for a lying
  // ECHO.
  std::shared_ptr<Coven> liars_;
  aggregation::SerialExecutor executor_;
  JobMemo jobs_;
  CheckerSet checkers_;
  Chronicle chronicle_;
  std::unique_ptr<SealWatch> watch_;    // null: premises are not checked
  Progress* progress_ = nullptr;        // owned by checkers_
  const Recovery* recovery_ = nullptr;  // owned by checkers_; null without faults
  std::vector<Simulator::Member> members_;
};

Cluster::Cluster(const SimOptions& options, const Training& training)
    : options_(options),
      rng_(base::Rng(options.seed).Fork("cluster")),
      training_(training),
      frames_{std::make_shared<MemoOpener>(),
              std::make_shared<std::vector<std::uint64_t>>(KeysIn(options), 0),
              std::make_shared<MemoVerifier>()},
      keys_(AllKeys(rng_, options, frames_.verifier)),
      roster_(DrawRoster(rng_.Fork("byzantine"), keys_, options)),
      faults_(DrawFaults(rng_.Fork("faults"), options, roster_)),
      dialers_(DrawDialers(rng_.Fork("nat"), options)),
      guests_{Gatehouse(rng_.Fork("gatehouse"), options,
                        Keys(keys_.begin() + options.peers, keys_.end()))},
      manifest_(MakeManifest(options, training.plan, roster_, dialers_, guests_.gatehouse)),
      jobs_(
          [this](const protocol::JobSpec& spec, const protocol::GradientFunction& gradients) {
            return protocol::RunJob(spec, gradients, executor_);
          },
          GradientsOf(*training_.trainer),
          {.gradients = std::size_t{4} * KeysIn(options), .others = 8}),
      checkers_(WithUnlucky(roster_, options, faults_)),
      chronicle_(roster_, options.batches, training.on_block) {
  roster_ = checkers_.roster();
  if (options.turnover > 0) {
    std::vector<std::uint32_t> guests(options.turnover);
    std::iota(guests.begin(), guests.end(), KeysIn(options) - options.turnover);
    guests_.turnover = std::make_shared<Turnover>(roster_, std::move(guests));
  }
  if (ComesAndGoes(options.attack) && !options.unprotected) {
    guests_.travels = std::make_shared<Travels>(rng_.Fork("travels"), options, roster_);
  }
  std::vector<base::PeerId> colluders;
  for (std::uint32_t i = 0; i < roster_.ids.size(); ++i) {
    if (roster_.byzantine[i]) colluders.push_back(roster_.ids[i]);
  }
  const std::uint64_t coven_seed = rng_.Fork("coven").Next();
  liars_ = std::make_shared<Coven>(colluders, coven_seed);
  coven_ = std::make_shared<Coven>(std::move(colluders), coven_seed);
}

base::StatusOr<std::unique_ptr<Cluster>> Cluster::Make(const SimOptions& options,
                                                       const Training& training) {
  std::unique_ptr<Cluster> cluster(new Cluster(options, training));
  RETURN_IF_ERROR(protocol::Validate(*cluster->manifest_));
  std::vector<float> initial = training.initial;
  if (initial.empty()) {
    initial = training.trainer->InitialParameters(cluster->manifest_->run_id);
  }
  ASSIGN_OR_RETURN(cluster->members_, cluster->MakeMembers(initial));
  return cluster;
}

// The liars are the first Byzantine peers by key.
AdversaryOptions Cluster::AdversaryAt(std::uint32_t peer) const {
  const auto before = std::count(roster_.byzantine.begin(), roster_.byzantine.begin() + peer, true);
  const bool lies = static_cast<std::uint32_t>(before) < options_.liars;
  return {lies ? kLiarsAttack : options_.attack,
          lies ? AttackParams{} : options_.attack_params,
          options_.attack_from_step,
          manifest_,
          keys_[peer],
          training_.trainer->layout(),
          lies ? liars_ : coven_};
}

// Each time a new process of an attacker that comes and goes. ComesAndGoes' need no second machine.
std::function<std::unique_ptr<protocol::Machine>()> Cluster::ReturningAdversary(
    std::uint32_t index, protocol::PeerOptions peer) const {
  return [adversary = AdversaryAt(index), peer = std::move(peer)]() mutable {
    adversary.routed_from = HeadOf(peer);
    auto machine = MakeAdversary(adversary, protocol::MakePeer(peer));
    OSTRAKA_CHECK(machine.ok());  // CheckOptions
    return *std::move(machine);
  };
}

bool Cluster::Cheats(std::uint32_t peer) const {
  return roster_.byzantine[peer] && peer < options_.peers + options_.comes + options_.intruders;
}

void Cluster::AddWishes(Prompter& prompter) const {
  std::vector<wire::Revocation> held;
  std::vector<wire::Revocation> forged;
  if (protocol::IsOpen(*manifest_)) {
    held = guests_.gatehouse.Revocations(manifest_->run_id);
    forged = guests_.gatehouse.ForgedRevocations(manifest_->run_id);
  }
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    if (const auto leaves = faults_.departures.find(i); leaves != faults_.departures.end()) {
      const auto leave = LeavingFrom(leaves->second, roster_.IsHonest(i));
      prompter.Add(i, [leave](auto, const auto*, protocol::Told& told) { told.leave = leave; });
    }
    if (guests_.travels != nullptr && Cheats(i)) {
      prompter.Add(i, [this, i](std::uint64_t step, const auto*, protocol::Told& told) {
        if (guests_.travels->MustLeave(i, step)) told.leave = {step, step + 1};
      });
    }
    if (guests_.turnover != nullptr && roster_.IsHonest(i)) {
      prompter.Add(i, [this, i](auto, const auto*, protocol::Told& told) {
        if (guests_.turnover->MustLeave(i)) told.leave.emplace();
      });
    }
    if (Cheats(i) && FlipsReach(AdversaryAt(i).name)) {
      prompter.Add(i, [this, i](auto, const wire::Block* head, protocol::Told& told) {
        told.only_dials =
            head == nullptr ? !dialers_[i] : !protocol::OnlyDials(*head, keys_[i]->id());
      });
    }
    // Honest members pass on what the moderators revoked; attackers what they forge, in turn.
    if (!forged.empty() && Cheats(i)) {
      prompter.Add(i, [forged](std::uint64_t step, const auto*, protocol::Told& told) {
        told.revocations = {forged[step % forged.size()]};
      });
    } else if (!held.empty()) {
      prompter.Add(i, [held](std::uint64_t step, const auto*, protocol::Told& told) {
        if (step == 0) told.revocations = held;
      });
    }
  }
}

base::StatusOr<std::vector<Simulator::Member>> Cluster::MakeMembers(
    const std::vector<float>& values) {
  const auto initial = std::make_shared<const std::vector<float>>(values);
  std::vector<Simulator::Member> members;
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    protocol::PeerOptions peer{manifest_, keys_[i], frames_.verifier, training_.trainer->layout(),
                               initial,   {},       frames_.opener};
    peer.guest_bytes_a_second = GuestBytesOf(options_);
    const bool comes = roster_.Comes(i);
    const bool cheats = Cheats(i);
    if (!roster_.byzantine[i])
      peer.opener = std::make_shared<CountingOpener>(frames_.opener, &(*frames_.opened)[i]);
    if (comes)
      peer.credential = guests_.gatehouse.CredentialOf(manifest_->run_id, i - options_.peers);
    peer.routes = !cheats;
    const bool takes_turn = i >= KeysIn(options_) - options_.turnover;
    const auto make = [peer, turnover = takes_turn ? guests_.turnover : nullptr,
                       plain = options_.unprotected] {
      protocol::PeerOptions of_now = peer;
      if (turnover != nullptr) of_now.anchor = turnover->head();
      return plain ? protocol::MakePlainPeer(of_now) : protocol::MakePeer(of_now);
    };
    Simulator::Member& member = members.emplace_back();
    member.id = keys_[i]->id();
    if (!takes_turn) member.machine = make();
    member.only_dials = dialers_[i];
    member.absent = comes;
    member.guest = comes;
    if (!cheats) member.remake = make;
    if (cheats) {
      AdversaryOptions adversary = AdversaryAt(i);
      adversary.another = make;
      if (!options_.unprotected) adversary.routed_from = HeadOf(peer);
      if (training_.attackers != nullptr) {
        adversary.other_work = OtherWorkOf(options_.attack, *training_.attackers);
      }
      ASSIGN_OR_RETURN(member.machine,
                       MakeAdversary(std::move(adversary), std::move(member.machine)));
      member.after_end = machine::AfterEnd::kFree;
    }
    if (comes && cheats) member.remake = OnlyOnce(std::move(member.machine));
    if (guests_.travels != nullptr && cheats) member.remake = ReturningAdversary(i, peer);
  }
  return members;
}

void Cluster::AddCheckers(Simulator& simulator) {
  // Some checkers also read inputs, stores, results of jobs and messages of adversaries. They see
  // each step before the set calls their OnAction.
  const auto add_observing = [&](auto checker) {
    simulator.AddObserver(checker.get());
    checkers_.Add(std::move(checker));
  };
  if (!options_.unprotected) {
    checkers_.Add(std::make_unique<HonestNeverRemoved>(roster_));
    checkers_.Add(std::make_unique<HonestNeverSuspected>(roster_));
    add_observing(std::make_unique<NoSelfEquivocation>(roster_, frames_.opener));
    add_observing(std::make_unique<WriteAhead>(roster_, frames_.opener));
    checkers_.Add(std::make_unique<Agreement>(roster_));
    checkers_.Add(std::make_unique<BansKept>(roster_));
    checkers_.Add(std::make_unique<DepartureChecker>(roster_, frames_.opener));
    checkers_.Add(
        std::make_unique<RerollChecker>(roster_, base::ElementCount(training_.trainer->layout())));
    checkers_.Add(std::make_unique<ArrivalChecker>(roster_, guests_.gatehouse.Entitlements(),
                                                   protocol::SeatsIn(*manifest_),
                                                   IsTimely(options_)));
    add_observing(std::make_unique<RebornRejoins>(roster_, frames_.opener));
    checkers_.Add(std::make_unique<PhaseOrder>(roster_, frames_.opener));
    checkers_.Add(std::make_unique<DrawOrder>(roster_));
    checkers_.Add(std::make_unique<GuiltSpreads>(roster_));
    checkers_.Add(std::make_unique<StrangerChecker>(roster_, protocol::KnownRunOf(*manifest_)));
    add_observing(std::make_unique<Aggregation>(roster_));
    add_observing(std::make_unique<Columns>(roster_, manifest_, frames_.opener));
    add_observing(
        std::make_unique<Applied>(roster_, manifest_, training_.trainer->layout(), frames_.opener));
    add_observing(std::make_unique<Sizes>(roster_, manifest_, frames_.opener));
    add_observing(std::make_unique<Looks>(roster_, frames_.opened));
    add_observing(std::make_unique<GuestAnswers>(
        roster_,
        GuestBoundsOf(base::ElementCount(training_.trainer->layout()), GuestBytesOf(options_)),
        guests_.gatehouse.EndsOfInvites(), frames_.opener));
    add_observing(std::make_unique<Queues>(
        roster_,
        BoundsOf(KeysIn(options_), base::ElementCount(training_.trainer->layout()), faults_.hold,
                 manifest_->delta, options_.nat),
        frames_.opener));
    if (!faults_.over) checkers_.Add(std::make_unique<HonestNeverLate>(roster_));
    if (faults_.over) {
      auto recovery = std::make_unique<Recovery>(roster_, *faults_.over, *manifest_);
      recovery_ = recovery.get();
      add_observing(std::move(recovery));  // it reads the clock
    }
    if (options_.premises && IsTimely(options_)) AddPremises(simulator);
  }
  checkers_.Add(std::make_unique<StateEquality>(roster_));
  auto progress = std::make_unique<Progress>(roster_, recovery_);
  progress_ = progress.get();
  checkers_.Add(std::move(progress));
  AddRemovalChecker();
  simulator.AddObserver(&checkers_);
  simulator.AddObserver(&chronicle_);
}

void Cluster::AddPremises(Simulator& simulator) {
  watch_ = std::make_unique<SealWatch>(roster_, GenesisView(options_, roster_), frames_.opener);
  simulator.AddObserver(watch_.get());
  const base::Duration parts = manifest_->part_timeout;
  checkers_.Add(std::make_unique<EchoSkew>(roster_, watch_.get()));
  checkers_.Add(std::make_unique<OpeningSkew>(roster_, watch_.get(), parts));
  checkers_.Add(
      std::make_unique<BeginsTogether>(roster_, watch_.get(), parts * 2 + manifest_->delta * 2));
  checkers_.Add(std::make_unique<LockKnown>(roster_, watch_.get()));
  checkers_.Add(std::make_unique<Certificates>(roster_, watch_.get()));
  checkers_.Add(std::make_unique<HonestNames>(roster_, watch_.get()));
}

void Cluster::AddRemovalChecker() {
  const auto attack = FindAttack(options_.attack);
  OSTRAKA_CHECK(attack.ok());  // CheckOptions
  const auto outcome = OutcomeOf(*attack, options_.attack_params);
  if (options_.unprotected || !options_.await_removal ||
      outcome == KnownAttack::Outcome::kContained) {
    return;
  }
  const bool in_time = outcome == KnownAttack::Outcome::kRemovedInTime;
  checkers_.Add(std::make_unique<CheatersRemoved>(roster_, coven_, in_time));
}

SimResult Cluster::Run(const TraceSink& trace, StepObserver* observer) {
  SimulatorOptions simulated = MakeSimulatorOptions(options_);
  simulated.machines = DrawMachines(rng_.Fork("machines"), options_, roster_, simulated.jobs);
  Simulator simulator(simulated, std::move(members_), &jobs_);
  AddCheckers(simulator);
  ScheduleFaults(faults_, options_, rng_, simulator);
  for (std::uint32_t i = options_.peers; i < KeysIn(options_) - options_.turnover; ++i) {
    if (guests_.travels != nullptr && guests_.travels->Starts(i)) continue;
    simulator.ScheduleRestart(guests_.gatehouse.starts()[i - options_.peers], i);
  }
  Prompter prompter(&simulator);
  if (!options_.unprotected) AddWishes(prompter);
  simulator.AddObserver(&prompter);
  Homecoming homecoming(roster_, options_.leave_for, &simulator);
  if (guests_.turnover == nullptr) simulator.AddObserver(&homecoming);
  if (guests_.travels != nullptr) {
    guests_.travels->Watch(&simulator);
    simulator.AddObserver(guests_.travels.get());
  }
  if (guests_.turnover != nullptr) {
    guests_.turnover->Watch(&simulator);
    simulator.AddObserver(guests_.turnover.get());
  }
  LineSink lines(trace);
  if (trace) simulator.AddObserver(&lines);
  if (observer != nullptr) simulator.AddObserver(observer);

  const base::Duration limit =
      options_.time_limit.ns > 0
          ? options_.time_limit
          : base::Seconds(120) + base::Seconds(60) * static_cast<std::int64_t>(options_.steps);
  simulator.Run({.until = base::Time{} + limit, .finished = [this, observer] {
                   return progress_->AllFinished() || checkers_.failure().has_value() ||
                          (observer != nullptr && observer->WantsStop());
                 }});
  checkers_.Finish(simulator.now());

  SimResult result;
  Summarise(simulator, result);
  return result;
}

void Cluster::Summarise(const Simulator& simulator, SimResult& result) {
  result.failure = checkers_.failure();
  result.ok = !result.failure;
  result.replay = FormatOptions(options_);
  result.attack = options_.attack;
  result.peers.byzantine = coven_->members();
  result.removals = chronicle_.removals();
  result.columns = chronicle_.columns();
  result.batches = chronicle_.batches();
  result.honest_late_ms = chronicle_.honest_late_ms();
  result.suspicions = chronicle_.suspicions();
  result.returned = chronicle_.returned();
  for (const std::uint32_t peer : StragglersOf(options_, roster_)) {
    result.peers.stragglers.push_back(roster_.ids[peer]);
  }
  result.slow_iterations = chronicle_.slow_iterations();
  result.slow_steps = chronicle_.slow_steps();
  result.stood_still = result.ok && !progress_->AllFinished();
  result.faults = simulator.faults();
  for (const auto& [peer, deeds] : coven_->deeds()) result.misdeeds += deeds.count;
  for (const auto& [peer, deeds] : liars_->deeds()) result.lies += deeds.count;
  result.steps = chronicle_.steps();
  result.events = simulator.events();
  result.bytes_sent = simulator.bytes_sent();
  result.virtual_time = simulator.now() - base::Time{};
  result.trace_digest = simulator.trace_digest();
  if (recovery_ && recovery_->took()) {
    result.recovery = RecoveryTime{*recovery_->took(), recovery_->bound()};
  }

  std::uint64_t first_misdeed = UINT64_MAX;
  std::uint64_t last_removal = 0;
  std::set<base::PeerId> at_large;
  for (const auto& [peer, deeds] : coven_->deeds()) {
    first_misdeed = std::min(first_misdeed, deeds.first_step);
    at_large.insert(peer);
  }
  for (const wire::Removal& removal : result.removals) {
    if (coven_->Contains(removal.peer)) {
      ++result.byzantine_removed;
    } else {
      ++result.honest_removed;
    }
    if (at_large.erase(removal.peer) > 0) last_removal = std::max(last_removal, removal.step);
  }
  if (!coven_->deeds().empty() && at_large.empty()) {
    // A cut may have cost them their places before they did anything.
    result.detection_steps = std::max(last_removal, first_misdeed) - first_misdeed;
  }
  if (training_.measure && chronicle_.parameters()) {
    const auto evaluation = training_.trainer->Evaluate(*chronicle_.parameters());
    if (evaluation.ok()) result.loss = evaluation->loss;
    HoldAgainstYardstick(simulator, result);
  }
}

// The steps that an attack on gradients or columns may cost: those in which its removed authors
// were members, and all steps from the first misdeed on if one of them still is. None, if the
// attack is only contained and no member is removed for it.
Rest Cluster::RestOf(const SimResult& result) const {
  const auto attack = FindAttack(options_.attack);
  OSTRAKA_CHECK(attack.ok());  // CheckOptions
  const bool contained =
      OutcomeOf(*attack, options_.attack_params) == KnownAttack::Outcome::kContained;
  const bool all_gone = result.detection_steps.has_value();
  if (coven_->deeds().empty() || (contained && !all_gone)) return {};
  Rest rest{UINT64_MAX, manifest_->training.steps};
  for (const auto& [peer, deeds] : coven_->deeds()) {
    rest.begin = std::min(rest.begin, deeds.first_step);
  }
  if (!all_gone) return rest;
  // An attacker that returned may have attacked again, so its last removal counts.
  for (const wire::Removal& removal : result.removals) {
    if (coven_->Contains(removal.peer)) rest.end = std::max(rest.begin, removal.step) + 1;
  }
  return rest;
}

// For runs that reached their end. Nobody is removed from an unprotected run, so its reference
// never rests: such a run is to show whether an attack ruins the model.
void Cluster::HoldAgainstYardstick(const Simulator& simulator, SimResult& result) {
  if (!result.ok || !progress_->AllFinished()) return;
  // Colluders may void most columns, or leave too few owners (docs/decisions/0024, ReachWarning):
  // nothing is promised of the loss then.
  const std::uint32_t faults = FaultsBorne(options_);
  const std::uint32_t enough = std::max(2 * faults + 1, faults + 3);
  if (options_.nat > 0 && options_.peers - options_.nat < enough) return;
  // A validator sends no row.
  const std::uint32_t honest = options_.peers - options_.byzantine;
  const std::uint32_t rows = honest > options_.validators ? honest - options_.validators : 1;
  const auto yardstick =
      MeasureYardstick(*training_.trainer, manifest_->training,
                       training_.trainer->InitialParameters(manifest_->run_id), rows,
                       manifest_->run_id, options_.unprotected ? Rest{} : RestOf(result));
  if (!yardstick.ok()) return;
  const base::Status status = JudgeLoss(result.loss, *yardstick, *training_.measure);
  if (status.ok()) return;
  result.ok = false;
  result.failure = Failure{"loss", base::MessageOf(status), simulator.now(), simulator.events()};
}

}  // namespace

base::StatusOr<SimResult> RunSimulation(const SimOptions& options, const TraceSink& trace,
                                        StepObserver* observer) {
  RETURN_IF_ERROR(CheckOptions(options));
  RETURN_IF_ERROR(crypto::Initialize());
  ASSIGN_OR_RETURN(const auto trainer, TrainerOf(options));
  ASSIGN_OR_RETURN(const auto attackers, AttackersTrainerOf(options));
  Training training;
  training.trainer = trainer.get();
  training.attackers = attackers.get();
  ASSIGN_OR_RETURN(training.plan, PlanOf(options));
  training.measure = options.model == kToyModel ? LossMeasure::kWhole : LossMeasure::kGain;
  ASSIGN_OR_RETURN(const auto cluster, Cluster::Make(options, training));
  return cluster->Run(trace, observer);
}

base::StatusOr<SimResult> RunTraining(const SimOptions& options, const Training& training) {
  SimOptions complete = options;
  complete.steps = training.plan.steps;
  complete.dimension = training.initial.size();
  complete.batch_size = training.plan.batch_size;
  complete.learning_rate = training.plan.learning_rate;
  RETURN_IF_ERROR(CheckOptions(complete));
  RETURN_IF_ERROR(crypto::Initialize());
  ASSIGN_OR_RETURN(const auto cluster, Cluster::Make(complete, training));
  return cluster->Run({}, nullptr);
}

base::StatusOr<Roster> RosterOf(const SimOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  RETURN_IF_ERROR(crypto::Initialize());
  const base::Rng rng = base::Rng(options.seed).Fork("cluster");
  return DrawRoster(rng.Fork("byzantine"), AllKeys(rng, options, std::make_shared<MemoVerifier>()),
                    options);
}

}  // namespace ostraka::sim
