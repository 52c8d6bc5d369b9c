// Times a butterfly all-reduce between peers over the real transport (TLS, WebSocket, loopback):
// unchecked, as an unprotected run does it, and checked, with all that a protected run does to
// bulk.
//
// usage: allreduce_bench [--smoke] [--peers N] [--mib M ...] [--repeats R]
//                        [--checked | --unchecked]
// Prints {"results":[{"name","seconds","median_seconds","cpu_seconds","jobs_seconds"},...]}.
// seconds: from the moment all peers have their vectors until the last has all aggregates (and, if
// checked, has compared every number); the fastest and the median of R repeats, after one that does
// not count. cpu_seconds: of all peers together, user and system, of the fastest. jobs_seconds: of
// these, cutting, hashing of what is sent, aggregating, proving, comparing; the rest is the
// channel: TLS, WebSocket, the system's copies, and, checked, hashing of what arrives.
//
// unchecked  cut into parts; each part to its aggregator; the mean; each result to all
// checked    the same with Merkle roots made and every chunk verified, CenteredClip, the numbers of
//            all columns (PROOF) exchanged, V2's sums and V1's comparison bit by bit. Left out:
//            what does not grow with the vector (signatures, seals, the ledger), and updating the
//            model.
//
// A peer is a thread with its own sockets, and works off its jobs itself.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "aggregation/kernels/projection.h"
#include "aggregation/kernels/rows.h"
#include "crypto/sign.h"
#include "node/base/check.h"
#include "node/base/rng.h"
#include "node/net/mesh/transport.h"
#include "node/os/endpoint.h"
#include "node/protocol/ground/jobs.h"
#include "node/protocol/ground/numbers.h"

namespace ostraka::net {
namespace {

using protocol::Column;
using protocol::PartRange;
using protocol::SharedVector;
using wire::ColumnNumbers;

constexpr double kTau = 10;
constexpr double kEps = 1e-6;

double SecondsBetween(std::chrono::steady_clock::time_point a,
                      std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

double CpuSeconds() {
  rusage usage{};
  OSTRAKA_CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double ThreadCpuSeconds() {
  timespec now{};
  OSTRAKA_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// What a frame of this program says before its body.
enum class Kind : std::uint8_t { kPart, kResult, kNumbers };

base::SharedBytes MakeFrame(Kind kind, const void* body = nullptr, std::size_t size = 0) {
  base::Bytes frame(1 + size);
  frame[0] = static_cast<std::uint8_t>(kind);
  if (size > 0) std::memcpy(frame.data() + 1, body, size);
  return std::make_shared<const base::Bytes>(std::move(frame));
}

// One peer: a thread, a transport, and one all-reduce at a time. All members but the counters of
// jobs belong to the thread.
class Peer {
 public:
  Peer(std::size_t index, std::vector<std::shared_ptr<const crypto::SigningKey>> keys, bool checked,
       std::uint64_t dimension)
      : index_(index),
        keys_(std::move(keys)),
        checked_(checked),
        ranges_(protocol::CutParts(dimension, static_cast<std::uint32_t>(keys_.size()))) {
    std::vector<float> values(dimension);
    base::Rng rng(index + 1);
    for (float& value : values) value = static_cast<float>(rng.Unit() - 0.5);
    vector_ = std::make_shared<const std::vector<float>>(std::move(values));
  }
  ~Peer() {
    work_.reset();
    io_.stop();
    thread_.join();
    transport_.reset();
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void Start(int listen_fd, const std::vector<std::uint16_t>& ports, std::function<void()> linked) {
    TransportOptions options;
    options.key = keys_[index_];
    options.run_id.bytes.fill(7);
    options.listen_fd = listen_fd;
    options.allow_unhashed = !checked_;
    options.max_blob_bytes = 4 * ranges_.front().size();
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      options.members.push_back({keys_[i]->id(), "127.0.0.1:" + std::to_string(ports[i])});
    }
    TransportEvents events;
    events.message = [this](const PeerId& from, base::SharedBytes frame, SharedBlob blob) {
      Take(IndexOf(from), *frame, std::move(blob));
    };
    events.link = [this, linked](const PeerId& /*peer*/, bool up) {
      OSTRAKA_CHECK(up || ending_);
      if (up && ++links_ + 1 == keys_.size()) linked();
    };
    auto made = Transport::Make(io_, std::move(options), std::move(events));
    OSTRAKA_CHECK(made.ok());
    transport_ = std::move(*made);
    transport_->Start();
    thread_ = std::thread([this] { io_.run(); });
  }

  // `done` is called from the peer's thread.
  void AllReduce(std::function<void()> done) {
    boost::asio::post(io_, [this, done = std::move(done)] {
      done_ = done;
      SendParts();
    });
  }
  void End() {
    boost::asio::post(io_, [this] { ending_ = true; });
  }
  double jobs_seconds() const { return jobs_seconds_; }
  // The aggregate, once done was called.
  const std::vector<float>& output() const { return output_; }

 private:
  std::size_t IndexOf(const PeerId& id) const {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i]->id() == id) return i;
    }
    OSTRAKA_CHECK(false);
    return 0;
  }
  template <typename Result>
  Result Run(const protocol::JobSpec& spec) {
    const double begin = ThreadCpuSeconds();
    protocol::JobResult result = protocol::RunJob(spec, nullptr, aggregation::SerialExecutor());
    jobs_seconds_ = jobs_seconds_ + (ThreadCpuSeconds() - begin);
    OSTRAKA_CHECK(std::holds_alternative<Result>(result));
    return std::get<Result>(std::move(result));
  }

  void SendParts() {
    const std::size_t n = keys_.size();
    results_.assign(n, nullptr);
    numbers_.assign(n, {});
    own_parts_ = Run<protocol::PackResult>(protocol::PackSpec{vector_, ranges_, checked_}).parts;
    for (std::size_t j = 0; j < n; ++j) {
      if (j != index_) transport_->Send(keys_[j]->id(), MakeFrame(Kind::kPart), own_parts_[j]);
    }
    parts_.resize(n);
    parts_[index_] = own_parts_[index_];
    AggregateIfAllCame();
  }

  void Take(std::size_t from, const base::Bytes& frame, SharedBlob blob) {
    switch (static_cast<Kind>(frame[0])) {
      case Kind::kPart:  // perhaps before we began ourselves
        parts_.resize(keys_.size());
        parts_[from] = std::move(blob);
        return AggregateIfAllCame();
      case Kind::kResult:
        results_[from] = std::move(blob);
        return ProveIfAllCame();
      case Kind::kNumbers:
        numbers_[from].resize((frame.size() - 1) / sizeof(ColumnNumbers));
        std::memcpy(numbers_[from].data(), frame.data() + 1, frame.size() - 1);
        return CompareIfAllCame();
    }
  }

  void AggregateIfAllCame() {
    if (std::count(parts_.begin(), parts_.end(), nullptr) > 0) return;
    results_[index_] =
        Run<protocol::AggregateResult>(
            protocol::AggregateSpec{parts_, checked_, kTau, kEps, checked_, ranges_[index_].size()})
            .result;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (i == index_) continue;
      transport_->Send(keys_[i]->id(), MakeFrame(Kind::kResult), results_[index_]);
    }
    ProveIfAllCame();
  }

