#include "node/store/checkpoint_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "crypto/sign.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::store::checkpoint_writer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CheckpointWriterTest : public os::TempFolderTest {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(crypto::Initialize().ok()); }

  CheckpointWriterOptions Options(std::uint64_t every, std::size_t keep = 3) {
    return {.data_dir = dir_,
            .every = every,
            .keep = keep,
            .layout = {{"x", {2}}},
            .metadata = {{"model", "toy"}},
            .failed = [this](const base::Status&) { ++failures_; }};
  }
  static protocol::StepDone Done(std::uint64_t step, bool genesis = false,
                                 std::uint16_t closing = 0) {
    wire::Block block;
    block.closing = closing;
    block.step = step;
    block.genesis = genesis;
    const auto values = std::make_shared<const std::vector<float>>(2, static_cast<float>(step));
    return {std::make_shared<const wire::Block>(block), {values, {{"velocity", values}}}};
  }
  // Offers steps 0..count-1 and waits for each that is due, so that none replaces another.
  void OfferAndAwait(CheckpointWriter& writer, std::uint64_t every, std::uint64_t count) {
    for (std::uint64_t step = 0; step < count; ++step) {
      writer.Offer(Done(step));
      if ((step + 1) % every != 0) continue;
      while (!std::filesystem::exists(CheckpointPath(dir_, step))) std::this_thread::yield();
    }
  }
  std::vector<std::uint64_t> Steps() const {
    std::vector<std::uint64_t> steps;
    for (const CheckpointFile& file : ListCheckpoints(dir_)) steps.push_back(file.step);
    return steps;
  }

  std::atomic<int> failures_ = 0;
};

TEST_F(CheckpointWriterTest, RemovesWhatAKilledProcessLeft) {
  std::vector<std::string> left;
  for (const std::string& path : {CheckpointPath(dir_, 7), ParametersPath(dir_, 3)}) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    left.push_back(path + ".tmp");
    std::ofstream(left.back()) << "half of a state";
  }
  const std::string other = ParametersFolder(dir_) + "/evidence.tmp";
  std::ofstream(other) << "somebody writes this";
  const CheckpointWriter writer(Options(10));
  for (const std::string& path : left) EXPECT_FALSE(std::filesystem::exists(path)) << path;
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_EQ(failures_, 0);
}

TEST_F(CheckpointWriterTest, KeepsOneCheckpointPerInterval) {
  CheckpointWriter writer(Options(10));
  OfferAndAwait(writer, 10, 65);
  EXPECT_EQ(writer.Finish().value(), CheckpointPath(dir_, 64));
  EXPECT_THAT(Steps(), ElementsAre(49, 59, 64));
  for (const std::uint64_t step : Steps()) {
    const Checkpoint checkpoint = ReadCheckpoint(CheckpointPath(dir_, step)).value();
    EXPECT_EQ(checkpoint.state.parameters->front(), static_cast<float>(step));
    EXPECT_EQ(checkpoint.metadata.at("model"), "toy");
  }
  EXPECT_EQ(failures_, 0);
}

TEST_F(CheckpointWriterTest, ParametersOfFalseGradientsStayBesideTheEvidence) {
  const base::TensorLayout layout = Options(0).layout;
  const auto values = std::make_shared<const std::vector<float>>(std::vector<float>{3, -0.5F});
  {
    CheckpointWriter writer(Options(0));
    writer.Offer(Done(9));
    writer.Keep({.step = 7, .worker = {}, .parameters = values});
    ASSERT_TRUE(writer.Finish().ok());
  }
  EXPECT_EQ(*ReadParameters(ParametersPath(dir_, 7), layout).value(), *values);
  EXPECT_THAT(Steps(), ElementsAre(9)) << "it is no state of the run";
  EXPECT_EQ(failures_, 0);
}

// As evidence is judged by strangers, the file is one's too.
TEST_F(CheckpointWriterTest, ParametersAreReadFromAnyFileOfThisProgramAndFromNothingElse) {
  const base::TensorLayout layout = Options(0).layout;
  const auto values = std::make_shared<const std::vector<float>>(std::vector<float>{3, -0.5F});
  const Checkpoint state{.step = 4,
                         .layout = layout,
                         .state = {values, {{"velocity", values}}},
                         .metadata = {{"model", "toy"}}};
  ASSERT_TRUE(WriteCheckpoint(dir_, state).ok());
  ASSERT_TRUE(WriteModel(dir_ + "/model", state).ok());
  EXPECT_EQ(*ReadParameters(CheckpointPath(dir_, 4), layout).value(), *values);
  EXPECT_EQ(*ReadParameters(dir_ + "/model", layout).value(), *values);

  const auto refusal = [&](const std::string& path, const base::TensorLayout& of) {
    return base::MessageOf(ReadParameters(path, of).status());
  };
  EXPECT_THAT(refusal(dir_ + "/model", {{"y", {2}}}), HasSubstr("not those of the run's model"));
  EXPECT_THAT(refusal(dir_ + "/model", {{"x", {3}}}), HasSubstr("not those of the run's model"));
  EXPECT_THAT(refusal(dir_ + "/none", layout), HasSubstr("is not there"));
  std::filesystem::resize_file(dir_ + "/model", std::filesystem::file_size(dir_ + "/model") - 4);
  EXPECT_THAT(refusal(dir_ + "/model", layout), HasSubstr("cut short"));
  std::ofstream(dir_ + "/text") << "no tensors at all, only text";
  EXPECT_THAT(refusal(dir_ + "/text", layout), HasSubstr("header is longer"));
}

