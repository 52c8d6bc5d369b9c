#include "sim/setup/option_table.h"

#include <gtest/gtest.h>

#include <set>

namespace ostraka::sim::option_table_test {
namespace {

TEST(OptionTableTest, NamesAndFlagsAreUniqueAndEachFlagHasHelp) {
  std::set<std::string_view> names;
  std::set<std::string_view> flags;
  for (const SimOption& option : AllOptions()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_EQ(option.flag.empty(), option.help.empty()) << option.name;
    if (option.flag.empty()) continue;
    EXPECT_TRUE(flags.insert(option.flag).second) << option.flag;
    EXPECT_TRUE(option.flag.starts_with("--")) << option.flag;
    // The command line binds to a place.
    EXPECT_EQ(option.value.index(), 0u) << option.flag;
  }
}

// No two rows stand for one place, so a change of one option changes one row.
TEST(OptionTableTest, EachRowHasAPlaceOfItsOwn) {
  SimOptions options;
  std::set<const void*> places;
  for (const SimOption& option : AllOptions()) {
    if (option.value.index() != 0) continue;
    std::visit([&](const auto* value) { EXPECT_TRUE(places.insert(value).second) << option.name; },
               std::get<0>(option.value)(options));
  }
}

TEST(OptionTableTest, WhatIsWrittenIsReadAgain) {
  for (const SimOption& option : AllOptions()) {
    SimOptions options;
    const std::string text = WriteOption(option, options);
    EXPECT_TRUE(ReadOption(option, text, options)) << option.name << " " << text;
    EXPECT_EQ(options, SimOptions()) << option.name;
  }
}

TEST(OptionTableTest, WhatIsNoValueIsRefused) {
  for (const SimOption& option : AllOptions()) {
    SimOptions options;
    const bool is_word = option.name == "attack" || option.name == "cut" || option.name == "model";
    EXPECT_EQ(ReadOption(option, "no such value", options), is_word) << option.name;
  }
}

}  // namespace
}  // namespace ostraka::sim::option_table_test