  void ProveIfAllCame() {
    if (std::count(results_.begin(), results_.end(), nullptr) > 0) return;
    output_.resize(vector_->size());
    for (std::size_t j = 0; j < results_.size(); ++j) {
      std::memcpy(&output_[ranges_[j].begin], results_[j]->data.data(), results_[j]->data.size());
    }
    if (!checked_) return Finish();
    columns_.clear();
    for (std::size_t j = 0; j < results_.size(); ++j) {
      base::Digest seed;
      seed.bytes.fill(static_cast<std::uint8_t>(j + 1));
      columns_.push_back({static_cast<std::uint32_t>(j), ranges_[j], results_[j], seed});
    }
    numbers_[index_] =
        Run<protocol::ProveResult>(protocol::ProveSpec{own_parts_, columns_, kTau}).columns;
    const base::SharedBytes frame = MakeFrame(Kind::kNumbers, numbers_[index_].data(),
                                              numbers_[index_].size() * sizeof(ColumnNumbers));
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (i != index_) transport_->Send(keys_[i]->id(), frame);
    }
    CompareIfAllCame();
  }

  void CompareIfAllCame() {
    for (const auto& of_peer : numbers_) {
      if (of_peer.empty()) return;
    }
    // V2, of every column.
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const std::uint64_t length = ranges_[j].size();
      const auto size = protocol::SizeOf(protocol::Codec::kRaw, *results_[j], length);
      const double tolerance = protocol::SumTolerance(keys_.size(), kEps, size, length);
      for (std::size_t z = 0; z < wire::kDirections; ++z) {
        double sum = 0;
        for (const auto& of_peer : numbers_) sum += of_peer[j].s[z];
        OSTRAKA_CHECK(std::abs(sum) <= tolerance);
      }
    }
    // V1, of mine.
    protocol::CrossCheckSpec check{columns_[index_], kTau, {}};
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (i == index_) continue;
      check.claims.push_back({keys_[i]->id(), parts_[i], numbers_[i][index_]});
    }
    OSTRAKA_CHECK(Run<protocol::CrossCheckResult>(check).liars.empty());
    Finish();
  }

  void Finish() {
    parts_.clear();
    const std::function<void()> done = std::exchange(done_, nullptr);
    done();
  }

  const std::size_t index_;
  const std::vector<std::shared_ptr<const crypto::SigningKey>> keys_;
  const bool checked_;
  const std::vector<PartRange> ranges_;
  SharedVector vector_;
  boost::asio::io_context io_{1};
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_{
      io_.get_executor()};
  std::unique_ptr<Transport> transport_;
  std::thread thread_;
  std::size_t links_ = 0;
  bool ending_ = false;
  std::function<void()> done_;
  std::atomic<double> jobs_seconds_ = 0;

  std::vector<SharedBlob> own_parts_;
  std::vector<SharedBlob> parts_;  // of my column, by sender
  std::vector<SharedBlob> results_;
  std::vector<Column> columns_;
  std::vector<std::vector<ColumnNumbers>> numbers_;  // by peer; one a column
  std::vector<float> output_;
};

