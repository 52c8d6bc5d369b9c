// Gives to carriers what a machine sends to members without a link, after its editors have changed
// it: they see plain messages, as those of a member with all links.
//
// Its post is its own: it learns of links and of blocks as any driver does, by the machine's inputs
// and observations.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "node/protocol/mail/post.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

class RoutedMachine final : public protocol::Machine {
 public:
  // `post` has the head at which the machine begins. REQUIRES: the machine inside does not route
  // (PeerOptions::routes).
  RoutedMachine(std::unique_ptr<protocol::Machine> inside, protocol::Post post)
      : inside_(std::move(inside)), post_(std::move(post)) {}

  void Step(base::Time now, const protocol::Input& input, protocol::Outbox& out) override {
    const std::size_t before = out.actions().size();
    if (const auto* link = std::get_if<protocol::LinkChanged>(&input)) {
      post_.OnLink(link->peer, link->up);
    }
    inside_->Step(now, input, out);
    for (std::size_t i = before; i < out.actions().size(); ++i) {
      const protocol::Action& action = out.actions()[i];
      if (const auto* resumed = Observed<protocol::Resumed>(action)) post_.SetHead(resumed->block);
      if (const auto* done = Observed<protocol::StepDone>(action)) post_.SetHead(done->block);
    }
    post_.Route(out, before);
  }
  void CheckInvariants() const override { inside_->CheckInvariants(); }
  base::Digest Fingerprint() const override { return inside_->Fingerprint(); }
  protocol::Progress progress() const override { return inside_->progress(); }

 private:
  std::unique_ptr<protocol::Machine> inside_;
  protocol::Post post_;
};

}  // namespace ostraka::sim
