#include "node/cli/terminal/usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ostraka::cli::usage_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A command with an option of each type that the program's commands have.
class UsageTest : public ::testing::Test {
 protected:
  UsageTest() {
    CLI::App* go = program_.add_subcommand("go", "");
    go->add_option("word", word_)->required();
    go->add_option("--u32", u32_);
    go->add_option("--u64", u64_)->check(CLI::Range(1, 1024));
    go->add_option("--maybe", maybe_);
    go->add_option("--int", int_);
    go->add_option("--real", real_);
    go->add_option("--maybe-real", maybe_real_);
    go->add_option("--list", list_);
    go->add_option("--counts", counts_);
    ReadOptionsAsWritten(program_);
  }

  // What is wrong with `arguments`; empty if nothing is.
  std::string Parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "go");
    const std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
      program_.parse(std::vector<std::string>(reversed));
    } catch (const CLI::ParseError& error) {
      return base::MessageOf(UsageError(program_, arguments, error));
    }
    return "";
  }

  CLI::App program_;
  std::string word_;
  std::uint32_t u32_ = 0;
  std::uint64_t u64_ = 0;
  std::optional<std::uint64_t> maybe_;
  int int_ = 0;
  double real_ = 0;
  std::optional<double> maybe_real_;
  std::vector<std::string> list_;
  std::vector<std::uint64_t> counts_;
};

TEST_F(UsageTest, WholeNumbersAreDecimal) {
  for (const char* option : {"--u32", "--u64", "--maybe", "--int", "--counts"}) {
    for (const char* ten : {"10", "010", "0000010", "+10", "+010"}) {
      u32_ = 0, u64_ = 0, maybe_ = 0, int_ = 0, counts_.clear();
      EXPECT_EQ(Parse({option, ten, "w"}), "") << option << ten;
      const std::uint64_t sum = u32_ + u64_ + *maybe_ + static_cast<std::uint64_t>(int_) +
                                (counts_.empty() ? 0 : counts_.front());
      EXPECT_EQ(sum, 10U) << option << ten;
    }
    for (const char* bad : {"0x10", "0b10", "1_000", "1'000", "1e3", "1.0", "1,5", "", " 5", "5 ",
                            "\xd9\xa1", "++5", "five", "5k", "-", "99999999999999999999"}) {
      EXPECT_THAT(Parse({option, bad, "w"}), HasSubstr(option)) << bad;
      EXPECT_THAT(Parse({std::string(option) + "=" + bad, "w"}), HasSubstr(option)) << bad;
    }
  }
  EXPECT_EQ(Parse({"--int", "-010", "w"}), "");
  EXPECT_EQ(int_, -10);
  EXPECT_THAT(Parse({"--u64", "-1", "w"}), HasSubstr("at least 0, not '-1'"));
  EXPECT_THAT(Parse({"--u64", "1025", "w"}), HasSubstr("--u64"));
  EXPECT_THAT(Parse({"--u32", "4294967296", "w"}), HasSubstr("--u32"));
}

TEST_F(UsageTest, RealNumbersAreDecimal) {
  for (const auto& [text, value] :
       {std::pair("0.5", 0.5), std::pair("00.5", 0.5), std::pair("+.5", 0.5),
        std::pair("5e-1", 0.5), std::pair("-010", -10.0), std::pair("1E3", 1000.0),
        std::pair("010.50", 10.5)}) {
    EXPECT_EQ(Parse({"--real", text, "w"}), "") << text;
    EXPECT_EQ(real_, value) << text;
    EXPECT_EQ(Parse({"--maybe-real", text, "w"}), "") << text;
    EXPECT_EQ(maybe_real_, value) << text;
  }
  for (const char* bad : {"0x10", "0x1p3", "nan", "inf", "-inf", "1_0", "1,5", "", " 1", "1 ",
                          "+-1", "1e", "1e999", "\xd9\xa1", "half"}) {
    EXPECT_THAT(Parse({"--real", bad, "w"}), HasSubstr("--real")) << bad;
  }
}

TEST_F(UsageTest, AListTakesOneValueAfterItsName) {
  EXPECT_EQ(Parse({"--list", "a", "w"}), "");
  EXPECT_THAT(list_, ElementsAre("a"));
  EXPECT_EQ(word_, "w");
  EXPECT_EQ(Parse({"w", "--list", "a", "--list", "b"}), "");
  EXPECT_THAT(list_, ElementsAre("a", "b"));
  const std::string refusal = Parse({"w", "--list", "a", "b"});
  EXPECT_THAT(refusal, HasSubstr("b; --list takes one value: write it before each"));
}

TEST_F(UsageTest, WhereThereAreNoWordsAListTakesAllThatFollow) {
  CLI::App program;
  program.add_option("--list", list_);
  ReadOptionsAsWritten(program);
  program.parse(std::vector<std::string>{"c", "b", "a", "--list"});
  EXPECT_THAT(list_, ElementsAre("a", "b", "c"));
}

}  // namespace
}  // namespace ostraka::cli::usage_test
