#include "node/protocol/lasting/charges.h"

#include <gtest/gtest.h>

#include <string>

#include "node/wire/limits.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::charges_test {
namespace {

using scene::KeyNumber;

class ChargesTest : public testing::Test {
 protected:
  ChargesTest() {
    turn_.Begin(Time{}, out_);
    auto manifest = std::make_shared<Manifest>();
    for (std::uint32_t i = 0; i < 40; ++i) manifest->members.push_back({.id = IdOf(i)});
    charges_.emplace(IdOf(0), std::move(manifest), journal_);
  }
  static PeerId IdOf(std::uint32_t number) { return KeyNumber(number)->id(); }
  std::size_t FilesStored() {
    std::size_t stored = 0;
    for (const Action& action : out_.actions()) {
      const auto* store = std::get_if<Store>(&action);
      if (store != nullptr && store->records[0].kind == RecordKind::kEvidence) ++stored;
    }
    out_.actions().clear();
    return stored;
  }

  Outbox out_;
  Turn turn_;
  Journal journal_{KeyNumber(0), turn_};
  std::optional<Charges> charges_;
};

TEST_F(ChargesTest, ShownFileIsStoredOnceAndStaysInEveryProofUntilTheBan) {
  charges_->Show(IdOf(1), Bytes{1});
  charges_->Show(IdOf(1), Bytes{2});
  EXPECT_EQ(FilesStored(), 1u);
  EXPECT_EQ(charges_->ForProof(), (std::vector<Bytes>{{1}}));
  EXPECT_EQ(charges_->ForProof(), (std::vector<Bytes>{{1}}));
  EXPECT_TRUE(charges_->Against(IdOf(1)));
  charges_->OnBan(IdOf(1));
  EXPECT_TRUE(charges_->ForProof().empty());
}

TEST_F(ChargesTest, NoFileIsMadeAgainstTheOwnKey) {
  charges_->Show(IdOf(0), Bytes{1});
  EXPECT_EQ(FilesStored(), 0u);
  EXPECT_TRUE(charges_->ForProof().empty());
  charges_->CheckInvariants();
}

TEST_F(ChargesTest, FileThatNoProofCanCarryIsStoredAndDoesNotShieldItsMaker) {
  charges_->Show(IdOf(1), Bytes(wire::kMaxEvidenceBytes + 1, 7));
  EXPECT_EQ(FilesStored(), 1u);
  EXPECT_FALSE(charges_->Against(IdOf(1)));
  charges_->Show(IdOf(1), Bytes{1});
  EXPECT_EQ(charges_->ForProof(), (std::vector<Bytes>{{1}}));
}

TEST_F(ChargesTest, FaultWithoutAFileStoresNothing) {
  charges_->Keep(base::InvalidArgument("no file"));
  charges_->Show(IdOf(1), base::InvalidArgument("no file"));
  EXPECT_EQ(FilesStored(), 0u);
  EXPECT_FALSE(charges_->Against(IdOf(1)));
}

TEST_F(ChargesTest, ProofCarriesNoMoreFilesThanItsLimit) {
  for (std::uint32_t i = 1; i < 40; ++i) charges_->Show(IdOf(i), Bytes{1});
  EXPECT_EQ(charges_->ForProof().size(), std::min<std::size_t>(39, wire::kMaxInlineEvidence));
  charges_->CheckInvariants();
}

}  // namespace
}  // namespace ostraka::protocol::charges_test
