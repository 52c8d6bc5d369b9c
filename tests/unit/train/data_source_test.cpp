#include "node/train/data_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/train/digest_of.h"
#include "tests/unit/train/image_files.h"

namespace ostraka::train::data_source_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DataSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "ostraka-data-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    dir_ = name;
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string File(const std::string& name) const { return dir_ + "/" + name; }
  // The error line of an attempt that must fail.
  std::string Error(const DataSource& source, absl::StatusCode code) {
    const auto data = LoadDataset(source);
    EXPECT_EQ(data.status().code(), code) << data.status().ToString();
    std::string message = base::MessageOf(data.status());
    EXPECT_THAT(message, Not(HasSubstr("\n")));
    return message;
  }
  std::string Invalid(const DataSource& source) {
    return Error(source, absl::StatusCode::kInvalidArgument);
  }

  std::string dir_;
};

// --- names --------------------------------------------------------------------------------------

TEST(DataId, GoesToTextAndBack) {
  const DataId mnist{.name = "mnist", .hash = SeedOf(7)};
  EXPECT_EQ(TextOf(mnist), "mnist@" + SeedOf(7).Hex());
  EXPECT_EQ(ParseDataId(TextOf(mnist)).value(), mnist);
  const DataId toy{.name = "toy", .hash = {}};
  EXPECT_EQ(TextOf(toy), "toy");
  EXPECT_EQ(ParseDataId("toy").value(), toy);
}

