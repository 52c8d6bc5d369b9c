// A gate on top of one member's parts, with the slow path of a seal and bulk data at hand.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "node/protocol/member/gate.h"
#include "tests/unit/protocol/member/member_fixture.h"

namespace ostraka::protocol::scene {

class GateTest : public MemberTest {
 protected:
  ~GateTest() override { gate_.CheckInvariants(); }

  Fate Judge(const wire::SharedMessage& message, const PeerId& link, SharedBlob blob = nullptr) {
    const Fate fate = gate_.Judge(message, Over(link, message, std::move(blob)));
    gate_.CheckInvariants();
    return fate;
  }
  // Over the link of its signer.
  Fate Judge(const Saying& saying, SharedBlob blob = nullptr) {
    return Judge(Sign(saying), IdOf(saying.from), std::move(blob));
  }
  Fate Sort(const Saying& saying, std::uint32_t link) {
    return gate_.Sort(*Sign(saying), IdOf(link));
  }
  // The check for which a link was suspected; "" if none was.
  std::string SuspectedOf(const PeerId& link) {
    std::string check;
    for (const Suspicion& suspicion : Observed<Suspicion>()) {
      EXPECT_EQ(suspicion.peer, link);
      check = suspicion.check;
    }
    return check;
  }
  void Follow() {
    SetHead(HeadBlock());
    components().stage.Enter(Stage::kGenesis);
    components().stage.Enter(Stage::kFollow);
  }

  // --- bulk data ---
  static SharedBlob FloatsBlob(std::size_t count, std::uint8_t tag = 0) {
    base::Bytes bytes(count * sizeof(float), 0);
    bytes[0] = tag;
    return crypto::MakeBlob(std::move(bytes));
  }
  Saying PartOf(std::uint32_t from, std::uint32_t column, const SharedBlob& blob,
                std::uint64_t step = kStep) const {
    return {.from = from,
            .type = wire::MessageType::kPart,
            .step = step,
            .iteration = column,
            .body = PartBody(blob)};
  }
  Saying ResultOf(std::uint32_t from, std::uint32_t column, const SharedBlob& blob,
                  std::uint64_t step = kStep) const {
    return {.from = from,
            .type = wire::MessageType::kResult,
            .step = step,
            .iteration = column,
            .body = ResultBody(blob)};
  }
  std::uint32_t MyColumn() { return step().facts().my_column.value(); }

  // --- the slow path of the seal in progress ---
  void ReachIteration(std::uint32_t iteration) {
    Sealing& sealing = step().sealing();
    sealing.OnEchoTimer();
    Settle();
    for (std::uint32_t i = 1; i < kMemberCount; ++i) {
      step().OnAccepted(*Hold({.from = i,
                               .type = wire::MessageType::kClose,
                               .body = wire::Encode(wire::Close{}),
                               .parent = step().facts().parent_a}));
    }
    std::uint32_t now = 0;
    for (int timers = 0; timers < 200 && now < iteration; ++timers) {
      ASSERT_TRUE(sealing.seal().wake());
      const base::Duration wait = *sealing.seal().wake() - components().turn.now();
      Pass(std::max(wait, base::Duration{0}));
      sealing.OnSealTimer();
      Settle();
      if (sealing.seal().iteration() == now) continue;
      now = sealing.seal().iteration();
      SayStatuses(now);
    }
    ForgetActions();
  }
  // Without a quorum of these an iteration does not end.
  void SayStatuses(std::uint32_t iteration) {
    for (std::uint32_t i = 1; i < kMemberCount; ++i) {
      step().OnAccepted(*Hold({.from = i,
                               .type = wire::MessageType::kStatus,
                               .iteration = iteration,
                               .body = wire::Encode(wire::SealStatus{0, DigestOf(1)}),
                               .parent = step().facts().parent_a}));
    }
  }
  Saying Ballot(wire::MessageType type, std::uint32_t iteration, std::uint32_t from = 1,
                std::uint8_t tag = 1) const {
    const Digest value = DigestOf(tag);
    return {.from = from,
            .type = type,
            .iteration = iteration,
            .body = type == wire::MessageType::kVote ? wire::Encode(wire::SealVote{value, 0})
                                                     : wire::Encode(wire::Lock{value}),
            .parent = step().facts().parent_a};
  }

  Gate gate_{components(),
             components(),
             components().check,
             components().genesis,
             components().stage,
             *step_,
             std::make_shared<wire::PlainOpener>()};
};

}  // namespace ostraka::protocol::scene
