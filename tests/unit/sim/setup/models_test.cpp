#include "sim/setup/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::sim::models_test {
namespace {

using testing::HasSubstr;

SimOptions Gpt() {
  SimOptions options;
  UseTinyGpt(options);
  return options;
}

std::string WhyNot(const SimOptions& options) { return base::MessageOf(CheckOptions(options)); }

TEST(Models, AGptIsExactAndItsReplayNamesIt) {
  const SimOptions options = Gpt();
  EXPECT_TRUE(CheckOptions(options).ok());
  EXPECT_TRUE(options.exact);
  EXPECT_THAT(FormatOptions(options), HasSubstr(" model=gpt "));
  EXPECT_EQ(*ParseOptions(FormatOptions(options)), options);
  EXPECT_THAT(FormatOptions(SimOptions{}), testing::Not(HasSubstr("model")));
}

TEST(Models, EveryOptimizerHasARateOfItsOwn) {
  SimOptions adamw;
  adamw.optimizer = aggregation::Optimizer::kAdamW;
  UseTinyGpt(adamw);
  SimOptions nesterov;
  nesterov.optimizer = aggregation::Optimizer::kNesterov;
  UseTinyGpt(nesterov);
  EXPECT_LT(adamw.learning_rate, nesterov.learning_rate);
  EXPECT_LT(nesterov.learning_rate, Gpt().learning_rate);
}

TEST(Models, WhatDoesNotFitIsRefused) {
  SimOptions options = Gpt();
  options.exact = false;
  EXPECT_THAT(WhyNot(options), HasSubstr("make exact 1"));
  options = Gpt();
  options.model = "llama";
  EXPECT_THAT(WhyNot(options), HasSubstr("toy or gpt, not 'llama'"));
  for (const std::uint64_t size : {0, 65}) {
    options = Gpt();
    options.batch_size = size;
    EXPECT_THAT(WhyNot(options), HasSubstr("must be 1 to 64"));
  }
  options = Gpt();
  options.dimension = 1;  // the toy's
  EXPECT_TRUE(CheckOptions(options).ok());
}

}  // namespace
}  // namespace ostraka::sim::models_test
