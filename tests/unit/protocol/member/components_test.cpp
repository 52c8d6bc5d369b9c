#include "node/protocol/member/components.h"

#include "tests/unit/protocol/member/member_fixture.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::components_test {
namespace {

using scene::kMemberCount;
using scene::MemberTest;

class ComponentsTest : public MemberTest {
 protected:
  PeerOptions OptionsOf(std::uint32_t self, std::uint64_t floats) const {
    return {manifest_,
            keys_[self],
            verifier_,
            {{"w", {floats}}},
            std::make_shared<const std::vector<float>>(floats, 0.25F)};
  }
};

TEST_F(ComponentsTest, FirstHeadHoldsTheMembersOfTheManifestAndIsUndecided) {
  const Block& head = components().chain.head();
  EXPECT_TRUE(head.genesis);
  EXPECT_TRUE(head.decision.is_zero());
  EXPECT_EQ(head.members, Members());
  EXPECT_EQ(head.thresholds, GenesisThresholds(*manifest_));
  EXPECT_EQ(head.delta_us, 1'000'000u);
  components().CheckInvariants();
}

TEST_F(ComponentsTest, FirstTauIsTheManifestsOrThatOfTheAutomaticOne) {
  EXPECT_EQ(components().chain.head().tau, manifest_->tau_initial);
  Manifest fixed = *manifest_;
  fixed.tau = 3;
  PeerOptions options = OptionsOf(0, 40);
  options.manifest = std::make_shared<const Manifest>(fixed);
  EXPECT_EQ(Components(options).chain.head().tau, 3);
}

TEST_F(ComponentsTest, VelocityIsZeroUnlessItIsGiven) {
  PeerOptions options = OptionsOf(0, 40);
  const auto given = std::make_shared<const std::vector<float>>(40, 2.0F);
  EXPECT_EQ(VelocityOf(Components(options).chain.state())->at(7), 0.0F);
  options = OptionsOf(0, 40);
  options.initial_slots = {{"velocity", given}};
  const Components components(options);
  EXPECT_EQ(VelocityOf(components.chain.state()), given);
  EXPECT_EQ(components.chain.state().parameters->at(7), 0.25F);
}

TEST_F(ComponentsTest, EachPartHasAtLeastTwoFloats) {
  PeerOptions enough = OptionsOf(0, 2 * kMemberCount);
  EXPECT_EQ(Components(enough).self, IdOf(0));
  PeerOptions few = OptionsOf(0, 2 * kMemberCount - 1);
  EXPECT_DEATH(Components{few}, "CHECK");
}

TEST_F(ComponentsTest, KeyThatIsNoMembersHasNoComponents) {
  PeerOptions stranger = OptionsOf(scene::kStranger, 40);
  EXPECT_DEATH(Components{stranger}, "CHECK");
}

}  // namespace
}  // namespace ostraka::protocol::components_test