TEST(DataId, WithoutItsHashItIsRefused) {
  const std::string hex = SeedOf(7).Hex();
  for (const std::string& text :
       {std::string("digits"), std::string("mnist@"), "mnist@" + hex.substr(1),
        "mnist@" + hex + "0", "mnist@" + std::string(64, '0'), "mnist@" + std::string(64, 'g'),
        "toy@" + hex}) {
    const auto id = ParseDataId(text);
    EXPECT_EQ(id.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(base::MessageOf(id.status()), AllOf(HasSubstr(text), HasSubstr("run init")));
  }
  EXPECT_EQ(base::MessageOf(ParseDataId("imagenet@" + hex).status()),
            "unknown data 'imagenet'; known: toy digits mnist cifar10 text tokens examples stream");
}

TEST(DataSource, IsANameWithAFolderForDataInFiles) {
  EXPECT_EQ(ParseDataSource("digits").value(), (DataSource{"digits", ""}));
  EXPECT_EQ(ParseDataSource("mnist:/a:b/c").value(), (DataSource{"mnist", "/a:b/c"}));
  const auto message = [](const char* text) {
    const auto source = ParseDataSource(text);
    EXPECT_EQ(source.status().code(), absl::StatusCode::kInvalidArgument);
    return base::MessageOf(source.status());
  };
  EXPECT_THAT(message("mnist"), HasSubstr("mnist:DIR"));
  EXPECT_THAT(message("cifar10:"), HasSubstr("cifar10:DIR"));
  EXPECT_THAT(message("digits:/x"), HasSubstr("without a folder"));
  EXPECT_THAT(message("text"), HasSubstr("text:FILE"));
  EXPECT_THAT(message("texts:/x"), StartsWith("unknown data 'texts'"));
}

// --- mnist --------------------------------------------------------------------------------------

TEST_F(DataSourceTest, ReadsMnist) {
  WriteMnist(dir_, 200, 30, 6);
  const Dataset data = LoadDataset({"mnist", dir_}).value();
  EXPECT_EQ(data.shape, (ImageShape{1, 6, 6}));
  EXPECT_EQ(data.class_count, 10u);
  EXPECT_EQ(data.max_value, 255);
  EXPECT_EQ(data.training.size(), 180u);
  EXPECT_EQ(data.validation.size(), 20u);  // a tenth of each class
  EXPECT_EQ(data.test.size(), 30u);
  EXPECT_EQ(data.test.labels, RoundLabels(30));
  EXPECT_EQ(data.test.values, RandomBytes(3, 30 * 36));
}

TEST_F(DataSourceTest, CompressedAndRenamedFilesAreTheSameData) {
  WriteMnist(dir_ + "/plain", 200, 30, 6);
  const base::Digest plain = HashOf(LoadDataset({"mnist", dir_ + "/plain"}).value());
  const std::string other = dir_ + "/other";
  fs::create_directories(other);
  const auto images = [](std::uint32_t count, std::uint64_t seed) {
    return Idx({count, 6, 6}, RandomBytes(seed, count * 36));
  };
  WriteBytes(other + "/train-images-idx3-ubyte.gz", Gzipped(images(200, 2)));
  WriteBytes(other + "/train-labels.idx1-ubyte", Idx({200}, RoundLabels(200)));
  WriteBytes(other + "/t10k-images.idx3-ubyte.gz", Gzipped(images(30, 3)));
  WriteBytes(other + "/t10k-labels-idx1-ubyte.gz", Gzipped(Idx({30}, RoundLabels(30))));
  EXPECT_EQ(HashOf(LoadDataset({"mnist", other}).value()), plain);
}

TEST_F(DataSourceTest, EveryErrorNamesItsFile) {
  const auto fresh = [this] { WriteMnist(dir_, 20, 10, 6); };
  const DataSource mnist{"mnist", dir_};
  fresh();
  WriteBytes(File("train-labels-idx1-ubyte"), Idx({20, 4, 4}, base::Bytes(320)));
  EXPECT_EQ(Invalid(mnist), File("train-labels-idx1-ubyte") +
                                ": wrong magic number 2051, IDX labels of bytes have 2049");
  fresh();
  fs::resize_file(File("t10k-images-idx3-ubyte"), 100);
  EXPECT_EQ(Invalid(mnist),
            File("t10k-images-idx3-ubyte") + ": cut short: 84 bytes of data, its header says 360");
  fresh();
  WriteBytes(File("t10k-labels-idx1-ubyte"), Idx({10}, base::Bytes(10, 77)));
  EXPECT_EQ(Invalid(mnist),
            File("t10k-labels-idx1-ubyte") + ": label 77 of image 0 is out of range: 0 to 9");
  fresh();
  WriteBytes(File("t10k-labels-idx1-ubyte"), Idx({9}, base::Bytes(9, 0)));
  EXPECT_EQ(Invalid(mnist), File("t10k-labels-idx1-ubyte") + ": 9 labels for the 10 images of " +
                                File("t10k-images-idx3-ubyte"));
  fresh();
  WriteBytes(File("t10k-images-idx3-ubyte"), Idx({10, 6, 7}, base::Bytes(420)));
  EXPECT_EQ(Invalid(mnist), File("t10k-images-idx3-ubyte") + ": its images are 6 x 7, those of " +
                                File("train-images-idx3-ubyte") + " are not");
  fresh();
  fs::remove(File("train-images-idx3-ubyte"));
  base::Bytes cut = Gzipped(Idx({20, 6, 6}, RandomBytes(2, 720)));
  cut.resize(cut.size() / 2);
  WriteBytes(File("train-images-idx3-ubyte.gz"), cut);
  EXPECT_EQ(Invalid(mnist), File("train-images-idx3-ubyte.gz") + ": gzip: cut short");
}

TEST_F(DataSourceTest, AMissingFileIsNamed) {
  WriteMnist(dir_, 20, 10, 6);
  fs::remove(File("t10k-labels-idx1-ubyte"));
  EXPECT_THAT(Error({"mnist", dir_}, absl::StatusCode::kNotFound),
              AllOf(StartsWith(File("t10k-labels-idx1-ubyte") + " is not there"),
                    HasSubstr("give the folder")));
  EXPECT_THAT(Error({"mnist", dir_ + "/none"}, absl::StatusCode::kNotFound),
              StartsWith(dir_ + "/none does not exist: give the folder"));
  EXPECT_THAT(Error({"mnist", File("train-images-idx3-ubyte")}, absl::StatusCode::kNotFound),
              HasSubstr("train-images-idx3-ubyte is no folder"));
  EXPECT_THAT(Error({"mnist", ""}, absl::StatusCode::kFailedPrecondition),
              HasSubstr("--data mnist:DIR"));
}

// --- cifar10 ------------------------------------------------------------------------------------

TEST_F(DataSourceTest, ReadsCifar10) {
  WriteCifar10(dir_, 20);
  const Dataset data = LoadDataset({"cifar10", dir_}).value();
  EXPECT_EQ(data.shape, (ImageShape{3, 32, 32}));
  EXPECT_EQ(data.training.size(), 90u);
  EXPECT_EQ(data.validation.size(), 10u);
  EXPECT_EQ(data.test.size(), 20u);
  const base::Bytes test = CifarBatch(9, 20);
  EXPECT_EQ(data.test.values[0], test[1]);
}

TEST_F(DataSourceTest, CifarErrorsNameTheirFile) {
  WriteCifar10(dir_, 20);
  fs::resize_file(File("data_batch_4.bin"), 20 * 3073 - 1);
  EXPECT_THAT(Invalid({"cifar10", dir_}), StartsWith(File("data_batch_4.bin") + ": 61459 bytes"));
  fs::remove(File("data_batch_4.bin"));
  EXPECT_THAT(Error({"cifar10", dir_}, absl::StatusCode::kNotFound),
              StartsWith(File("data_batch_4.bin") + " is not there"));
}

// --- text ---------------------------------------------------------------------------------------

TEST_F(DataSourceTest, ReadsATextCompressedOrNot) {
  const base::Bytes text = RandomBytes(1, 3000, 40);
  WriteBytes(File("a.txt"), text);
  WriteBytes(File("a.gz"), Gzipped(text));
  const Dataset data = LoadDataset({"text", File("a.txt")}).value();
  EXPECT_EQ(data.class_count, 40u);
  EXPECT_EQ(data.max_value, kSymbols);
  EXPECT_EQ(HashOf(LoadDataset({"text", File("a.gz")}).value()), HashOf(data));
}

TEST_F(DataSourceTest, TextErrorsNameTheirFile) {
  EXPECT_THAT(Error({"text", File("none")}, absl::StatusCode::kNotFound),
              AllOf(StartsWith(File("none") + " does not exist"), HasSubstr("give the path")));
  EXPECT_THAT(Error({"text", dir_}, absl::StatusCode::kNotFound), HasSubstr("is a folder"));
  EXPECT_THAT(Error({"text", ""}, absl::StatusCode::kFailedPrecondition),
              HasSubstr("--data text:FILE"));
  WriteBytes(File("empty"), {});
  for (const char* name : {"text", "tokens"}) {
    EXPECT_THAT(Invalid({name, File("empty"), 64}), StartsWith(File("empty") + " is empty"));
  }
  WriteBytes(File("short"), base::Bytes(10));
  EXPECT_THAT(Invalid({"text", File("short")}), StartsWith(File("short") + ": too short"));
  WriteBytes(File("long"), {});
  fs::resize_file(File("long"), (std::uintmax_t{32} << 20) + 1);
  EXPECT_EQ(Invalid({"text", File("long")}), File("long") + ": larger than 32 MiB");
}

// --- the same data as the others ----------------------------------------------------------------

TEST_F(DataSourceTest, OtherDataIsRefusedWithTheReason) {
  WriteMnist(dir_ + "/mine", 200, 30, 6, 1);
  WriteMnist(dir_ + "/theirs", 200, 30, 6, 2);
  const base::Digest theirs = HashOf(LoadDataset({"mnist", dir_ + "/theirs"}).value());
  EXPECT_TRUE(LoadDatasetOf({"mnist", dir_ + "/theirs"}, theirs).ok());
  EXPECT_TRUE(LoadDatasetOf({"mnist", dir_ + "/mine"}, {}).ok());
  const auto refused = LoadDatasetOf({"mnist", dir_ + "/mine"}, theirs);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(base::MessageOf(refused.status()),
              AllOf(HasSubstr("the run trains on mnist of hash " + theirs.Short()),
                    HasSubstr(dir_ + "/mine"), HasSubstr("get theirs"), Not(HasSubstr("\n"))));
  EXPECT_THAT(base::MessageOf(LoadDatasetOf({"digits", ""}, theirs).status()),
              HasSubstr("of another version"));
}

TEST_F(DataSourceTest, OneWrongPixelChangesTheData) {
  WriteMnist(dir_, 200, 30, 6);
  const base::Digest right = HashOf(LoadDataset({"mnist", dir_}).value());
  base::Bytes images = Idx({200, 6, 6}, RandomBytes(2, 200 * 36));
  images.back() ^= 1;
  WriteBytes(File("train-images-idx3-ubyte"), images);
  EXPECT_FALSE(LoadDatasetOf({"mnist", dir_}, right).ok());
}

}  // namespace
}  // namespace ostraka::train::data_source_test
