#include "sim/dht/run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "node/base/check.h"
#include "sim/dht/adversary.h"

namespace ostraka::sim::dhtsim {
namespace {

constexpr std::uint32_t kBootstraps = 3;
constexpr std::uint16_t kPort = 7000;
constexpr std::uint32_t kIdsAPrefix = 8;
// Ids of questions: those below are of a node's first announcement.
constexpr std::uint64_t kWriteBase = 500'000;
constexpr std::uint64_t kReadBase = 1'000'000;

// An adversary that no node plays would make a report about nothing.
base::Status CheckAdversary(const DhtOptions& options) {
  const bool grinder = options.adversary == "grinder";
  if (options.adversary.empty()) {
    if (options.adversary_percent > 0 || options.prefixes > 0) {
      return base::InvalidArgument("a share or prefixes need an adversary");
    }
    return base::OkStatus();
  }
  RETURN_IF_ERROR(
      MakeAdversary(options.adversary, std::make_shared<Coven>(), base::Rng(0)).status());
  if (grinder != (options.prefixes > 0)) {
    return base::InvalidArgument("the adversary grinder needs prefixes, and no other takes them");
  }
  if (!grinder && options.adversary_percent == 0) {
    return base::InvalidArgument("the adversary " + options.adversary +
                                 " needs a share of the nodes");
  }
  return base::OkStatus();
}

base::Status Validate(const DhtOptions& options) {
  if (options.nodes < kBootstraps || options.nodes > 20'000) {
    return base::InvalidArgument("nodes must be 3 to 20000");
  }
  const std::uint32_t percents[] = {options.churn_percent, options.nat_percent,
                                    options.dead_percent, options.adversary_percent};
  for (const std::uint32_t percent : percents) {
    if (percent > 95) return base::InvalidArgument("a percentage must be 0 to 95");
  }
  if (options.loss_permille > 900) return base::InvalidArgument("loss must be 0 to 900");
  if (options.prefixes > 250) return base::InvalidArgument("prefixes must be 0 to 250");
  if (options.burst > 20'000 || options.gets > 100'000 || options.minutes > 600) {
    return base::InvalidArgument("burst, gets or minutes is too large");
  }
  return CheckAdversary(options);
}

class Run final : public SwarmObserver {
 public:
  explicit Run(const DhtOptions& options)
      : options_(options),
        rng_(options.seed),
        swarm_(options.seed, UdpOptions{.loss_permille = options.loss_permille}),
        checks_(&swarm_),
        coven_(std::make_shared<Coven>()) {
    swarm_.Observe(this);
    swarm_.OnSecond([this](base::Time now) { OnSecond(now); });
  }

