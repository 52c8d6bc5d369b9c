#include "node/config/data_places.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ostraka::config::data_places_test {
namespace {

const std::string kOne = "https://a.example/rows";
const std::string kTwo = "https://b.example/rows/";

protocol::Manifest Naming(std::vector<std::string> places) {
  protocol::Manifest manifest;
  manifest.training.data = "stream@" + std::string(64, '7');
  manifest.training.data_places = std::move(places);
  return manifest;
}

std::string RefusalOf(const std::vector<std::string>& places) {
  return base::MessageOf(CheckDataPlaces(Naming(places).training));
}

TEST(DataPlacesTest, WhichAManifestMayName) {
  EXPECT_TRUE(CheckDataPlaces(Naming({}).training).ok());
  EXPECT_TRUE(CheckDataPlaces(Naming({kOne, kTwo, "http://127.0.0.1:8000/x/"}).training).ok());
  EXPECT_NE(RefusalOf({kOne, kOne + "/"}).find("twice"), std::string::npos);
  EXPECT_NE(RefusalOf({"https://a.example/x,y"}).find("comma"), std::string::npos);
  EXPECT_NE(RefusalOf(std::vector<std::string>(9, kOne)).find("at most 8"), std::string::npos);
  // Attack: a long address pushes the others out of the line in which they are shown.
  EXPECT_NE(RefusalOf({"https://a.example/" + std::string(600, 'x')}).find("600 characters"),
            std::string::npos);
  EXPECT_FALSE(RefusalOf({"http://a.example/rows"}).empty());
  EXPECT_FALSE(RefusalOf({"/home/anna/rows"}).empty());
  EXPECT_FALSE(RefusalOf({""}).empty());
  protocol::Manifest digits = Naming({kOne});
  digits.training.data = "digits@" + std::string(64, '7');
  EXPECT_NE(base::MessageOf(CheckDataPlaces(digits.training)).find("[sources]"), std::string::npos);
}

TEST(DataPlacesTest, AddressesOfACommandLine) {
  EXPECT_EQ(AddressesOf("stream:/home/anna/rows," + kOne + "," + kTwo),
            (std::vector<std::string>{kOne, kTwo}));
  EXPECT_TRUE(AddressesOf("stream:/home/anna/rows").empty());
  EXPECT_TRUE(AddressesOf("text:" + kOne).empty());
}

// Attack: a manifest names a place, and whoever opens the run's link connects to it.
TEST(DataPlacesTest, NothingIsReadBeforeTheUserAgrees) {
  const auto refused = DataToRead(Naming({kOne, kTwo}), "", Agreement::kNo);
  ASSERT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  for (const std::string& word : {kOne, kTwo, std::string("--sources yes")}) {
    EXPECT_NE(base::MessageOf(refused.status()).find(word), std::string::npos) << word;
  }
  EXPECT_EQ(*DataToRead(Naming({kOne}), "stream:/own", Agreement::kNo), "stream:/own");
  EXPECT_EQ(*DataToRead(Naming({}), "", Agreement::kNo), "");
}

TEST(DataPlacesTest, ARefusalShowsThemAllInOneLine) {
  std::vector<std::string> places;
  for (int i = 0; i < 8; ++i) {
    places.push_back("https://a.example/" + std::string(53, 'x') + std::to_string(i));
  }
  ASSERT_TRUE(CheckDataPlaces(Naming(places).training).ok());
  const std::string line = base::MessageOf(DataToRead(Naming(places), "", Agreement::kNo).status());
  EXPECT_LT(line.size(), 980u) << "what a line is cut to, with the program's name";
  EXPECT_EQ(line.substr(line.size() - places.back().size()), places.back());
}

TEST(DataPlacesTest, OwnPlacesComeFirst) {
  EXPECT_EQ(*DataToRead(Naming({kOne, kTwo}), "", Agreement::kYes), "stream:" + kOne + "," + kTwo);
  EXPECT_EQ(*DataToRead(Naming({kOne}), "stream:/own", Agreement::kYes), "stream:/own," + kOne);
  EXPECT_EQ(*DataToRead(Naming({kOne, kTwo}), "stream:" + kTwo, Agreement::kPrivate),
            "stream:" + kTwo + "," + kOne);
  EXPECT_NE(base::MessageOf(DataToRead(Naming({}), "", Agreement::kYes).status())
                .find("names no sources"),
            std::string::npos);
  EXPECT_NE(base::MessageOf(DataToRead(Naming({kOne}), "text:book", Agreement::kYes).status())
                .find("chunks"),
            std::string::npos);
}

}  // namespace
}  // namespace ostraka::config::data_places_test
