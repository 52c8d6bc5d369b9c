#include "node/cli/dht/dht_bench.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/base/rng.h"
#include "node/net/udp/dht_driver.h"
#include "node/os/open_files.h"

namespace ostraka::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kBootstraps = 3;
constexpr std::uint32_t kWave = 25;  // nodes that join at once
constexpr auto kPatience = std::chrono::seconds(60);
const dht::Endpoint kLoopback = dht::Endpoint::V4(0x7f000001, 0);

double MillisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double P95(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, values.size() * 95 / 100)];
}

base::Status AllowDescriptors(std::uint32_t nodes) {
  const base::Status allowed = os::AllowOpenFiles(nodes + 64);
  return allowed.ok() ? allowed
                      : base::Unavailable(base::MessageOf(allowed) + ": give fewer --nodes");
}

class Bench {
 public:
  explicit Bench(const DhtBenchOptions& options) : options_(options) {}

  base::StatusOr<DhtBenchResult> Run() {
    RETURN_IF_ERROR(AllowDescriptors(options_.nodes));
    const auto begin = Clock::now();
    while (nodes_.size() < options_.nodes) RETURN_IF_ERROR(Join());
    result_.join_seconds = MillisecondsSince(begin) * 1e-3;
    for (std::uint32_t i = 0; i < options_.questions; ++i) RETURN_IF_ERROR(WriteAndRead());
    result_.store_ms = Mean(store_ms_);
    result_.store_p95_ms = P95(store_ms_);
    result_.get_ms = Mean(get_ms_);
    result_.get_p95_ms = P95(get_ms_);
    const double questions = std::max(options_.questions, 1U);
    result_.stores /= questions;
    result_.queries /= questions;
    for (const auto& node : nodes_) result_.table += node.driver->progress().nodes;
    result_.table /= static_cast<double>(nodes_.size());
    return result_;
  }

 private:
  struct Node {
    base::PeerId id;
    std::unique_ptr<net::DhtDriver> driver;
  };

  base::Status Add() {
    const auto key = std::make_shared<const crypto::SigningKey>(crypto::SigningKey::Generate());
    net::DhtDriver::Listener listener;
    listener.answered = [this](const dht::Answered& answered) { answered_ = answered; };
    Node node{key->id(), std::make_unique<net::DhtDriver>(
                             io_,
                             dht::NodeConfig{key, dht::NetworkOf("bench"), dht::Role::kServer,
                                             std::make_shared<crypto::PlainVerifier>()},
                             std::move(listener))};
    dht::Started started;
    started.wall_s =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                       std::chrono::system_clock::now().time_since_epoch())
                                       .count());
    crypto::FillRandom(started.secret.bytes);
    for (std::uint32_t i = 0; i < kBootstraps && i < nodes_.size(); ++i) {
      started.bootstraps.push_back(nodes_[i].driver->local());
    }
    RETURN_IF_ERROR(node.driver->Start(kLoopback, started));
    nodes_.push_back(std::move(node));
    return base::OkStatus();
  }

  base::Status Join() {
    const std::size_t from = nodes_.size();
    const std::size_t until =
        std::min<std::size_t>(options_.nodes, from < kWave ? from + 1 : from + kWave);
    while (nodes_.size() < until) RETURN_IF_ERROR(Add());
    if (from == 0) return base::OkStatus();  // the first has nobody to join
    return Wait("joins", [&] {
      return std::all_of(nodes_.begin() + static_cast<std::ptrdiff_t>(from), nodes_.end(),
                         [](const Node& node) { return node.driver->progress().joined; });
    });
  }

  template <typename Done>
  base::Status Wait(const char* what, Done done) {
    const auto end = Clock::now() + kPatience;
    while (!done()) {
      if (Clock::now() > end) {
        return base::Unavailable(std::string("nobody ") + what + " within a minute");
      }
      io_.run_one_for(std::chrono::milliseconds(100));
    }
    return base::OkStatus();
  }

  base::Status WriteAndRead() {
    const Node& writer = nodes_[rng_.Below(nodes_.size())];
    dht::Publish publish;
    publish.content.addresses = {writer.driver->local()};
    ASSIGN_OR_RETURN(const dht::Answered stored, Ask(writer, publish, store_ms_));
    result_.stores += std::get<dht::Published>(stored.result).stored;
    const Node& reader = nodes_[rng_.Below(nodes_.size())];
    ASSIGN_OR_RETURN(const dht::Answered got, Ask(reader, dht::GetPeer{writer.id}, get_ms_));
    result_.queries += got.effort.queries;
    const auto& records = std::get<dht::GotRecords>(got.result).records;
    result_.found += records.size() == 1 && records[0].peer == writer.id ? 1 : 0;
    return base::OkStatus();
  }

  template <typename What>
  base::StatusOr<dht::Answered> Ask(const Node& node, const What& what,
                                    std::vector<double>& times) {
    answered_.reset();
    const auto begin = Clock::now();
    node.driver->Ask({next_ask_, what});
    RETURN_IF_ERROR(Wait("answers", [this] { return answered_ && answered_->id == next_ask_; }));
    times.push_back(MillisecondsSince(begin));
    ++next_ask_;
    return *answered_;
  }

  DhtBenchOptions options_;
  boost::asio::io_context io_;
  std::vector<Node> nodes_;
  base::Rng rng_{1};
  std::optional<dht::Answered> answered_;
  std::uint64_t next_ask_ = 1;
  std::vector<double> store_ms_;
  std::vector<double> get_ms_;
  DhtBenchResult result_;
};

}  // namespace

base::StatusOr<DhtBenchResult> RunDhtBench(const DhtBenchOptions& options) {
  if (options.nodes < 2 || options.nodes > 20'000) {
    return base::InvalidArgument("--nodes must be 2 to 20000");
  }
  return Bench(options).Run();
}

}  // namespace ostraka::cli