TEST_F(CheckpointWriterTest, WithoutAnIntervalTheLastStateIsKept) {
  CheckpointWriter writer(Options(0));
  for (std::uint64_t step = 0; step < 20; ++step) writer.Offer(Done(step));
  EXPECT_EQ(writer.Finish().value(), CheckpointPath(dir_, 19));
  EXPECT_THAT(Steps(), ElementsAre(19));
}

TEST_F(CheckpointWriterTest, SlowDiskLosesCheckpointsButNeverTheLast) {
  CheckpointWriter writer(Options(1, 1000));
  for (std::uint64_t step = 0; step < 500; ++step) writer.Offer(Done(step));
  ASSERT_TRUE(writer.Finish().ok());
  const std::vector<std::uint64_t> steps = Steps();
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.back(), 499u);
  EXPECT_EQ(failures_, 0);
}

TEST_F(CheckpointWriterTest, StepThatClosesTheRunGivesNoOtherState) {
  {
    CheckpointWriter writer(Options(1));
    writer.Offer(Done(18));
    writer.Offer(Done(19));
    protocol::StepDone closed = Done(20, false, 2);
    closed.state = Done(19).state;
    writer.Offer(closed);
    EXPECT_EQ(writer.Finish().value(), CheckpointPath(dir_, 19));
  }
  EXPECT_EQ(Steps().back(), 19u);
  EXPECT_EQ(ReadCheckpoint(CheckpointPath(dir_, 19)).value().state.parameters->front(), 19.F);
}

// The state of a member whose update failed, and the one that it fetched for it.
TEST_F(CheckpointWriterTest, AnotherStateOfTheLastStepReplacesIt) {
  for (const std::uint64_t every : {0, 1}) {
    CheckpointWriter writer(Options(every));
    writer.Offer(Done(18));
    writer.Offer(Done(19));
    protocol::StepDone fetched = Done(19);
    fetched.state = Done(7).state;
    writer.Offer(fetched);
    protocol::StepDone closed = Done(20, false, 2);
    closed.state = fetched.state;
    writer.Offer(closed);
    EXPECT_EQ(writer.Finish().value(), CheckpointPath(dir_, 19));
    EXPECT_EQ(ReadCheckpoint(CheckpointPath(dir_, 19)).value().state.parameters->front(), 7.F);
  }
}

TEST_F(CheckpointWriterTest, FollowerThatBeganAtTheLastBlockKeepsItsState) {
  CheckpointWriter writer(Options(0));
  writer.Offer(Done(20, false, 2));
  EXPECT_EQ(writer.Finish().value(), CheckpointPath(dir_, 19));
}

TEST_F(CheckpointWriterTest, WithoutAStepThereIsNoFile) {
  CheckpointWriter writer(Options(1));
  writer.Offer(Done(0, /*genesis=*/true));
  EXPECT_EQ(writer.Finish().status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Steps(), IsEmpty());
}

TEST_F(CheckpointWriterTest, FailedWriteIsReportedAndTheLastIsTriedAgain) {
  std::ofstream(CheckpointFolder(dir_)) << "a file where the folder should be";
  CheckpointWriter writer(Options(1));
  writer.Offer(Done(0));
  while (failures_ == 0) std::this_thread::yield();
  const auto finished = writer.Finish();
  EXPECT_EQ(finished.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(finished.status()), HasSubstr("step-0.safetensors"));
  EXPECT_EQ(failures_, 1);
}

TEST_F(CheckpointWriterTest, CheckpointsFromBeforeARestartBelongToTheSeries) {
  {
    CheckpointWriter writer(Options(10));
    OfferAndAwait(writer, 10, 30);
    ASSERT_TRUE(writer.Finish().ok());
  }
  CheckpointWriter writer(Options(10));
  writer.Offer(Done(33));
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_THAT(Steps(), ElementsAre(19, 29, 33));
}

}  // namespace
}  // namespace ostraka::store::checkpoint_writer_test
