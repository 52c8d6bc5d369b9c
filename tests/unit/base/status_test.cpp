#include "node/base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace ostraka::base::status_test {
namespace {

TEST(Status, CarriesItsCodeAndMessage) {
  const std::string message = "port 7000 is taken";
  EXPECT_EQ(InvalidArgument(message).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FailedPrecondition(message).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(NotFound(message).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Unavailable(message).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Internal(message).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(MessageOf(Unavailable(message)), message);
  EXPECT_TRUE(OkStatus().ok());
  EXPECT_EQ(MessageOf(OkStatus()), "");
}

TEST(Status, KeepsAMessageThatIsAViewIntoALongerText) {
  const std::string_view text = "needed and not needed";
  EXPECT_EQ(MessageOf(Internal(text.substr(0, 6))), "needed");
}

Status Forward(const Status& status, int& calls, bool& went_on) {
  RETURN_IF_ERROR((++calls, status));
  went_on = true;
  return OkStatus();
}

TEST(ReturnIfError, ReturnsAnErrorAtOnceAndEvaluatesOnce) {
  int calls = 0;
  bool went_on = false;
  EXPECT_EQ(Forward(NotFound("key.osk"), calls, went_on), NotFound("key.osk"));
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(went_on);
}

TEST(ReturnIfError, ContinuesAfterOk) {
  int calls = 0;
  bool went_on = false;
  EXPECT_TRUE(Forward(OkStatus(), calls, went_on).ok());
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(went_on);
}

StatusOr<std::unique_ptr<int>> Half(int number) {
  if (number % 2 != 0) return InvalidArgument(std::to_string(number) + " is odd");
  return std::make_unique<int>(number / 2);
}

StatusOr<int> Quarter(int number) {
  ASSIGN_OR_RETURN(const auto half, Half(number));  // move-only
  std::unique_ptr<int> quarter;
  ASSIGN_OR_RETURN(quarter, Half(*half));  // an existing variable, and a second one in a function
  return *quarter;
}

TEST(AssignOrReturn, AssignsTheValue) { EXPECT_EQ(*Quarter(12), 3); }

TEST(AssignOrReturn, ReturnsTheErrorOfTheCallThatFailed) {
  EXPECT_EQ(Quarter(7).status(), InvalidArgument("7 is odd"));
  EXPECT_EQ(Quarter(6).status(), InvalidArgument("3 is odd"));
}

}  // namespace
}  // namespace ostraka::base::status_test
