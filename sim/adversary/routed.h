// Gives to carriers what a machine sends to members without a link, after its editors have changed
// it: they see plain messages, as those of a member with all links.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <utility>

#include "node/protocol/mail/post.h"

namespace ostraka::sim {

class RoutedMachine final : public protocol::Machine {
 public:
  // `post`: PeerOptions::post of the machine inside.
  RoutedMachine(std::unique_ptr<protocol::Machine> inside, std::shared_ptr<protocol::Post> post)
      : inside_(std::move(inside)), post_(std::move(post)) {}

  void Step(base::Time now, const protocol::Input& input, protocol::Outbox& out) override {
    const std::size_t before = out.actions().size();
    inside_->Step(now, input, out);
    post_->Route(out, before);
  }
  void CheckInvariants() const override { inside_->CheckInvariants(); }
  base::Digest Fingerprint() const override { return inside_->Fingerprint(); }
  protocol::Progress progress() const override { return inside_->progress(); }

 private:
  std::unique_ptr<protocol::Machine> inside_;
  std::shared_ptr<protocol::Post> post_;
};

}  // namespace ostraka::sim
