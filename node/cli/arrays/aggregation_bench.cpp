#include "node/cli/arrays/aggregation_bench.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "aggregation/kernels/projection.h"
#include "aggregation/rules/registry.h"
#include "node/base/check.h"
#include "node/base/rng.h"
#include "node/os/thread_executor.h"

namespace ostraka::cli {
namespace {

using aggregation::Rows;

// The rules in docs/benchmarks.md; others on request.
constexpr const char* kDefaultRules[] = {
    "mean",   "centered_clip", "krum",   "multi_krum", "mda", "smea", "geometric_median",
    "median", "trimmed_mean",  "meamed", "phocas",     "nnm"};

double SecondsOf(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Adds the bits of `values` in four chains: only loads and an equal number of additions.
std::uint64_t ReadOnce(const float* values, std::size_t count) {
  using Words = std::uint64_t __attribute__((vector_size(16)));
  constexpr std::size_t kFloats = sizeof(Words) / sizeof(float);
  Words a = {}, b = {}, c = {}, d = {};
  const auto load = [&](std::size_t at) {
    Words words;
    std::memcpy(&words, values + at, sizeof(words));
    return words;
  };
  for (std::size_t i = 0; i + 4 * kFloats <= count; i += 4 * kFloats) {
    a += load(i);
    b += load(i + kFloats);
    c += load(i + 2 * kFloats);
    d += load(i + 3 * kFloats);
  }
  const Words sum = (a + b) + (c + d);
  return sum[0] + sum[1];
}

// A timed rule or pre-aggregation under its name.
struct Subject {
  const aggregation::Description* about = nullptr;
  std::unique_ptr<aggregation::Rule> rule;
  std::unique_ptr<aggregation::PreAggregation> pre;
};

base::StatusOr<Subject> MakeSubject(const std::string& name, std::size_t n, double radius) {
  const auto pre = aggregation::FindPreAggregation(name);
  Subject subject;
  if (pre.ok()) {
    subject.about = &(*pre)->about;
  } else {
    ASSIGN_OR_RETURN(const auto* rule, aggregation::FindRule(name));
    subject.about = &rule->about;
  }
  aggregation::Arguments arguments = {{"f", "0"}};
  for (const auto& parameter : subject.about->parameters) {
    if (parameter.name == "tau" || parameter.name.starts_with("th")) {
      arguments.emplace_back(parameter.name, std::to_string(radius));
    }
  }
  const std::string_view kind = pre.ok() ? "pre-aggregation" : "rule";
  ASSIGN_OR_RETURN(const auto defaults, aggregation::ParametersOf(*subject.about, kind, arguments));
  const auto largest = subject.about->largest_f(n, defaults);
  if (!largest) {
    return base::InvalidArgument(name + " needs " + std::string(subject.about->requirement));
  }
  arguments.front().second = std::to_string(std::min(n / 5, *largest));
  if (pre.ok()) {
    ASSIGN_OR_RETURN(subject.pre, aggregation::MakePreAggregation(name, arguments));
  } else {
    ASSIGN_OR_RETURN(subject.rule, aggregation::MakeRule(name, arguments));
  }
  return subject;
}

class Bench {
 public:
  Bench(AggregationBenchOptions::Shape shape, std::size_t threads, int runs)
      : n_(shape.rows),
        d_(shape.dimension),
        threads_(threads),
        runs_(runs),
        executor_(threads),
        values_(n_ * d_),
        reference_(d_, 0.5f) {
    rows_.dimension = d_;
    rows_.reference = reference_.data();
    for (std::size_t i = 0; i < n_; ++i) rows_.row.push_back(&values_[i * d_]);
    const base::Rng root(1);
    executor_.ParallelFor(n_, [&](std::size_t i) {
      base::Rng rng = root.Fork("row", i);
      for (std::size_t c = 0; c < d_; ++c) {
        values_[i * d_ + c] = static_cast<float>(rng.Unit() - 0.5);
      }
    });
  }

  base::StatusOr<BenchResult> Time(const std::string& name) {
    const double radius = 0.5 * aggregation::Norm({rows_.row[0], d_});
    ASSIGN_OR_RETURN(const Subject subject, MakeSubject(name, n_, radius));
    std::vector<float> out((subject.pre != nullptr ? subject.pre->OutputRows(n_) : 1) * d_);
    BenchResult result;
    result.name = name + "/n" + std::to_string(n_) + "/d" + std::to_string(d_) + "/threads" +
                  std::to_string(threads_);
    result.seconds = result.floor_seconds = std::numeric_limits<double>::infinity();
    for (int run = 0; run < runs_; ++run) {
      result.floor_seconds = std::min(result.floor_seconds, SecondsOf([&] { ReadAll(); }));
      base::Status status;
      result.seconds = std::min(result.seconds, SecondsOf([&] { status = RunOnce(subject, out); }));
      if (status.code() == absl::StatusCode::kFailedPrecondition) {
        result.skipped = base::MessageOf(status);
        return result;
      }
      RETURN_IF_ERROR(status);
    }
    result.floor_seconds *= subject.about->passes + subject.about->writes;
    return result;
  }

 private:
  base::Status RunOnce(const Subject& subject, std::vector<float>& out) {
    if (subject.pre != nullptr) return subject.pre->Apply(rows_, executor_, out);
    return subject.rule->Aggregate(rows_, executor_, out);
  }

  void ReadAll() {
    constexpr std::size_t kPiece = std::size_t{1} << 18;  // floats: 1 MiB
    const std::size_t pieces = (values_.size() + kPiece - 1) / kPiece;
    executor_.ParallelFor(pieces, [&](std::size_t k) {
      const std::size_t begin = k * kPiece;
      sum_ += ReadOnce(&values_[begin], std::min(kPiece, values_.size() - begin));
    });
  }

  std::size_t n_;
  std::size_t d_;
  std::size_t threads_;
  int runs_;
  os::ThreadExecutor executor_;
  std::vector<float> values_;
  std::vector<float> reference_;
  Rows rows_;
  std::atomic<std::uint64_t> sum_{0};  // keeps the compiler from removing reads
};

base::Status RunShape(const AggregationBenchOptions& options, AggregationBenchOptions::Shape shape,
                      const std::function<void(const BenchResult&)>& on_result) {
  std::vector<std::string> rules = options.rules;
  if (rules.empty()) rules.assign(std::begin(kDefaultRules), std::end(kDefaultRules));
  Bench bench(shape, options.threads, options.runs);
  for (const std::string& rule : rules) {
    ASSIGN_OR_RETURN(const BenchResult result, bench.Time(rule));
    on_result(result);
  }
  return base::OkStatus();
}

}  // namespace

base::Status RunAggregationBench(const AggregationBenchOptions& options,
                                 const std::function<void(const BenchResult&)>& on_result) {
  for (const auto& shape : options.shapes) {
    if (shape.rows == 0 || shape.dimension == 0) {
      return base::InvalidArgument("rows and dimension must be at least 1");
    }
    const std::string size = std::to_string(shape.rows) + " x " + std::to_string(shape.dimension);
    if (shape.dimension > std::numeric_limits<std::size_t>::max() / 16 / shape.rows) {
      return base::InvalidArgument(size + " floats are more than this machine can address");
    }
    try {
      RETURN_IF_ERROR(RunShape(options, shape, on_result));
    } catch (const std::bad_alloc&) {
      return base::Unavailable(size + " floats do not fit into memory: use a smaller --dimension");
    }
  }
  return base::OkStatus();
}

}  // namespace ostraka::cli
