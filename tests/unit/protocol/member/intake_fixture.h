// An intake on top of one member's parts, and what it passes things on to.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "node/protocol/member/intake.h"
#include "tests/unit/protocol/member/member_fixture.h"

namespace ostraka::protocol::scene {

class IntakeTest : public MemberTest {
 protected:
  // Messages are carried only in a run that begins with a member that only dials.
  explicit IntakeTest(const std::function<void(Manifest&)>& edit =
                          [](Manifest& manifest) { manifest.members.back().only_dials = true; })
      : MemberTest(kSelf, edit) {}
  ~IntakeTest() override { intake_.CheckInvariants(); }

  Outcome On(const wire::SharedMessage& message, std::uint32_t link, SharedBlob blob = nullptr) {
    return intake_.On(Over(IdOf(link), message, std::move(blob)));
  }
  // A request or an answer of `link`.
  Outcome OnService(std::uint32_t link, const wire::Slot& slot, base::Bytes body,
                    SharedBlob blob = nullptr) {
    wire::Slot full = slot;
    full.run_id = manifest_->run_id;
    const auto frame = wire::EncodeService({full, Digest{}, IdOf(link), std::move(body)});
    return intake_.On({IdOf(link), frame, std::move(blob)});
  }
  // What member `from` says to this one, in the hands of `carrier`.
  Outcome Carried(std::uint32_t from, std::uint32_t carrier, const base::Bytes& frame) {
    return OnService(carrier, ServiceSlot(0, wire::Phase::kA, wire::MessageType::kForward),
                     wire::Encode(wire::Forward{IdOf(from), Self(), frame}));
  }
  Outcome ShowBlock(std::uint32_t link, const Block& block) {
    return OnService(link, ServiceSlot(block.step, wire::Phase::kC, wire::MessageType::kBlock),
                     wire::Encode(wire::BlockMessage{wire::BlockDigest(block), true}),
                     crypto::MakeBlob(wire::EncodeBlock(block)));
  }
  std::string SuspectedFor() {
    std::string check;
    for (const Suspicion& suspicion : Observed<Suspicion>()) check = suspicion.check;
    return check;
  }
  void EnterGenesis() { components().stage.Enter(Stage::kGenesis); }
  bool Holds(const Saying& saying) const {
    const wire::SharedMessage message = Sign(saying);
    const Inbox::Place place = Inbox::PlaceOf(message->envelope.slot);
    return components().inbox.Find(place, IdOf(saying.from), message->digest) != nullptr;
  }
  Saying Commit(std::uint32_t from, std::uint8_t tag) {
    return {.from = from, .body = {tag}, .parent = step().facts().parent_a};
  }
  // A block that is `ahead` steps after the head.
  Block Ahead(std::uint64_t ahead) const {
    Block block = HeadBlock();
    block.step += ahead;
    return block;
  }

  Forks forks_{components(),           *step_,
               components().followers, components().charges,
               components().check,     components().server,
               components().fork_watch};
  Follower follower_{components(), components().check, components().post, std::nullopt};
  Beginning beginning_{components(), components().genesis, follower_, components().charges,
                       nullptr};
  Ending ending_{components(), components().followers, components().charges};
  Intake intake_{components(),
                 *step_,
                 forks_,
                 follower_,
                 beginning_,
                 ending_,
                 std::make_shared<wire::PlainOpener>()};
};

}  // namespace ostraka::protocol::scene
