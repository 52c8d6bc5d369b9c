// Times the rules and kernels of aggregation against the memory traffic that they cannot avoid.
//
// usage: aggregation_bench [--smoke] [--threads T]
// Prints {"results":[{"name","seconds","floor_seconds","ratio"},...]} (docs of `ostraka bench`):
// seconds is the fastest of several runs; floor_seconds is the fastest read of the operation's
// inputs and outputs by as many threads, measured in turns with it so that both meet the same
// machine.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "aggregation/centered_clip.h"
#include "aggregation/mean.h"
#include "aggregation/projection.h"
#include "aggregation/sgd.h"
#include "node/base/check.h"
#include "node/base/rng.h"

namespace ostraka::aggregation {
namespace {

// Fresh threads a call: their start (some 20 us) is part of what a caller would pay.
class ThreadedExecutor final : public Executor {
 public:
  explicit ThreadedExecutor(std::size_t threads) : threads_(threads) {}
  void ParallelFor(std::size_t count, const std::function<void(std::size_t)>& body) const override {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t k = next++; k < count; k = next++) body(k);
    };
    std::vector<std::jthread> pool;
    for (std::size_t i = 1; i < threads_; ++i) pool.emplace_back(work);
    work();
  }

 private:
  std::size_t threads_;
};

struct Result {
  std::string name;
  double seconds = 0;
  double floor_seconds = 0;
};

double SecondsOf(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Adds the bits of `values` in four 128-bit chains: nothing but loads and as many additions.
std::uint64_t ReadOnce(const std::vector<float>& values) {
  using Words = std::uint64_t __attribute__((vector_size(16)));
  constexpr std::size_t kFloats = sizeof(Words) / sizeof(float);
  Words a = {}, b = {}, c = {}, d = {};
  const auto load = [&](std::size_t at) {
    Words words;
    std::memcpy(&words, values.data() + at, sizeof(words));
    return words;
  };
  for (std::size_t i = 0; i + 4 * kFloats <= values.size(); i += 4 * kFloats) {
    a += load(i);
    b += load(i + kFloats);
    c += load(i + 2 * kFloats);
    d += load(i + 3 * kFloats);
  }
  const Words sum = (a + b) + (c + d);
  return sum[0] + sum[1];
}

class Bench {
 public:
  Bench(std::size_t n, std::size_t d, std::size_t threads, int runs)
      : n_(n),
        d_(d),
        threads_(threads),
        runs_(runs),
        executor_(threads),
        out_(d),
        velocity_(d),
        signs_(SignBytes(d)) {
    base::Rng rng(1);
    for (std::size_t i = 0; i < n; ++i) {
      values_.emplace_back(d);
      for (float& value : values_.back()) value = static_cast<float>(rng.Normal());
    }
    for (auto& byte : signs_) byte = static_cast<std::uint8_t>(rng.Below(256));
    rows_.dimension = d;
    for (const auto& row : values_) rows_.row.push_back(row.data());
  }

  void Run(std::vector<Result>& results) {
    const double radius = 0.5 * Norm(values_[0]);
    const SerialExecutor serial;
    const std::vector<float>& part = values_[n_ - 1];
    const std::vector<float>& center = values_[n_ - 2];
    std::vector<const std::vector<float>*> rows;
    for (const auto& row : values_) rows.push_back(&row);
    std::vector<const std::vector<float>*> rows_and_result = rows;
    rows_and_result.push_back(&out_);

    Add(results, "check_rows", rows, executor_, [&] { Must(CheckRows(rows_, executor_)); });
    Add(results, "mean", rows_and_result, executor_,
        [&] { Must(Mean().Aggregate(rows_, executor_, out_)); });
    Add(results, "centered_clip", rows_and_result, executor_, [&] { Clip(radius); });
    for (std::size_t i = 0; i < 7 * n_ / 16; ++i) {
      for (float& value : values_[i]) value *= -1000.0f;
    }
    Add(results, "centered_clip_attacked", rows_and_result, executor_, [&] { Clip(radius); });
    // What a worker does for each column, and a peer for each step: one thread.
    Add(results, "projection", {&part, &center}, serial,
        [&] { sink_ = sink_ + ClippedProjection(part, center, radius, signs_).norm; });
    Add(results, "sgd", {&part, &out_, &velocity_}, serial, [&] {
      SgdStep({1e-6f, 0.9f, 0}, part, out_, velocity_);
    });
  }

 private:
  static void Must(const base::Status& status) { OSTRAKA_CHECK(status.ok()); }

  void Clip(double tau) { Must(CenteredClip({tau, 1e-6}).Aggregate(rows_, executor_, out_)); }

  void Add(std::vector<Result>& results, const std::string& name,
           const std::vector<const std::vector<float>*>& touched, const Executor& executor,
           const std::function<void()>& body) {
    const std::size_t threads = &executor == &executor_ ? threads_ : 1;
    Result result{name + "/n" + std::to_string(n_) + "/d" + std::to_string(d_) + "/threads" +
                  std::to_string(threads)};
    result.seconds = result.floor_seconds = std::numeric_limits<double>::infinity();
    for (int run = 0; run < runs_; ++run) {
      result.floor_seconds = std::min(result.floor_seconds, SecondsOf([&] {
                                        executor.ParallelFor(touched.size(), [&](std::size_t i) {
                                          sum_ += ReadOnce(*touched[i]);
                                        });
                                      }));
      result.seconds = std::min(result.seconds, SecondsOf(body));
    }
    results.push_back(result);
  }

  std::size_t n_;
  std::size_t d_;
  std::size_t threads_;
  int runs_;
  ThreadedExecutor executor_;
  std::vector<std::vector<float>> values_;
  Rows rows_;
  std::vector<float> out_;
  std::vector<float> velocity_;
  std::vector<std::uint8_t> signs_;
  std::atomic<std::uint64_t> sum_{0};
  volatile double sink_ = 0;
};

void Print(const std::vector<Result>& results) {
  std::printf("{\"results\":[");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& result = results[i];
    std::printf("%s\n{\"name\":\"%s\",\"seconds\":%.9g,\"floor_seconds\":%.9g,\"ratio\":%.4g}",
                i == 0 ? "" : ",", result.name.c_str(), result.seconds, result.floor_seconds,
                result.seconds / result.floor_seconds);
  }
  std::printf("\n]}\n");
}

int Main(const std::vector<std::string>& arguments) {
  bool smoke = false;
  std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--smoke") {
      smoke = true;
    } else if (arguments[i] == "--threads" && i + 1 < arguments.size() &&
               arguments[i + 1].find_first_not_of("0123456789") == std::string::npos &&
               arguments[i + 1].size() == 1 && arguments[i + 1] != "0") {
      threads = static_cast<std::size_t>(arguments[++i][0] - '0');
    } else {
      std::fprintf(stderr, "usage: aggregation_bench [--smoke] [--threads 1..9]\n");
      return 2;
    }
  }
  std::vector<Result> results;
  if (smoke) {
    Bench(4, 1000, threads, 1).Run(results);
  } else {
    Bench(16, 100'000, threads, 20).Run(results);
    Bench(16, 1'000'000, threads, 10).Run(results);
    Bench(64, 1'000'000, threads, 5).Run(results);
  }
  Print(results);
  return 0;
}

}  // namespace
}  // namespace ostraka::aggregation

int main(int argc, char** argv) {
  return ostraka::aggregation::Main(std::vector<std::string>(argv + 1, argv + argc));
}
