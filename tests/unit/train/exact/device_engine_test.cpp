// Gradients by a device that fails, lies, and comes back: always the processor's bits.
#include "node/train/exact/device_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "exact/device/device_plan.h"
#include "exact/device/emulated_device.h"
#include "exact/graph/graph_text.h"
#include "exact/kernels/kernels.h"
#include "exact/models/models.h"
#include "exact/program/differentiate.h"
#include "exact/run/runner.h"
#include "node/train/exact/exact_trainer.h"
#include "node/train/exact/graph_file.h"
#include "node/train/local_steps.h"
#include "node/train/tokens/tokens.h"

namespace ostraka::train::device_engine_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename Source>
std::vector<std::string> Lines(Source& source) {
  std::vector<std::string> lines;
  for (const TrainerNotice& notice : source.TakeNotices()) lines.push_back(notice.line);
  return lines;
}

// What the device does to a download: counted from the next one on.
struct Plan {
  int lose_at = -1;    // the download that fails, and all after it
  int flip_at = -1;    // the download of which one bit is wrong
  int open_fails = 0;  // calls of Open
  int opened = 0;
  base::Status check = base::OkStatus();  // of the conformance program
};

class PlannedDevice final : public exact::Device {
 public:
  explicit PlannedDevice(Plan& plan) : plan_(plan), device_(exact::MakeEmulatedDevice()) {}

  const exact::DeviceTraits& traits() const override { return device_->traits(); }
  base::StatusOr<exact::DeviceBuffer> Allocate(std::uint64_t bytes) override {
    return device_->Allocate(bytes);
  }
  void Free(exact::DeviceBuffer buffer) override { device_->Free(buffer); }
  base::Status Upload(exact::DeviceBuffer to, std::uint64_t offset,
                      std::span<const std::byte> from) override {
    return device_->Upload(to, offset, from);
  }
  base::Status Download(exact::DeviceBuffer from, std::uint64_t offset,
                        std::span<std::byte> to) override {
    lost_ = lost_ || (plan_.lose_at >= 0 && plan_.lose_at-- == 0);
    if (lost_) return base::Unavailable("planned: the device is lost");
    RETURN_IF_ERROR(device_->Download(from, offset, to));
    if (plan_.flip_at >= 0 && plan_.flip_at-- == 0) to[0] ^= std::byte{1};
    return base::OkStatus();
  }
  base::Status Launch(const exact::DeviceKernel& kernel, std::uint32_t groups,
                      std::span<const exact::Argument> arguments) override {
    return device_->Launch(kernel, groups, arguments);
  }
  base::Status Finish() override { return device_->Finish(); }

 private:
  Plan& plan_;
  bool lost_ = false;
  std::unique_ptr<exact::Device> device_;
};

class PlannedSource final : public exact::DeviceSource {
 public:
  PlannedSource(Plan& plan, bool named, std::uint64_t limit = 0)
      : plan_(plan), named_(named), limit_(limit) {}

  bool is_named() const override { return named_; }
  std::uint64_t memory_limit() const override { return limit_; }
  base::StatusOr<std::vector<std::string>> Candidates() override {
    return std::vector<std::string>{"planned:0"};
  }
  base::StatusOr<std::unique_ptr<exact::Device>> Open(const std::string& name) override {
    EXPECT_EQ(name, "planned:0");
    ++plan_.opened;
    if (plan_.open_fails > 0) {
      --plan_.open_fails;
      return base::Unavailable("planned:0: no driver");
    }
    return std::make_unique<PlannedDevice>(plan_);
  }

 private:
  Plan& plan_;
  bool named_;
  std::uint64_t limit_;
};

class Processor final : public RunnerEngine {
 public:
  Processor(const exact::Program& program, int& gradients)
      : RunnerEngine(exact::Runner(exact::PlanMemory(program, {}, 1).value(), {},
                                   exact::BestKernels(), kOne)),
        gradients_(gradients) {}

  base::StatusOr<float> Gradient(std::span<const float> parameters,
                                 std::span<const exact::InputValues> inputs,
                                 std::span<float> gradient) override {
    ++gradients_;
    return RunnerEngine::Gradient(parameters, inputs, gradient);
  }

 private:
  static inline const aggregation::SerialExecutor kOne;
  int& gradients_;
};

class DeviceEngineTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kCount = 3;  // micro-batches

  DeviceEngineTest() {
    exact::Graph graph = exact::MakeModel({.batch = 1,
                                           .layers = 1,
                                           .width = 4,
                                           .heads = 1,
                                           .context = 5,
                                           .vocabulary = 7,
                                           .base = {}})
                             ->graph;
    program_ = exact::Differentiate(graph);
    for (std::size_t i = 0; i < program_.parameter_count; ++i) {
      parameters_.push_back(0.1F * static_cast<float>(i % 13) - 0.6F);
    }
    batches_ = {
        .count = kCount,
        .inputs =
            [this](std::size_t index) {
              const auto shift = static_cast<std::int32_t>(index);
              tokens_ = {shift, 1, 2, 3, 4};
              targets_ = {1, 2, -1, 4, shift};
              return std::vector<exact::InputValues>{{.integers = tokens_}, {.integers = targets_}};
            },
        .check_wanted = [this] { return wanted_; }};
    Processor processor(program_, unused_);
    expected_.resize(parameters_.size());
    expected_loss_ = processor.Mean(parameters_, batches_, expected_).value();
  }

  std::unique_ptr<GraphEngine> Make(bool named = true, std::uint64_t limit = 0) {
    return MakeDeviceEngine(std::make_unique<Processor>(program_, by_processor_),
                            std::make_shared<PlannedSource>(plan_, named, limit),
                            {.check = [this](exact::Device&) { return plan_.check; },
                             .now = [this] { return seconds_ += 0.125; }});
  }

  base::Status Prepare(GraphEngine& engine) {
    MicroBatches one = batches_;
    one.count = 1;
    return engine.Prepare(parameters_, one);
  }

  // Whether the engine gives the processor's gradient, and by how many gradients of the processor.
  int ProcessorGradients(GraphEngine& engine) {
    const int before = by_processor_;
    std::vector<float> mean(parameters_.size());
    const auto loss = engine.Mean(parameters_, batches_, mean);
    EXPECT_TRUE(loss.ok()) << loss.status();
    EXPECT_EQ(loss.value_or(0), expected_loss_);
    EXPECT_EQ(std::memcmp(mean.data(), expected_.data(), mean.size() * sizeof(float)), 0);
    return by_processor_ - before;
  }

  static aggregation::LocalSteps Steps(std::uint64_t steps = 2) {
    return {.count = steps,
            .rate = 0.01,
            .warmup = 1,
            .clip_norm = 0.5,
            .beta1 = 0.9,
            .beta2 = 0.99,
            .epsilon = 1e-8,
            .weight_decay = 0.1};
  }

  LocalWork Work(const aggregation::LocalSteps& plan) {
    return {.plan = plan, .batches = 2, .batch = [this](std::uint64_t step, std::uint32_t batch) {
              MicroBatches later = batches_;
              later.inputs = [this, step, batch](std::size_t index) {
                return batches_.inputs((step + batch + index) % 6);
              };
              return later;
            }};
  }

  std::vector<float> DistanceByProcessor(const aggregation::LocalSteps& plan) {
    Processor processor(program_, unused_);
    aggregation::LocalDescent descent(plan, parameters_);
    const LocalWork work = Work(plan);
    while (descent.count() < plan.count) {
      std::vector<float> sum(parameters_.size());
      std::vector<float> next(parameters_.size());
      const std::vector<float> y(descent.at().begin(), descent.at().end());
      EXPECT_TRUE(processor.Mean(y, work.batch(descent.count(), 0).value(), sum).ok());
      EXPECT_TRUE(processor.Mean(y, work.batch(descent.count(), 1).value(), next).ok());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = (sum[i] + next[i]) * 0.5F;
      descent.Step(sum);
    }
    return descent.TakeDistance();
  }

  // With this clock everything takes equally long: a gradient in 20 is audited, and the conformance
  // program runs after one in 100.
  double seconds_ = 0;
  Plan plan_;
  exact::Program program_;
  std::vector<float> parameters_;
  std::vector<std::int32_t> tokens_;
  std::vector<std::int32_t> targets_;
  MicroBatches batches_;
  base::Status wanted_;
  std::vector<float> expected_;
  double expected_loss_ = 0;
  int by_processor_ = 0;
  int unused_ = 0;
};

