#include "sim/setup/arrivals.h"

#include <algorithm>

#include "node/protocol/ground/invite.h"
#include "sim/engine/latency.h"

namespace ostraka::sim {
namespace {

constexpr std::uint64_t kNever = UINT64_MAX;
constexpr std::uint64_t kEndedStep = 1;
Pass PassAt(std::uint32_t index, const SimOptions& options) {
  if (index < options.comes) return index % 2 == 0 ? Pass::kInvite : Pass::kListed;
  if (index < options.comes + options.intruders) return Pass::kPublic;
  if (index >= options.comes + options.intruders + options.forgers) return Pass::kInvite;
  constexpr Pass kBad[] = {Pass::kForged, Pass::kContested, Pass::kContested, Pass::kEnded,
                           Pass::kCopied, Pass::kRevoked,   Pass::kObserve};
  return kBad[(index - options.comes - options.intruders) % std::size(kBad)];
}

}  // namespace

crypto::SigningKey DrawKey(base::Rng rng) {
  base::Bytes seed(crypto::SigningKey::kSeedSize);
  for (std::uint8_t& byte : seed) byte = static_cast<std::uint8_t>(rng.Next() >> 56);
  return crypto::SigningKey::FromSeed(seed);
}

Gatehouse::Gatehouse(const base::Rng& rng, const SimOptions& options, const Keys& guests)
    : moderator_(std::make_shared<const crypto::SigningKey>(DrawKey(rng.Fork("moderator")))),
      stranger_(std::make_shared<const crypto::SigningKey>(DrawKey(rng.Fork("stranger")))),
      public_uses_(
          std::max(1U, StaysOutside(options.attack) ? options.intruders : IntrudersLetIn(options))),
      public_ends_(StaysOutside(options.attack) ? options.steps * 3 / 4
                                                : IntrudersEnd(options).value_or(kNever)) {
  const base::Duration run = ExpectedLength(options);
  for (std::uint32_t i = 0; i < guests.size(); ++i) {
    guests_.push_back(guests[i]->id());
    passes_.push_back(PassAt(i, options));
    base::Rng own = rng.Fork("guest", i);
    starts_.push_back(kAllRun + Latency{{}, base::Duration{run.ns / 3}}.Draw(own));
    holders_.push_back(std::make_shared<const crypto::SigningKey>(DrawKey(own)));
  }
}

protocol::JoinPlan Gatehouse::Plan() const {
  protocol::JoinPlan plan;
  if (guests_.empty()) return plan;
  plan.policy = protocol::JoinPolicy::kInvite;
  plan.moderators = {moderator_->id()};
  plan.quota = static_cast<std::uint32_t>(guests_.size());
  for (std::size_t i = 0; i < guests_.size(); ++i) {
    if (passes_[i] == Pass::kListed) plan.allow.push_back(guests_[i]);
  }
  std::sort(plan.allow.begin(), plan.allow.end());
  return plan;
}

// The first of those that share an invite.
std::size_t Gatehouse::GroupOf(std::size_t guest) const {
  const Pass pass = passes_[guest];
  if (pass != Pass::kPublic && pass != Pass::kContested) return guest;
  return static_cast<std::size_t>(std::find(passes_.begin(), passes_.end(), pass) -
                                  passes_.begin());
}

const crypto::SigningKey& Gatehouse::HolderOf(std::size_t guest) const {
  return *holders_[GroupOf(guest)];
}

std::vector<Entitlement> Gatehouse::Entitlements() const {
  std::vector<Entitlement> all;
  for (std::size_t i = 0; i < guests_.size(); ++i) {
    const Pass pass = passes_[i];
    all.push_back({static_cast<std::uint32_t>(GroupOf(i)), UsesOf(pass), EndsOf(pass)});
  }
  return all;
}

std::map<base::PeerId, std::uint64_t> Gatehouse::EndsOfInvites() const {
  std::map<base::PeerId, std::uint64_t> ends;
  for (std::size_t i = 0; i < guests_.size(); ++i) {
    const bool listed = passes_[i] == Pass::kListed;
    if (!listed && InviteOf(i).ends_step != kNever) ends[guests_[i]] = InviteOf(i).ends_step;
  }
  return ends;
}

std::uint32_t Gatehouse::UsesOf(Pass pass) const {
  switch (pass) {
    case Pass::kPublic:
      return public_uses_;
    case Pass::kInvite:
    case Pass::kContested:
    case Pass::kListed:
      return 1;
    case Pass::kForged:
    case Pass::kCopied:
    case Pass::kEnded:
    case Pass::kRevoked:
    case Pass::kObserve:
      return 0;
  }
  return 0;
}

std::uint64_t Gatehouse::EndsOf(Pass pass) const {
  if (pass == Pass::kPublic) return public_ends_;
  return pass == Pass::kEnded ? kEndedStep : kNever;
}

wire::Invite Gatehouse::InviteOf(std::size_t guest) const {
  const Pass pass = passes_[guest];
  return {.moderator = moderator_->id(),
          .holder = HolderOf(guest).id(),
          .uses = std::max(1U, UsesOf(pass)),
          .ends_step = EndsOf(pass),
          .kind = pass == Pass::kObserve ? wire::InviteKind::kObserve : wire::InviteKind::kAdmit};
}

std::vector<wire::Revocation> Gatehouse::Revocations(const base::Digest& run_id) const {
  std::vector<wire::Revocation> all;
  for (std::size_t i = 0; i < guests_.size(); ++i) {
    if (passes_[i] != Pass::kRevoked) continue;
    all.push_back(protocol::SignRevocation(run_id, InviteOf(i), *moderator_));
  }
  return all;
}

std::vector<wire::Revocation> Gatehouse::ForgedRevocations(const base::Digest& run_id) const {
  std::vector<wire::Revocation> all = {{moderator_->id(), std::nullopt, {}}};
  for (std::size_t i = 0; i < guests_.size(); ++i) {
    if (passes_[i] != Pass::kListed && UsesOf(passes_[i]) > 0) {
      all.push_back({moderator_->id(), InviteOf(i), {}});
    }
  }
  for (wire::Revocation& one : all) {
    one.by_moderator = stranger_->Sign(protocol::RevocationDigest(run_id, one));
  }
  return all;
}

std::optional<wire::Credential> Gatehouse::CredentialOf(const base::Digest& run_id,
                                                        std::size_t guest) const {
  const Pass pass = passes_[guest];
  if (pass == Pass::kListed) return std::nullopt;
  const crypto::SigningKey& holder = HolderOf(guest);
  const wire::Invite invite = InviteOf(guest);
  const crypto::Signature good = protocol::SignInvite(run_id, invite, *moderator_);
  const base::PeerId& user = pass == Pass::kCopied ? stranger_->id() : guests_[guest];
  wire::Credential credential = protocol::UseInvite(run_id, invite, good, holder, user);
  if (pass == Pass::kForged) {
    credential.by_moderator = stranger_->Sign(protocol::InviteDigest(run_id, invite));
  }
  return credential;
}

}  // namespace ostraka::sim
