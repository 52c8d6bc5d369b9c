#include "node/protocol/seal/inside/echoes.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/seal/inside/parts_fixture.h"

namespace ostraka::protocol::echoes_test {
namespace {

using parts::AllFive;
using parts::At;
using parts::FiveMembers;
using parts::Without;
using scene::DigestOf;
using scene::PeerNumber;

TEST(SealEchoesTest, TheWaitEndsOnceAndTheOwnEchoIsSentOnce) {
  const SealSetup setup(FiveMembers());
  SealEchoes echoes(setup);
  EXPECT_TRUE(echoes.EndWait(At(10)));
  EXPECT_FALSE(echoes.EndWait(At(20)));
  EXPECT_EQ(echoes.wait_ended_at(), At(10));
  EXPECT_EQ(echoes.sent_at(), std::nullopt);
  echoes.Send(At(10), DigestOf(5));
  EXPECT_EQ(echoes.own_value(), DigestOf(5));
  EXPECT_TRUE(echoes.own_vector_known());
  EXPECT_FALSE(echoes.Recall(At(30), DigestOf(6)));
  EXPECT_EQ(echoes.own_value(), DigestOf(5));
}

TEST(SealEchoesTest, AnEchoFromBeforeARestartIsTheOwnOneThoughItsVectorIsUnknown) {
  const SealSetup setup(FiveMembers());
  SealEchoes echoes(setup);
  EXPECT_TRUE(echoes.Recall(At(30), DigestOf(6)));
  EXPECT_EQ(echoes.wait_ended_at(), At(30));
  EXPECT_EQ(echoes.sent_at(), At(30));
  EXPECT_FALSE(echoes.own_vector_known());
  echoes.KnowOwnVector();
  EXPECT_TRUE(echoes.own_vector_known());
  EXPECT_FALSE(echoes.EndWait(At(40)));
}

TEST(SealEchoesTest, TheFirstEchoOfAMemberCountsAndItsLagRunsFromTheOwnEcho) {
  const SealSetup setup(FiveMembers());
  SealEchoes echoes(setup);
  EXPECT_TRUE(echoes.Add(PeerNumber(1), EchoOf(AllFive()), At(5)));
  echoes.EndWait(At(10));
  echoes.Send(At(10), EchoOf(AllFive()).vector);
  EXPECT_TRUE(echoes.Add(PeerNumber(0), EchoOf(AllFive()), At(12)));
  EXPECT_TRUE(echoes.Add(PeerNumber(2), EchoOf(Without(3)), At(260)));
  EXPECT_FALSE(echoes.Add(PeerNumber(2), EchoOf(AllFive()), At(300)));
  EXPECT_EQ(echoes.all().at(PeerNumber(2)).body.vector, EchoOf(Without(3)).vector);
  EXPECT_EQ(echoes.lags(), (std::map<PeerId, base::Duration>{
                               {PeerNumber(1), {}}, {PeerNumber(2), base::Milliseconds(250)}}));
}

TEST(SealEchoesTest, MembersWithoutAnEchoAreSilentButMutedOnesAreNot) {
  SealOptions options = FiveMembers();
  options.muted_members = {PeerNumber(4)};
  const SealSetup setup(options);
  SealEchoes echoes(setup);
  echoes.Add(PeerNumber(1), EchoOf(AllFive()), At(5));
  EXPECT_TRUE(echoes.silent().empty());
  echoes.NameSilent();
  EXPECT_EQ(echoes.silent(), (std::set<PeerId>{PeerNumber(2), PeerNumber(3)}));
}

TEST(SealEchoesDeathTest, AMutedMemberSendsNone) {
  SealOptions options = FiveMembers();
  options.self = PeerNumber(9);
  const SealSetup setup(options);
  SealEchoes echoes(setup);
  echoes.EndWait(At(0));
  EXPECT_DEATH(echoes.Send(At(0), DigestOf(1)), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::protocol::echoes_test