TEST_F(DeviceEngineTest, ComputesOnTheDevice) {
  const auto engine = Make();
  ASSERT_TRUE(Prepare(*engine).ok());
  EXPECT_THAT(Lines(*engine),
              ElementsAre(AllOf(HasSubstr("planned:0 takes"), HasSubstr("the processor"),
                                HasSubstr("audits one in 20"))));
  EXPECT_THAT(Lines(*engine), IsEmpty());
  EXPECT_THAT(engine->ComputesOn(), HasSubstr("emulat"));
  int by_processor = 0;
  for (int i = 0; i < 60; ++i) by_processor += ProcessorGradients(*engine);
  EXPECT_EQ(by_processor, 3) << "an audit recomputes one micro-batch of three";
}

TEST_F(DeviceEngineTest, GivesEachLossWithItsLogits) {
  const auto engine = Make();
  ASSERT_TRUE(Prepare(*engine).ok());
  std::vector<float> losses;
  std::vector<float> logits;
  const auto keep = [&](float loss, std::span<const float> more) {
    losses.push_back(loss);
    logits.insert(logits.end(), more.begin(), more.end());
  };
  Processor processor(program_, unused_);
  ASSERT_TRUE(processor.Losses(parameters_, batches_, keep).ok());
  const auto wanted = std::pair(std::exchange(losses, {}), std::exchange(logits, {}));
  ASSERT_EQ(wanted.first.size(), kCount);
  ASSERT_EQ(wanted.second.size(), kCount * 5 * 7);
  // The device is lost before the first, in the middle, and never.
  for (const int lose_at : {0, 3, -1}) {
    const auto fresh = Make();
    ASSERT_TRUE(Prepare(*fresh).ok());
    plan_.lose_at = lose_at;
    ASSERT_TRUE(fresh->Losses(parameters_, batches_, keep).ok());
    EXPECT_EQ(std::pair(std::exchange(losses, {}), std::exchange(logits, {})), wanted);
  }
}

TEST_F(DeviceEngineTest, GoesOnWithTheProcessorAndTriesAgain) {
  for (const int lose_at : {0, 1, 3, 6}) {  // logarithms, losses, the mean
    plan_ = {};
    const auto engine = Make();
    ASSERT_TRUE(Prepare(*engine).ok());
    Lines(*engine);
    plan_.lose_at = lose_at;
    EXPECT_EQ(ProcessorGradients(*engine), 3);
    EXPECT_THAT(Lines(*engine),
                ElementsAre(AllOf(HasSubstr("planned: the device is lost"),
                                  HasSubstr("after 8 gradients the device is tried again"))));
    EXPECT_THAT(engine->ComputesOn(), HasSubstr("processor"));
    plan_.open_fails = 1;
    int by_processor = 0;
    while (plan_.opened < 3) by_processor += ProcessorGradients(*engine);
    EXPECT_EQ(by_processor, (8 + 15) * 3);
    EXPECT_THAT(Lines(*engine),
                ElementsAre(HasSubstr("after 16 gradients"), HasSubstr("planned:0 is back")));
    EXPECT_THAT(engine->ComputesOn(), HasSubstr("emulat"));
  }
}

// A wrong bit of a gradient is found where it is audited.
TEST_F(DeviceEngineTest, BarsADeviceWhoseAuditDiffers) {
  const auto engine = Make();
  ASSERT_TRUE(Prepare(*engine).ok());
  Lines(*engine);
  const int opened = plan_.opened;
  for (int i = 1; i < 20; ++i) EXPECT_EQ(ProcessorGradients(*engine), 0);
  // The audit comes first and downloads the rows' logarithms, the loss and the gradient.
  plan_.flip_at = 2;
  EXPECT_EQ(ProcessorGradients(*engine), 4);
  EXPECT_THAT(Lines(*engine),
              ElementsAre(HasSubstr("gave another gradient than the processor in an audit")));
  for (int i = 0; i < 40; ++i) EXPECT_EQ(ProcessorGradients(*engine), 3);
  EXPECT_EQ(plan_.opened, opened) << "a device that was wrong is not used again";
}

TEST_F(DeviceEngineTest, BarsADeviceThatConformsNoMore) {
  const auto engine = Make();
  ASSERT_TRUE(Prepare(*engine).ok());
  Lines(*engine);
  plan_.check = base::FailedPrecondition("planned: case 7 differs");
  std::vector<std::string> told;
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(told, IsEmpty());
    ProcessorGradients(*engine);
    told = Lines(*engine);
  }
  EXPECT_THAT(told, ElementsAre(AllOf(HasSubstr("planned: case 7 differs"),
                                      HasSubstr("the processor computes from now on"))));
}

