// An invite into a run of three members on loopback.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "node/cli/options/invite_link.h"
#include "node/config/manifest_toml.h"
#include "node/protocol/ground/invite.h"

namespace ostraka::cli {

inline crypto::SigningKey KeyOf(std::uint8_t fill) {
  return crypto::SigningKey::FromSeed(base::Bytes(crypto::SigningKey::kSeedSize, fill));
}

// `number`: of the run. REQUIRES: crypto::Initialize.
inline InviteText MakeInvite(std::uint8_t number = 1) {
  protocol::Manifest manifest;
  manifest.name = "a run";
  manifest.training.model = manifest.training.data = "toy";
  for (std::uint8_t fill = 1; fill <= 3; ++fill) {
    manifest.members.push_back({KeyOf(fill).id(), "127.0.0.1:7000"});
  }
  std::sort(manifest.members.begin(), manifest.members.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  const crypto::SigningKey moderator = KeyOf(9);
  manifest.join = {protocol::JoinPolicy::kInvite, {}, {moderator.id()}, 4, 7};
  base::Digest nonce;
  nonce.bytes.fill(number);
  const std::string text = config::WriteManifest(manifest, nonce);
  auto parsed = config::ParseManifest(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  const wire::Invite invite{moderator.id(), KeyOf(8).id(), 2, 50};
  const crypto::Signature signature = protocol::SignInvite(parsed->run_id, invite, moderator);
  return {text,
          *std::move(parsed),
          InvitePass{invite, signature, KeyOf(8)},
          {{manifest.members[0].id, "192.0.2.1:7000"}},
          {},
          nullptr};
}

// The moderator of MakeInvite signs a pass for that block.
inline void BeginAt(InviteText& invite, wire::Block block) {
  invite.anchor = std::make_shared<const wire::Block>(std::move(block));
  invite.pass->invite.anchor = SignedAnchor(invite.manifest, invite.anchor);
  invite.pass->by_moderator =
      protocol::SignInvite(invite.manifest.run_id, invite.pass->invite, KeyOf(9));
}

}  // namespace ostraka::cli