  base::StatusOr<DhtResult> Play() {
    PrepareCoven();
    RETURN_IF_ERROR(Populate());
    const base::Time joined = base::Time{} + base::Seconds(options_.join_seconds);
    const base::Time middle = joined + base::Seconds(60 * options_.minutes / 2);
    const base::Time end = joined + base::Seconds(60 * options_.minutes);
    swarm_.RunUntil(joined);
    for (std::uint32_t i = 0; i < options_.burst; ++i) {
      AddHonest(swarm_.now() + base::Milliseconds(rng_.Between(0, 60'000)));
    }
    swarm_.RunUntil(middle);
    if (options_.partition_seconds > 0) {
      swarm_.SetPartition(true);
      swarm_.RunUntil(swarm_.now() + base::Seconds(options_.partition_seconds));
      swarm_.SetPartition(false);
    }
    swarm_.RunUntil(std::max(swarm_.now(), end));
    const SwarmTotals before = swarm_.totals();
    const double seconds = static_cast<double>(swarm_.now().ns) * 1e-9;
    result_.bytes_per_second =
        static_cast<double>(before.bytes) / seconds / static_cast<double>(options_.nodes);
    churn_ = false;
    KillShare();
    Question();
    Finish();
    return result_;
  }

  void OnAction(base::Time now, std::uint32_t peer, const Cause& cause,
                const machine::ActionOf<dht::DhtKind>& action) override {
    checks_.OnAction(now, peer, cause, action);
    if (const auto* answered = std::get_if<dht::Answered>(&action)) OnAnswered(now, *answered);
    if (const auto* send = std::get_if<machine::SendDatagram<Endpoint>>(&action)) {
      if (!swarm_.PeerAt(send->to)) result_.bystander_bytes += send->bytes->size();
    }
  }

 private:
  struct Reading {
    std::uint32_t writer = 0;
    base::PeerId peer;
    std::uint64_t least_seq = 0;
    base::Time asked;
  };

  // --- who is there -----------------------------------------------------------------------------

  // Hosts lie in a random /24 out of four times as many as there are nodes.
  Endpoint DrawEndpoint() {
    while (true) {
      const auto prefix =
          static_cast<std::uint32_t>(rng_.Below(std::max<std::uint64_t>(4 * options_.nodes, 256)));
      const auto host = static_cast<std::uint32_t>(1 + rng_.Below(250));
      const std::uint32_t address = (std::uint32_t{20} << 24) + (prefix << 8) + host;
      if (taken_.insert(address).second) return Endpoint::V4(address, kPort);
    }
  }

  void AddHonest(base::Time at) {
    const bool behind_nat = rng_.Chance(options_.nat_percent, 100);
    Swarm::PeerOptions peer;
    peer.endpoint = DrawEndpoint();
    peer.behind_nat = behind_nat;
    if (options_.serve_at_once) peer.role = behind_nat ? dht::Role::kClient : dht::Role::kServer;
    const std::uint32_t number = swarm_.Add(at, std::move(peer), bootstraps_);
    honest_.push_back(number);
    Publish(number, number);
  }

  base::Status AddAdversary(base::Time at, const Endpoint& endpoint,
                            std::shared_ptr<const crypto::SigningKey> key) {
    ASSIGN_OR_RETURN(auto adversary, MakeAdversary(options_.adversary, coven_,
                                                   rng_.Fork("adversary", swarm_.size())));
    Swarm::PeerOptions peer;
    peer.endpoint = endpoint;
    peer.role = dht::Role::kServer;
    peer.key = std::move(key);
    peer.adversary = std::move(adversary);
    const std::uint32_t number = swarm_.Add(at, std::move(peer), bootstraps_);
    coven_->members.push_back(
        dht::Located(swarm_.network(), {swarm_.id(number), swarm_.endpoint(number)}));
    return base::OkStatus();
  }

  void PrepareCoven() {
    coven_->network = swarm_.network();
    for (std::uint8_t& byte : coven_->run_id.bytes) {
      byte = static_cast<std::uint8_t>(rng_.Below(256));
    }
    for (std::uint32_t i = 0; i < 64; ++i) {
      coven_->bystanders.push_back(Endpoint::V4((std::uint32_t{90} << 24) + (i << 8) + 1, kPort));
    }
    if (options_.adversary != "store_flood" && options_.adversary != "spoof") return;
    base::Rng keys = rng_.Fork("puppets");
    for (std::uint32_t i = 0; i < 200; ++i) coven_->sock_puppets.push_back(DrawKey(keys));
  }

  static std::shared_ptr<const crypto::SigningKey> DrawKey(base::Rng& rng) {
    base::Digest seed;
    for (std::uint8_t& byte : seed.bytes) byte = static_cast<std::uint8_t>(rng.Below(256));
    return std::make_shared<const crypto::SigningKey>(crypto::SigningKey::FromSeed(seed.view()));
  }

  base::Status Populate() {
    for (std::uint32_t i = 0; i < kBootstraps; ++i) {
      Swarm::PeerOptions peer;
      peer.endpoint = DrawEndpoint();
      peer.role = dht::Role::kServer;
      bootstraps_.push_back(peer.endpoint);
      // A bootstrap node knows the others.
      honest_.push_back(swarm_.Add({}, std::move(peer), bootstraps_));
    }
    const bool ground = options_.prefixes > 0;
    for (std::uint32_t i = kBootstraps; i < options_.nodes; ++i) {
      const base::Time at{rng_.Between(0, base::Seconds(options_.join_seconds).ns)};
      if (!ground && !options_.adversary.empty() && rng_.Chance(options_.adversary_percent, 100)) {
        RETURN_IF_ERROR(AddAdversary(at, DrawEndpoint(), nullptr));
      } else {
        AddHonest(at);
      }
    }
    if (ground) RETURN_IF_ERROR(Grind());
    for (const std::uint32_t peer : honest_) {
      coven_->honest.push_back(
          dht::Located(swarm_.network(), {swarm_.id(peer), swarm_.endpoint(peer)}));
    }
    return base::OkStatus();
  }

  // Keys whose ids lie around the run's key: one in each prefix nearer than any honest node is
  // likely to be, the others among its nearest.
  base::Status Grind() {
    const base::Digest key = dht::RunKey(swarm_.network(), coven_->run_id);
    base::Rng keys = rng_.Fork("grind");
    for (std::uint32_t prefix = 0; prefix < options_.prefixes; ++prefix) {
      for (std::uint32_t i = 0; i < kIdsAPrefix; ++i) {
        const std::uint64_t share = i == 0 ? 2 * options_.nodes : options_.nodes / 8 + 1;
        std::shared_ptr<const crypto::SigningKey> made;
        do {
          made = DrawKey(keys);
        } while (dht::TopDistance(key, dht::NodeIdOf(swarm_.network(), made->id())) >
                 UINT64_MAX / share);
        const std::uint32_t address = (std::uint32_t{60} << 24) + (prefix << 8) + i + 1;
        // They come last, as in reality: the network is there.
        const base::Time at = base::Time{} + base::Seconds(options_.join_seconds);
        RETURN_IF_ERROR(AddAdversary(at, Endpoint::V4(address, kPort), std::move(made)));
      }
    }
    return base::OkStatus();
  }

  // --- what happens ------------------------------------------------------------------------------

  void OnSecond(base::Time now) {
    if (churn_ && options_.churn_percent > 0) Churn(now);
    if (now.ns / 1'000'000'000 % 30 == 29) checks_.Inspect();
  }

  void Churn(base::Time now) {
    std::vector<std::uint32_t> stay(honest_.begin(), honest_.begin() + kBootstraps);
    std::uint32_t gone = 0;
    for (std::size_t i = kBootstraps; i < honest_.size(); ++i) {
      if (swarm_.IsUp(honest_[i]) && rng_.Chance(options_.churn_percent, 360'000)) {
        swarm_.Kill(honest_[i]);
        ++gone;
      } else {
        stay.push_back(honest_[i]);
      }
    }
    honest_ = std::move(stay);
    for (; gone > 0; --gone) AddHonest(now);
  }

  void KillShare() {
    std::vector<std::uint32_t> stay(honest_.begin(), honest_.begin() + kBootstraps);
    for (std::size_t i = kBootstraps; i < honest_.size(); ++i) {
      if (rng_.Chance(options_.dead_percent, 100)) {
        swarm_.Kill(honest_[i]);
      } else {
        stay.push_back(honest_[i]);
      }
    }
    honest_ = std::move(stay);
  }

  void Publish(std::uint32_t peer, std::uint64_t id) {
    dht::Publish publish;
    publish.content.addresses = {swarm_.endpoint(peer)};
    publish.content.reachable = !swarm_.IsBehindNat(peer);
    if (UsesRun() && id >= kWriteBase) {
      publish.content.run = dht::RunState{coven_->run_id, id, {}, false, 0};
      publish.under_run = true;
    }
    checks_.OnQuestion(peer);
    swarm_.Ask(peer, {id, std::move(publish)});
  }

  bool UsesRun() const { return options_.prefixes > 0 || options_.adversary == "store_flood"; }

  // Writers publish, then readers look. Under attacks on one key they do so in turn, a run at a
  // time.
  void Question() {
    if (honest_.empty()) return;
    // What is found must be what was published from now on, not an older announcement. A node's
    // wall clock counts whole seconds from its start, so it may be one behind.
    const std::uint64_t since =
        Swarm::kWallStart + static_cast<std::uint64_t>(swarm_.now().ns / 1'000'000'000) - 2;
    std::vector<std::uint32_t> writers;
    // One run has at most 64 owners in a store, so that more writers would not all be found.
    const std::uint32_t count =
        UsesRun() ? std::min<std::uint32_t>(options_.gets, 16) : options_.gets;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t writer = honest_[rng_.Below(honest_.size())];
      if (!swarm_.IsUp(writer)) continue;
      writers.push_back(writer);
      Publish(writer, kWriteBase + i);
      swarm_.RunUntil(swarm_.now() + base::Milliseconds(50));
    }
    swarm_.RunUntil(swarm_.now() + base::Seconds(20));
    for (std::uint32_t i = 0; i < options_.gets && !writers.empty(); ++i) {
      const std::uint32_t reader = honest_[rng_.Below(honest_.size())];
      if (!swarm_.IsUp(reader)) continue;
      const std::uint32_t writer = writers[i % writers.size()];
      reads_[kReadBase + i] = {writer, swarm_.id(writer), since, swarm_.now()};
      checks_.OnQuestion(reader);
      if (UsesRun()) {
        swarm_.Ask(reader, {kReadBase + i, dht::GetRun{coven_->run_id}});
      } else {
        swarm_.Ask(reader, {kReadBase + i, dht::GetPeer{swarm_.id(writer)}});
      }
      swarm_.RunUntil(swarm_.now() + base::Milliseconds(50));
    }
    swarm_.RunUntil(swarm_.now() + base::Seconds(20));
  }

  void OnAnswered(base::Time now, const dht::Answered& answered) {
    if (answered.id >= kReadBase) return OnRead(now, answered);
    const auto* published = std::get_if<dht::Published>(&answered.result);
    if (answered.id < kWriteBase || published == nullptr) return;
    ++writes_;
    stored_ += published->stored;
    write_queries_ += answered.effort.queries;
  }

  void OnRead(base::Time now, const dht::Answered& answered) {
    const Reading& reading = reads_.at(answered.id);
    ++result_.gets;
    queries_ += answered.effort.queries;
    result_.surveyed += answered.effort.surveyed ? 1 : 0;
    times_.push_back(static_cast<double>((now - reading.asked).ns) * 1e-6);
    const auto* got = std::get_if<dht::GotRecords>(&answered.result);
    if (got == nullptr) return;
    result_.found += std::any_of(got->records.begin(), got->records.end(), [&](const auto& one) {
      // Under a run's key any honest member will do.
      if (UsesRun()) return one.run && one.run->height >= kWriteBase;
      return one.peer == reading.peer && one.seq >= reading.least_seq;
    });
  }

  void Finish() {
    checks_.Inspect();
    swarm_.CheckAll();
    std::vector<double> estimates;
    double table = 0;
    for (const std::uint32_t peer : honest_) {
      if (!swarm_.IsUp(peer)) continue;
      const dht::Progress progress = swarm_.node(peer).progress();
      ++result_.honest;
      result_.servers += progress.server ? 1 : 0;
      table += progress.nodes;
      estimates.push_back(progress.network);
    }
    result_.table = table / std::max(1U, result_.honest);
    result_.size_estimate = Percentile(estimates, 50);
    result_.queries = static_cast<double>(queries_) / std::max(1U, result_.gets);
    result_.get_ms = Percentile(times_, 50);
    result_.get_p95_ms = Percentile(times_, 95);
    result_.stored = static_cast<double>(stored_) / std::max(1U, writes_);
    result_.write_queries = static_cast<double>(write_queries_) / std::max(1U, writes_);
    result_.most_queries_a_minute = checks_.most_queries_a_minute();
    result_.totals = swarm_.totals();
    result_.failure = checks_.failure();
    const std::uint64_t needed = std::uint64_t{options_.least_found_permille} * result_.gets;
    if (!result_.failure && std::uint64_t{result_.found} * 1000 < needed) {
      result_.failure = {"found", std::to_string(result_.found) + " of " +
                                      std::to_string(result_.gets) + " records were found"};
    }
  }

  static double Percentile(std::vector<double> values, std::size_t percent) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, values.size() * percent / 100)];
  }

  DhtOptions options_;
  base::Rng rng_;
  Swarm swarm_;
  Checks checks_;
  std::shared_ptr<Coven> coven_;
  std::set<std::uint32_t> taken_;  // addresses
  std::vector<Endpoint> bootstraps_;
  std::vector<std::uint32_t> honest_;
  bool churn_ = true;
  std::map<std::uint64_t, Reading> reads_;
  std::vector<double> times_;
  std::uint64_t queries_ = 0;
  std::uint64_t stored_ = 0;
  std::uint64_t write_queries_ = 0;
  std::uint32_t writes_ = 0;
  DhtResult result_;
};

}  // namespace

base::StatusOr<DhtResult> RunDht(const DhtOptions& options) {
  RETURN_IF_ERROR(Validate(options));
  return Run(options).Play();
}

}  // namespace ostraka::sim::dhtsim
