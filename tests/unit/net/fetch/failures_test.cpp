#include "node/net/fetch/failures.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ostraka::net::failures_test {
namespace {

TEST(FailuresTest, EachStatusIsAFailureWithItsNumber) {
  for (int status = 0; status < 1000; ++status) {
    if (status == 200) status = 300;
    const base::Status failure = FailureOfStatus(status);
    const std::string message = base::MessageOf(failure);
    EXPECT_NE(message.find(std::to_string(status)), std::string::npos);
    const bool again = status >= 500 || status == 408 || status == 425 || status == 429;
    EXPECT_EQ(failure.code() == absl::StatusCode::kUnavailable, again) << message;
    EXPECT_EQ(failure.code() == absl::StatusCode::kNotFound, status == 404 || status == 410);
  }
}

TEST(FailuresTest, EachEndOfLibcurlIsAFailure) {
  const std::set<curl::Code> for_ever = {curl::kPeerNotVerified,   curl::kIssuerError,
                                         curl::kInvalidCertStatus, curl::kUnsupportedProtocol,
                                         curl::kWeirdReply,        curl::kBadEncoding,
                                         curl::kOutOfMemory,       curl::kTooLarge};
  for (curl::Code code = 1; code < 200; ++code) {
    const base::Status failure = FailureOfCode(code);
    if (code == curl::kBadAuthorities) {
      EXPECT_EQ(failure.code(), absl::StatusCode::kFailedPrecondition);
    } else {
      EXPECT_EQ(failure.code() == absl::StatusCode::kInvalidArgument, for_ever.contains(code))
          << failure;
      EXPECT_EQ(failure.code() == absl::StatusCode::kUnavailable, !for_ever.contains(code))
          << failure;
    }
    EXPECT_EQ(base::MessageOf(failure).find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace ostraka::net::failures_test
