#include "sim/engine/job_memo.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace ostraka::sim::job_memo_test {
namespace {

using protocol::JobSpec;
using protocol::SharedVector;

SharedVector Vector(std::vector<float> values) {
  return std::make_shared<const std::vector<float>>(std::move(values));
}
protocol::SharedBlob BlobOf(std::uint8_t byte) {
  return std::make_shared<const crypto::Blob>(crypto::Blob{base::Bytes(8, byte), {}});
}
base::Digest Seed(std::uint8_t number) {
  base::Digest seed;
  seed.bytes.fill(number);
  return seed;
}
std::shared_ptr<const JobSpec> Spec(JobSpec spec) {
  return std::make_shared<const JobSpec>(std::move(spec));
}

protocol::GradientSpec AGradient() {
  protocol::GradientSpec spec;
  spec.step = 3;
  spec.parameters = Vector({1, 2});
  spec.batch_seed = Seed(7);
  return spec;
}
protocol::UpdateSpec AnUpdate() {
  protocol::UpdateSpec spec;
  spec.state = {Vector({1, 2}), {{"velocity", Vector({0, 0})}}};
  spec.columns = {{{0, 2}, BlobOf(1)}};
  spec.step = {.rate = 0.1F, .momentum = 0.9F};
  return spec;
}
protocol::RecomputeSpec ARecomputation() {
  protocol::RecomputeSpec spec;
  spec.gradient = AGradient();
  spec.tau = 1;
  spec.eps_g = 1e-3;
  spec.claims.push_back({{0, {0, 2}, BlobOf(1), Seed(1)}, {false, {1, 2, 3, 4}, 5}});
  return spec;
}
protocol::RootSpec ARoot() {
  return {{Vector({1, 2}), {{"velocity", Vector({0, 0})}}}, {{"w", {2}}}};
}

// Runs a job by calling the gradient function for the kinds that RunJob calls it for.
class Counting {
 public:
  JobMemo Make(JobMemo::Limits limits = {}) {
    return JobMemo(
        [this](const JobSpec& spec, const protocol::GradientFunction& compute) {
          ++jobs;
          if (const auto* gradient = std::get_if<protocol::GradientSpec>(&spec)) {
            return protocol::JobResult(protocol::GradientResult{Vector(*compute(*gradient))});
          }
          if (const auto* check = std::get_if<protocol::RecomputeSpec>(&spec)) {
            (void)compute(check->gradient);
          }
          return protocol::JobResult(protocol::RootResult{});
        },
        [this](const protocol::GradientSpec& spec) -> base::StatusOr<std::vector<float>> {
          ++gradients;
          if (fail) return base::Internal("no memory");
          return std::vector<float>{static_cast<float>(spec.batch_seed.bytes[0])};
        },
        limits);
  }
  int jobs = 0;
  int gradients = 0;
  bool fail = false;
};

TEST(JobMemo, RunsEqualSharedJobsOnceByBitsNotByAddress) {
  const std::vector<std::function<JobSpec()>> makers = {[] { return JobSpec(ARecomputation()); },
                                                        [] { return JobSpec(AnUpdate()); },
                                                        [] { return JobSpec(ARoot()); }};
  for (const auto& make : makers) {
    Counting counting;
    JobMemo memo = counting.Make();
    const auto first = memo.Run(Spec(make()));
    EXPECT_EQ(memo.Run(Spec(make())), first) << "one result for all";
    EXPECT_EQ(counting.jobs, 1);
  }
}

TEST(JobMemo, RunsPrivateJobsEachTime) {
  Counting counting;
  JobMemo memo = counting.Make();
  const auto pack = Spec(protocol::PackSpec{Vector({1, 2}), {{0, 2}}, true});
  EXPECT_NE(memo.Run(pack), memo.Run(pack));
  EXPECT_EQ(counting.jobs, 2);
}

TEST(JobMemo, ComputesAGradientOnceForItsWorkerAndItsValidators) {
  Counting counting;
  JobMemo memo = counting.Make();
  const auto own = memo.Run(Spec(AGradient()));
  memo.Run(Spec(ARecomputation()));
  memo.Run(Spec(AGradient()));
  EXPECT_EQ(counting.gradients, 1);
  EXPECT_EQ(std::get<protocol::GradientResult>(*own).gradient->at(0), 7.0F);
}

TEST(JobMemo, DoesNotRememberAFailure) {
  Counting counting;
  JobMemo memo = counting.Make();
  counting.fail = true;
  memo.Run(Spec(ARecomputation()));
  counting.fail = false;
  memo.Run(Spec(AGradient()));
  EXPECT_EQ(counting.gradients, 2);
}

TEST(JobMemo, ForgetsTheOldest) {
  Counting counting;
  JobMemo memo = counting.Make({.gradients = 2, .others = 1});
  for (const std::uint8_t seed : {1, 2, 3, 1}) {
    protocol::GradientSpec spec = AGradient();
    spec.batch_seed = Seed(seed);
    memo.Run(Spec(spec));
  }
  EXPECT_EQ(counting.gradients, 4);
}

// Every field counts, numbers by their bits.
TEST(SameJob, AnyDifferentFieldIsAnotherJob) {
  const auto differs = [](auto make, auto change) {
    auto changed = make();
    change(changed);
    EXPECT_TRUE(SameJob(JobSpec(make()), JobSpec(make())));
    EXPECT_FALSE(SameJob(JobSpec(make()), JobSpec(changed)));
  };
  differs(AGradient, [](auto& s) { s.step = 4; });
  differs(AGradient, [](auto& s) { s.owner.bytes[0] = 1; });
  differs(AGradient, [](auto& s) { s.batch_seed = Seed(8); });
  differs(AGradient, [](auto& s) { ++s.batches; });
  differs(AGradient, [](auto& s) { s.parameters = Vector({1, 3}); });
  differs(AGradient, [](auto& s) { s.parameters = Vector({1}); });
  differs(AnUpdate, [](auto& s) { s.state.slots.at(0).values = Vector({0, -0.0F}); });
  differs(AnUpdate, [](auto& s) { s.columns[0].result = BlobOf(2); });
  differs(AnUpdate, [](auto& s) { s.columns[0].range.end = 1; });
  differs(AnUpdate, [](auto& s) { s.columns.clear(); });
  differs(AnUpdate, [](auto& s) { s.step.rate = 0.2F; });
  differs(AnUpdate, [](auto& s) { s.step.momentum = 0; });
  differs(AnUpdate, [](auto& s) { s.step.decay = 1; });
  differs(AnUpdate, [](auto& s) { s.step.clip_norm = 1; });
  differs(AnUpdate, [](auto& s) { s.step.updates = 9; });
  differs(AnUpdate, [](auto& s) { s.state.slots[0].name = "other"; });
  differs(ARecomputation, [](auto& s) { s.tau = 2; });
  differs(ARecomputation, [](auto& s) { s.eps_g = 2; });
  differs(ARecomputation, [](auto& s) { s.committed = {Seed(1), Seed(2)}; });
  differs(ARecomputation, [](auto& s) { s.gradient.again = true; });
  const auto committed = [] {
    protocol::RecomputeSpec spec = ARecomputation();
    spec.committed = {Seed(1), Seed(2), {{0, 2}}};
    return spec;
  };
  differs(committed, [](auto& s) { s.committed->parts[0].end = 1; });
  differs(committed, [](auto& s) { s.committed->gradient_root = Seed(3); });
  differs(committed, [](auto& s) { s.committed->parameters_root = Seed(3); });
  differs(ARecomputation, [](auto& s) { s.gradient.batch_seed = Seed(8); });
  differs(ARecomputation, [](auto& s) { s.claims[0].numbers.s[3] = 0; });
  differs(ARecomputation, [](auto& s) { s.claims[0].numbers.norm = -5; });
  differs(ARecomputation, [](auto& s) { s.claims[0].numbers.size = -5; });
  differs(ARecomputation, [](auto& s) { s.claims[0].numbers.missing = true; });
  differs(ARecomputation, [](auto& s) { s.claims[0].column.part_index = 1; });
  differs(ARecomputation, [](auto& s) { s.claims[0].column.direction_seed = Seed(2); });
  differs(ARecomputation, [](auto& s) { s.claims[0].column.result = nullptr; });
  differs(ARoot, [](auto& s) { s.layout[0].name = "v"; });
  differs(ARoot, [](auto& s) { s.state.parameters = Vector({2, 1}); });
}

TEST(SameJob, NanIsEqualToItselfByBits) {
  protocol::RecomputeSpec spec = ARecomputation();
  spec.claims[0].numbers.norm = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(SameJob(JobSpec(spec), JobSpec(spec)));
}

TEST(SameJob, KindsDiffer) { EXPECT_FALSE(SameJob(JobSpec(AnUpdate()), JobSpec(ARoot()))); }

}  // namespace
}  // namespace ostraka::sim::job_memo_test
