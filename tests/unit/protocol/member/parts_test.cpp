#include "node/protocol/member/parts.h"

#include "tests/unit/protocol/member/member_fixture.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::parts_test {
namespace {

using scene::kMemberCount;
using scene::MemberTest;

class PartsTest : public MemberTest {
 protected:
  PeerOptions OptionsOf(std::uint32_t self, std::uint64_t floats) const {
    return {manifest_,
            keys_[self],
            verifier_,
            {{"w", {floats}}},
            std::make_shared<const std::vector<float>>(floats, 0.25F)};
  }
};

TEST_F(PartsTest, FirstHeadHoldsTheMembersOfTheManifestAndIsUndecided) {
  const Block& head = parts().chain.head();
  EXPECT_TRUE(head.genesis);
  EXPECT_TRUE(head.decision.is_zero());
  EXPECT_EQ(head.members, Members());
  EXPECT_EQ(head.thresholds, GenesisThresholds(*manifest_));
  EXPECT_EQ(head.delta_us, 1'000'000u);
  parts().CheckInvariants();
}

TEST_F(PartsTest, FirstTauIsTheManifestsOrThatOfTheAutomaticOne) {
  EXPECT_EQ(parts().chain.head().tau, manifest_->tau_initial);
  Manifest fixed = *manifest_;
  fixed.tau = 3;
  PeerOptions options = OptionsOf(0, 40);
  options.manifest = std::make_shared<const Manifest>(fixed);
  EXPECT_EQ(Parts(options).chain.head().tau, 3);
}

TEST_F(PartsTest, VelocityIsZeroUnlessItIsGiven) {
  PeerOptions options = OptionsOf(0, 40);
  const auto given = std::make_shared<const std::vector<float>>(40, 2.0F);
  EXPECT_EQ(VelocityOf(Parts(options).chain.state())->at(7), 0.0F);
  options = OptionsOf(0, 40);
  options.initial_slots = {{"velocity", given}};
  const Parts parts(options);
  EXPECT_EQ(VelocityOf(parts.chain.state()), given);
  EXPECT_EQ(parts.chain.state().parameters->at(7), 0.25F);
}

TEST_F(PartsTest, EachPartHasAtLeastTwoFloats) {
  PeerOptions enough = OptionsOf(0, 2 * kMemberCount);
  EXPECT_EQ(Parts(enough).self, IdOf(0));
  PeerOptions few = OptionsOf(0, 2 * kMemberCount - 1);
  EXPECT_DEATH(Parts{few}, "CHECK");
}

TEST_F(PartsTest, KeyThatIsNoMembersHasNoParts) {
  PeerOptions stranger = OptionsOf(scene::kStranger, 40);
  EXPECT_DEATH(Parts{stranger}, "CHECK");
}

}  // namespace
}  // namespace ostraka::protocol::parts_test
