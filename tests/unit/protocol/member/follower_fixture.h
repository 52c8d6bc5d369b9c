// A member that is away and follows the run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node/protocol/ground/invite.h"
#include "node/protocol/member/follower.h"
#include "tests/unit/protocol/member/member_fixture.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol::scene {

inline constexpr std::uint64_t kHeight = kStep;  // of the head: the block of step kStep - 1

// A member that is away, after the block of step kStep - 1.
class FollowerTest : public MemberTest {
 protected:
  explicit FollowerTest(
      std::uint32_t self = kSelf, const std::function<void(Manifest&)>& edit = [](Manifest&) {},
      bool invited = false)
      : MemberTest(self, edit), invited_(invited) {
    SetHead(HeadBlock());
    for (std::uint32_t i = 1; i < kMemberCount; ++i) components().post.OnLink(IdOf(i), true);
  }
  ~FollowerTest() override { follower_.CheckInvariants(); }

  const base::TensorLayout& layout() const { return components().layout; }
  // The block after the head, without columns.
  Block NextBlock() const {
    Block next = components().chain.head();
    next.previous = wire::BlockDigest(next);
    ++next.step;
    next.decision = DigestOf(4000 + next.step);
    return next;
  }
  // Members 1 and 2, more than can lie, sign COMMITs that name the block.
  void Attest(const Block& block) {
    for (std::uint32_t i = 1; i <= 2; ++i) Attest(block, i);
  }
  void Attest(const Block& block, std::uint32_t member) {
    follower_.NoteAttestation(
        *Sign({.from = member, .step = HeightOf(block), .parent = wire::BlockDigest(block)}),
        IdOf(member));
  }
  void Show(const Block& block) {
    follower_.OnBlock(IdOf(1), block, crypto::MakeBlob(wire::EncodeBlock(block)));
    Attest(block);
  }
  static ModelState StateOf(float value) {
    const auto numbers = std::make_shared<const std::vector<float>>(kFloats, value);
    return SgdState(numbers, numbers);
  }
  Block RootedBlock(const ModelState& state) const {
    Block next = NextBlock();
    next.state_root = StateRoot(state, layout());
    return next;
  }
  // 0: the leaves; from 1 on its pieces.
  base::Bytes PartOf(const ModelState& state, std::uint64_t part) const {
    if (part > 0) return PieceOf(state, StatePieces(layout(), 1)[part - 1]);
    base::Bytes bytes;
    for (const Digest& leaf : StateLeaves(state, layout())) {
      bytes.insert(bytes.end(), leaf.bytes.begin(), leaf.bytes.end());
    }
    return bytes;
  }
  void Give(std::uint64_t part, base::Bytes bytes, std::optional<PeerId> from = std::nullopt) {
    follower_.OnChunk(
        from.value_or(IdOf(1)), ServiceSlot(kStep, wire::Phase::kC, wire::MessageType::kChunk),
        {kStep, part, StatePieces(layout(), 1).size() + 1}, crypto::MakeBlob(std::move(bytes)));
  }
  std::set<std::uint64_t> AskedForState() {
    std::set<std::uint64_t> parts;
    for (const Send& send : Taken<Send>()) {
      if (PullOf(send).kind == wire::PullKind::kState) parts.insert(PullOf(send).index);
    }
    return parts;
  }
  // The update that runs is done.
  void FinishUpdate(float value = 3) {
    const auto jobs = Taken<StartJob>();
    ASSERT_EQ(jobs.size(), 1u);
    ASSERT_TRUE(follower_.Owns(jobs[0].id));
    ASSERT_TRUE(components().jobs.Take(jobs[0].id));
    follower_.OnJob(jobs[0].id, UpdateResult{StateOf(value)});
    follower_.CheckInvariants();
  }
  // As Drop does, with what a block says of a member that is none.
  Block Dropped(bool banned = false, std::uint64_t barred_until = 0) const {
    Block head = HeadBlock();
    std::erase(head.members, Self());
    wire::Standing standing;
    standing.peer = Self();
    standing.banned = banned;
    standing.drops = 1;
    standing.last_drop_step = kStep - 3;
    standing.barred_until = barred_until;
    head.standings = {standing};
    return head;
  }
  std::vector<wire::Envelope> Rejoins() {
    std::vector<wire::Envelope> said;
    for (const Record& record : Stored(RecordKind::kSlot)) {
      said.push_back(wire::OpenUnsigned(record.value).value());
      EXPECT_EQ(said.back().slot.type, wire::MessageType::kRejoin);
    }
    return said;
  }
  static Outcome::What Is(const Outcome& outcome) { return outcome.what; }

  // By the key of number 70, for who holds that of number 71.
  static wire::Invite OwnInvite() {
    return {.moderator = KeyNumber(70)->id(),
            .holder = KeyNumber(71)->id(),
            .uses = 2,
            .ends_step = 1000};
  }
  std::optional<wire::Credential> OwnCredential() const {
    if (!invited_) return std::nullopt;
    const auto signature = SignInvite(manifest_->run_id, OwnInvite(), *KeyNumber(70));
    return UseInvite(manifest_->run_id, OwnInvite(), signature, *KeyNumber(71), Self());
  }

  const bool invited_;
  Follower follower_{components(), components().check, components().post, OwnCredential()};
};

}  // namespace ostraka::protocol::scene