TEST_F(DeviceEngineTest, RefusesANamedDeviceThatCannotBeUsed) {
  plan_.open_fails = 1;
  EXPECT_EQ(Prepare(*Make()).code(), absl::StatusCode::kUnavailable);
  plan_.check = base::FailedPrecondition("planned: other bits");
  EXPECT_EQ(Prepare(*Make()), plan_.check);
  plan_ = {};
  const base::Status small = Prepare(*Make(true, 100));
  EXPECT_EQ(small.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(base::MessageOf(small), HasSubstr("100"));
  plan_.flip_at = 5;  // the second gradient, which is compared
  EXPECT_THAT(base::MessageOf(Prepare(*Make())), HasSubstr("another gradient of this graph"));
}

TEST_F(DeviceEngineTest, LeavesOutADeviceThatNobodyNamed) {
  plan_.open_fails = 1;
  const auto engine = Make(false);
  ASSERT_TRUE(Prepare(*engine).ok());
  EXPECT_THAT(Lines(*engine), ElementsAre("planned:0: no driver: it is not used"));
  EXPECT_EQ(ProcessorGradients(*engine), 3);
  // It takes as long as the processor.
  const auto slow = Make(false);
  ASSERT_TRUE(Prepare(*slow).ok());
  EXPECT_THAT(Lines(*slow), ElementsAre(HasSubstr("the processor computes")));
  EXPECT_EQ(slow->ComputesOn(), "processor");
  EXPECT_EQ(ProcessorGradients(*slow), 3);
}

TEST_F(DeviceEngineTest, EndsWhereNobodyWantsTheGradient) {
  const auto engine = Make();
  ASSERT_TRUE(Prepare(*engine).ok());
  Lines(*engine);
  wanted_ = base::Cancelled("nobody");
  std::vector<float> mean(parameters_.size());
  EXPECT_EQ(engine->Mean(parameters_, batches_, mean).status(), wanted_);
  wanted_ = base::OkStatus();
  EXPECT_EQ(ProcessorGradients(*engine), 0);
  engine->Abandon();
  EXPECT_EQ(engine->Mean(parameters_, batches_, mean).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_THAT(Lines(*engine), IsEmpty()) << "nothing is wrong with the device";
}

TEST_F(DeviceEngineTest, TakesLocalStepsOnTheDevice) {
  const auto engine = Make();
  ASSERT_TRUE(Prepare(*engine).ok());
  Lines(*engine);
  const aggregation::LocalSteps plan = Steps();
  const std::vector<float> wanted = DistanceByProcessor(plan);
  for (int i = 0; i < 30; ++i) {
    const auto descended = engine->Descend(parameters_, Work(plan));
    ASSERT_TRUE(descended.ok() && *descended) << descended.status();
    EXPECT_EQ((*descended)->distance, wanted);
    EXPECT_EQ((*descended)->first_loss, expected_loss_);
  }
  EXPECT_EQ(by_processor_, 30 * 4 / 20 + 1) << "of each audit, and of the choice of the device";
  EXPECT_THAT(Lines(*engine), IsEmpty());
}

// Wherever it fails, the gradients that follow are the processor's.
TEST_F(DeviceEngineTest, LocalStepsOfALostDeviceAreTheCallers) {
  const aggregation::LocalSteps plan = Steps();
  int lost = 0;
  for (;; ++lost) {
    plan_ = {};
    const auto engine = Make();
    ASSERT_TRUE(Prepare(*engine).ok());
    Lines(*engine);
    plan_.lose_at = lost;
    const auto descended = engine->Descend(parameters_, Work(plan));
    ASSERT_TRUE(descended.ok()) << descended.status();
    if (*descended) break;
    EXPECT_THAT(Lines(*engine), ElementsAre(HasSubstr("planned: the device is lost")));
    EXPECT_EQ(ProcessorGradients(*engine), 3);
    EXPECT_FALSE(engine->Descend(parameters_, Work(plan))->has_value());
  }
  EXPECT_GT(lost, 10);
}

TEST_F(DeviceEngineTest, BarsADeviceWhoseLocalStepDiffers) {
  const aggregation::LocalSteps plan = Steps(10);
  std::set<std::string> told;
  // The 20th gradient is audited: it is the second of the last step, with losses and norms before.
  for (int flip_at = 110; flip_at < 150; ++flip_at) {
    plan_ = {};
    const auto engine = Make();
    ASSERT_TRUE(Prepare(*engine).ok());
    Lines(*engine);
    plan_.flip_at = flip_at;
    const auto descended = engine->Descend(parameters_, Work(plan));
    ASSERT_TRUE(descended.ok());
    const std::vector<std::string> lines = Lines(*engine);
    told.insert(lines.begin(), lines.end());
    if (*descended) continue;
    EXPECT_EQ(ProcessorGradients(*engine), 3) << "it is not used again";
  }
  EXPECT_THAT(told, Contains(HasSubstr("gave another gradient than the processor in an audit")));
  EXPECT_THAT(told, Contains(HasSubstr("took another local step than the processor in an audit")));
}

TEST_F(DeviceEngineTest, WithoutRoomForMomentsTheDeviceGivesGradients) {
  const std::uint64_t bytes =
      exact::PlanDevice(program_, {.memory_bytes = 1 << 26, .buffer_bytes = 1 << 26})->bytes;
  const auto engine = Make(true, bytes + 8);
  ASSERT_TRUE(Prepare(*engine).ok());
  Lines(*engine);
  const aggregation::LocalSteps plan = Steps();
  EXPECT_FALSE(engine->Descend(parameters_, Work(plan))->has_value());
  EXPECT_THAT(Lines(*engine), ElementsAre(HasSubstr("local steps need")));
  EXPECT_FALSE(engine->Descend(parameters_, Work(plan))->has_value());
  EXPECT_THAT(Lines(*engine), IsEmpty());
  EXPECT_EQ(ProcessorGradients(*engine), 0);
}

TEST_F(DeviceEngineTest, LocalStepsEndWhereNobodyWantsThem) {
  const auto engine = Make();
  ASSERT_TRUE(Prepare(*engine).ok());
  Lines(*engine);
  const aggregation::LocalSteps plan = Steps();
  wanted_ = base::Cancelled("nobody");
  EXPECT_EQ(engine->Descend(parameters_, Work(plan)).status(), wanted_);
  wanted_ = base::OkStatus();
  EXPECT_TRUE(engine->Descend(parameters_, Work(plan))->has_value());
  EXPECT_THAT(Lines(*engine), IsEmpty());
}

// The trainer as a node makes it, with the conformance program.
TEST(DeviceTrainer, GivesTheBitsOfTheProcessor) {
  Plan plan;
  const exact::Graph graph =
      exact::MakeModel({.batch = 2, .layers = 1, .width = 8, .heads = 2, .context = 6, .base = {}})
          ->graph;
  TrainerOptions options{.model = std::string(kGraphModel), .batch_size = 4, .exact = true};
  options.graph = exact::PrintGraph(graph);
  const auto data = [] {
    base::Bytes text(900);
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::uint8_t>(i * i);
    return RecordsOf(text, 6).value();
  };
  const auto processor = MakeExactTrainer(options, data()).value();
  options.devices = std::make_shared<PlannedSource>(plan, true);
  const auto device = MakeExactTrainer(options, data()).value();
  EXPECT_THAT(Lines(*device), Contains(HasSubstr("planned:0 takes")));
  const std::vector<float> parameters = device->InitialParameters(base::Digest{});
  const base::Digest seed{};
  EXPECT_EQ(device->Gradient(parameters, seed).value(),
            processor->Gradient(parameters, seed).value());
  EXPECT_EQ(device->GradientAgain(parameters, seed).value(),
            processor->Gradient(parameters, seed).value());
  const aggregation::LocalSteps local = {.count = 3,
                                         .rate = 0.01,
                                         .warmup = 2,
                                         .clip_norm = 1,
                                         .beta1 = 0.9,
                                         .beta2 = 0.99,
                                         .epsilon = 1e-8};
  for (const bool again : {false, true}) {
    const auto got = WorkOf(*device, {parameters, seed, 2, local, again}).value();
    const auto wanted = WorkOf(*processor, {parameters, seed, 2, local}).value();
    EXPECT_EQ(got.values, wanted.values);
    EXPECT_EQ(got.batch_loss, again ? got.batch_loss : wanted.batch_loss);
  }
  EXPECT_TRUE(device->Descend(parameters, local, 1, [](auto, auto) { return base::Digest{}; })
                  ->has_value());
  EXPECT_EQ(device->Evaluate(parameters)->loss, processor->Evaluate(parameters)->loss);
  EXPECT_EQ(device->Evaluate(parameters)->value, processor->Evaluate(parameters)->value);
}

}  // namespace
}  // namespace ostraka::train::device_engine_test
