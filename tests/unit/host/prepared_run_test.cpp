// What a run is prepared from, and what is refused before it needs a network.
#include "node/host/prepared_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "node/protocol/ground/invite.h"
#include "node/protocol/rules/recomputing.h"
#include "tests/unit/host/members.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::host::prepared_run_test {
namespace {

using ::testing::HasSubstr;

class PreparedRunTest : public os::TempFolderTest {
 protected:
  void SetUp() override {
    TempFolderTest::SetUp();
    run_.emplace(dir_, 3, 4);
  }
  Member& member() { return run_->members()[1]; }
  std::string RefusalOf(RunOptions options) {
    const auto prepared = Prepare(std::move(options));
    EXPECT_FALSE(prepared.ok());
    return prepared.ok() ? "" : base::MessageOf(prepared.status());
  }

  std::optional<TestRun> run_;
};

TEST_F(PreparedRunTest, HasWhatTheManifestAndTheFolderSay) {
  RunOptions options = run_->OptionsOf(member());
  options.network.addresses = {{run_->members()[0].key->id(), "127.0.0.1:7"}};
  options.network.max_bytes_per_second = 1'000'000;
  options.states = {.evaluate_on = train::HeldOut::kValidation,
                    .evaluate_every = 3,
                    .checkpoint_every = 5,
                    .keep_checkpoints = 2};
  options.recording.folder = dir_ + "/recordings";
  const auto prepared = Prepare(std::move(options));
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  const protocol::Manifest& manifest = *run_->manifest();
  const NodeOptions& node = prepared->node;
  EXPECT_EQ(prepared->self, member().key->id());
  EXPECT_EQ(base::ElementCount(prepared->layout), manifest.training.hidden);
  EXPECT_TRUE(prepared->listen_socket.ok());
  EXPECT_EQ(node.coin_seed, crypto::CoinSeed(*member().key, manifest.run_id));
  EXPECT_EQ(node.restored, nullptr) << "the folder is new";
  EXPECT_EQ(node.transport.run_id, manifest.run_id);
  EXPECT_EQ(node.transport.listen, "") << "it has a socket";
  EXPECT_EQ(node.transport.max_bytes_per_second, 1'000'000u);
  EXPECT_GE(node.transport.max_blob_bytes, 65'536u) << "a block";
  ASSERT_EQ(node.transport.members.size(), manifest.members.size());
  for (std::size_t i = 0; i < manifest.members.size(); ++i) {
    const bool moved = manifest.members[i].id == run_->members()[0].key->id();
    EXPECT_EQ(node.transport.members[i].address,
              moved ? "127.0.0.1:7" : manifest.members[i].address);
  }
  EXPECT_EQ(node.evaluate_every, 3u);
  ASSERT_NE(node.recording, nullptr);
  EXPECT_TRUE(node.recording->path().starts_with(dir_ + "/recordings/"));
  ASSERT_TRUE(node.states.has_value());
  EXPECT_EQ(node.states->data_dir, member().data_dir);
  EXPECT_EQ(node.states->every, 5u);
  EXPECT_EQ(node.states->keep, 2u);
  EXPECT_EQ(node.states->metadata.at("run_id"), manifest.run_id.Hex());
  EXPECT_EQ(node.states->metadata.at("model"), "toy");
}

// A stop that gave up before seal C may end cost its node the place.
TEST_F(PreparedRunTest, AStopWaitsAsLongAsAStepInWhichMembersVote) {
  const auto prepared = Prepare(run_->OptionsOf(member()));
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  const protocol::Manifest& manifest = *run_->manifest();
  wire::Block head;
  head.step = 5;
  head.delta_us = 1'000'000;
  const base::Duration quiet = prepared->node.waits(head).step;
  wire::Case& open = head.cases.emplace_back();
  open.id.kind = wire::CaseKind::kGradient;
  open.opened_step = head.step;
  EXPECT_EQ(prepared->node.waits(head).step, quiet + protocol::CaseTimeAfter(head, manifest));
}

TEST_F(PreparedRunTest, ListensAtItsOwnAddressUnlessTold) {
  RunOptions options = run_->OptionsOf(member());
  options.network.listen_socket = os::Descriptor(-1);
  const std::string own = "127.0.0.1:" + std::to_string(member().socket.port);
  auto prepared = Prepare(std::move(options));
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ(prepared->node.transport.listen, own);
}

TEST_F(PreparedRunTest, ListensOnEveryAddressIfOthersDialOneOfAnotherNetwork) {
  protocol::Manifest far = *run_->manifest();
  for (protocol::Member& each : far.members) each.address = "node.example.org:7000";
  const auto listening = [&](const std::string& told) {
    RunOptions options = run_->OptionsOf(member());
    options.manifest = std::make_shared<const protocol::Manifest>(far);
    options.network.listen_socket = os::Descriptor(-1);
    options.network.listen = told;
    const auto prepared = Prepare(std::move(options));
    return prepared.ok() ? prepared->node.transport.listen : base::MessageOf(prepared.status());
  };
  EXPECT_EQ(listening(""), "*:7000");
  EXPECT_EQ(listening("127.0.0.1:7001"), "127.0.0.1:7001");
}

TEST_F(PreparedRunTest, MakesTheMachineThatTheCallerWants) {
  int made = 0;
  RunOptions options = run_->OptionsOf(member());
  options.machine =
      [&](const MachineMaker& honest,
          const base::TensorLayout& layout) -> base::StatusOr<std::unique_ptr<protocol::Machine>> {
    EXPECT_EQ(base::ElementCount(layout), 64u);
    made = 2;
    EXPECT_NE(honest(), nullptr);
    return honest();
  };
  EXPECT_TRUE(Prepare(std::move(options)).ok());
  EXPECT_EQ(made, 2);
  options = run_->OptionsOf(member());
  options.machine =
      [](const MachineMaker&,
         const base::TensorLayout&) -> base::StatusOr<std::unique_ptr<protocol::Machine>> {
    return base::InvalidArgument("no such attack");
  };
  EXPECT_EQ(RefusalOf(std::move(options)), "no such attack");
}

TEST_F(PreparedRunTest, RefusesWhatDoesNotFitTheRun) {
  RunOptions options = run_->OptionsOf(member());
  options.network.addresses = {{base::PeerId{}, "127.0.0.1:7"}};
  EXPECT_THAT(RefusalOf(std::move(options)), HasSubstr("no member"));
  options = run_->OptionsOf(member());
  options.files.origin = dir_ + "/state";
  EXPECT_THAT(RefusalOf(std::move(options)), HasSubstr("parameters of its own"));
  options = run_->OptionsOf(member());
  options.files.data = "digits";
  EXPECT_THAT(RefusalOf(std::move(options)), HasSubstr("the run trains on toy"));
  protocol::Manifest small = *run_->manifest();
  small.training.hidden = 7;
  options = run_->OptionsOf(member());
  options.manifest = std::make_shared<const protocol::Manifest>(small);
  EXPECT_THAT(RefusalOf(std::move(options)), HasSubstr("at least two for each member"));
  options = run_->OptionsOf(member());
  options.files.lock_folders = {};
  EXPECT_FALSE(RefusalOf(std::move(options)).empty()) << "a key that cannot be locked";
  EXPECT_FALSE(std::filesystem::exists(member().data_dir)) << "nothing is left behind";
}

// A key that the manifest does not name, of a run with this plan.
class ComingTest : public PreparedRunTest {
 protected:
  RunOptions Comer(const protocol::JoinPlan& join) {
    manifest_ = *run_->manifest();
    manifest_.join = join;
    RunOptions options = run_->OptionsOf(member());
    options.manifest = std::make_shared<const protocol::Manifest>(manifest_);
    options.key = comer_;
    options.files.data_dir = dir_ + "/comer";
    options.network.listen_socket = os::Descriptor(-1);
    return options;
  }
  wire::Credential Invited(const crypto::SigningKey& by, std::uint32_t uses = 1) const {
    const wire::Invite invite{by.id(), holder_->id(), uses, 10};
    return protocol::UseInvite(manifest_.run_id, invite,
                               protocol::SignInvite(manifest_.run_id, invite, by), *holder_,
                               comer_->id());
  }
  static std::shared_ptr<const crypto::SigningKey> Key(std::uint8_t fill) {
    return std::make_shared<const crypto::SigningKey>(
        crypto::SigningKey::FromSeed(base::Bytes(crypto::SigningKey::kSeedSize, fill)));
  }

  const std::shared_ptr<const crypto::SigningKey> comer_ = Key(71), moderator_ = Key(72);
  const std::shared_ptr<const crypto::SigningKey> holder_ = Key(73);
  const protocol::JoinPlan by_invite_{protocol::JoinPolicy::kInvite, {}, {moderator_->id()}, 2, 6};
  protocol::Manifest manifest_;
};

TEST_F(ComingTest, IsRefusedInOneLineThatSaysWhatToAskFor) {
  EXPECT_THAT(RefusalOf(Comer({})), HasSubstr("which is closed: ask for a manifest"));
  EXPECT_THAT(RefusalOf(Comer({protocol::JoinPolicy::kAllowlist, {Key(9)->id()}, {}, 1, 6})),
              HasSubstr("not in the list"));
  EXPECT_THAT(RefusalOf(Comer(by_invite_)), HasSubstr("needs an invite: ask a moderator"));
  RunOptions options = Comer(by_invite_);
  options.credential = Invited(*Key(9));
  EXPECT_THAT(RefusalOf(std::move(options)), HasSubstr("no moderator of this run"));
  options = Comer(by_invite_);
  options.credential = Invited(*moderator_);
  options.credential->invite.uses = 2;
  EXPECT_THAT(RefusalOf(std::move(options)), HasSubstr("not as its moderator signed it"));
  options = Comer(by_invite_);
  options.credential = Invited(*moderator_);
  options.unprotected = true;
  EXPECT_THAT(RefusalOf(std::move(options)), HasSubstr("unprotected"));
}

TEST_F(ComingTest, ByAnInviteOrTheListItMayAsk) {
  {
    RunOptions options = Comer(by_invite_);
    options.credential = Invited(*moderator_);
    const auto prepared = Prepare(std::move(options));
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    EXPECT_EQ(prepared->node.transport.strangers, 32u);
    EXPECT_EQ(prepared->node.transport.members.size(), 4u);
    EXPECT_EQ(prepared->node.transport.listen, "") << "nobody told it to listen";
  }
  EXPECT_TRUE(Prepare(Comer({protocol::JoinPolicy::kAllowlist, {comer_->id()}, {}, 1, 6})).ok());
  RunOptions member_options = run_->OptionsOf(member());
  const auto closed = Prepare(std::move(member_options));
  ASSERT_TRUE(closed.ok()) << closed.status();
  EXPECT_EQ(closed->node.transport.strangers, 0u);
}

TEST_F(PreparedRunTest, RefusesAFolderOfAnotherKey) {
  {
    const auto first = Prepare(run_->OptionsOf(member()));
    ASSERT_TRUE(first.ok()) << first.status();
  }
  RunOptions options = run_->OptionsOf(run_->members()[2]);
  options.files.data_dir = member().data_dir;
  EXPECT_THAT(RefusalOf(std::move(options)), HasSubstr("belongs to the key of"));
  EXPECT_TRUE(Prepare(run_->OptionsOf(member())).ok()) << "its own is free again";
}

}  // namespace
}  // namespace ostraka::host::prepared_run_test