// Waits until it was counted down to zero from any threads.
class Countdown {
 public:
  explicit Countdown(std::size_t count) : count_(count) {}
  void Down() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) zero_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    zero_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable zero_;
  std::size_t count_;
};

struct Measured {
  double seconds = 0;
  double cpu_seconds = 0;
  double jobs_seconds = 0;
};

double JobsSeconds(const std::vector<std::unique_ptr<Peer>>& peers) {
  double sum = 0;
  for (const auto& peer : peers) sum += peer->jobs_seconds();
  return sum;
}

Measured MeasureOnce(const std::vector<std::unique_ptr<Peer>>& peers) {
  Countdown running(peers.size());
  const double jobs = JobsSeconds(peers);
  const double cpu = CpuSeconds();
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& peer : peers) peer->AllReduce([&running] { running.Down(); });
  running.Wait();
  const Measured measured{SecondsBetween(begin, std::chrono::steady_clock::now()),
                          CpuSeconds() - cpu, JobsSeconds(peers) - jobs};
  for (const auto& peer : peers) OSTRAKA_CHECK(peer->output() == peers[0]->output());
  return measured;
}

std::vector<Measured> Measure(std::size_t count, std::uint64_t bytes, bool checked, int repeats) {
  std::vector<std::shared_ptr<const crypto::SigningKey>> keys;
  std::vector<os::ListeningSocket> sockets;
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < count; ++i) {
    const base::Bytes seed(32, static_cast<std::uint8_t>(i + 1));
    keys.push_back(std::make_shared<const crypto::SigningKey>(crypto::SigningKey::FromSeed(seed)));
    const auto socket = os::ListenOnLoopback();
    OSTRAKA_CHECK(socket.ok());
    sockets.push_back(*socket);
    ports.push_back(socket->port);
  }
  std::vector<std::unique_ptr<Peer>> peers;
  Countdown linking(count);
  for (std::size_t i = 0; i < count; ++i) {
    peers.push_back(std::make_unique<Peer>(i, keys, checked, bytes / sizeof(float)));
  }
  for (std::size_t i = 0; i < count; ++i) {
    peers[i]->Start(sockets[i].fd, ports, [&linking] { linking.Down(); });
  }
  linking.Wait();
  MeasureOnce(peers);
  std::vector<Measured> measured;
  for (int i = 0; i < repeats; ++i) measured.push_back(MeasureOnce(peers));
  for (const auto& peer : peers) peer->End();
  std::sort(measured.begin(), measured.end(),
            [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; });
  return measured;
}

int Main(int argc, char** argv) {
  std::size_t peers = 4;
  int repeats = 9;
  std::vector<bool> kinds = {false, true};
  std::vector<double> mib;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--smoke") {
      mib = {0.25};
      repeats = 1;
    } else if (option == "--checked" || option == "--unchecked") {
      kinds = {option == "--checked"};
    } else if (option == "--peers" && i + 1 < argc) {
      peers = std::stoul(argv[++i]);
    } else if (option == "--repeats" && i + 1 < argc) {
      repeats = std::stoi(argv[++i]);
    } else if (option == "--mib" && i + 1 < argc) {
      mib.push_back(std::stod(argv[++i]));
    } else {
      std::fprintf(stderr,
                   "usage: allreduce_bench [--smoke] [--peers N] [--mib M ...] [--repeats R] "
                   "[--checked | --unchecked]\n");
      return 2;
    }
  }
  if (mib.empty()) mib = {1, 64};
  OSTRAKA_CHECK(crypto::Initialize().ok());
  std::printf("{\"results\":[");
  const char* separator = "\n";
  for (const double size : mib) {
    for (const bool checked : kinds) {
      const auto bytes = static_cast<std::uint64_t>(size * (1 << 20));
      const std::vector<Measured> all = Measure(peers, bytes, checked, repeats);
      std::printf(
          "%s{\"name\":\"allreduce/%s/peers%zu/bytes%llu\",\"seconds\":%.4f,"
          "\"median_seconds\":%.4f,\"cpu_seconds\":%.4f,\"jobs_seconds\":%.4f}",
          separator, checked ? "checked" : "unchecked", peers,
          static_cast<unsigned long long>(bytes), all.front().seconds, all[all.size() / 2].seconds,
          all.front().cpu_seconds, all.front().jobs_seconds);
      std::fflush(stdout);
      separator = ",\n";
    }
  }
  std::printf("\n]}\n");
  return 0;
}

}  // namespace
}  // namespace ostraka::net

int main(int argc, char** argv) { return ostraka::net::Main(argc, argv); }
