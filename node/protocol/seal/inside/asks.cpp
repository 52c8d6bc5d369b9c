#include "node/protocol/seal/inside/asks.h"

#include <utility>

#include "node/base/check.h"
#include "node/wire/bitmap.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {
namespace {

using wire::MessageType;
using wire::PullKind;

// All requests to one peer.
struct Request {
  std::set<Digest> vectors;
  std::set<Digest> digests;
  std::map<MessageType, std::set<std::size_t>> messages;
};

void AddTo(Request& request, const SealLack& lack) {
  if (lack.kind == PullKind::kVector) request.vectors.insert(lack.digest);
  if (lack.kind == PullKind::kDigests) request.digests.insert(lack.digest);
  if (lack.kind == PullKind::kMessages) request.messages[lack.type].insert(lack.member);
}

wire::Pull PullOf(PullKind kind, std::vector<Digest> digests) {
  wire::Pull pull;
  pull.kind = kind;
  pull.digests = std::move(digests);
  return pull;
}

void Emit(const PeerId& to, const Request& request, const std::vector<PeerId>& members,
          std::vector<SealAsk>& out) {
  for (const Digest& value : request.vectors) {
    out.push_back({to, PullOf(PullKind::kVector, {value})});
  }
  std::vector<Digest> some;
  for (const Digest& digest : request.digests) {
    some.push_back(digest);
    if (some.size() < wire::kMaxPullDigests) continue;
    out.push_back({to, PullOf(PullKind::kDigests, std::move(some))});
    some.clear();
  }
  if (!some.empty()) out.push_back({to, PullOf(PullKind::kDigests, std::move(some))});
  for (const auto& [type, indices] : request.messages) {
    std::vector<PeerId> of;
    for (const std::size_t index : indices) of.push_back(members[index]);
    wire::Pull pull = PullOf(PullKind::kMessages, {});
    pull.type = type;
    pull.members = wire::BitmapOf(of, members);
    out.push_back({to, std::move(pull)});
  }
}

// No message shows which ECHOs or CLOSEs a member holds. (The ECHOs of a claimed lock are another
// matter: its claimant has them, and the lack names the lock's value.)
bool AsksAll(const SealLack& lack) {
  return (lack.type == MessageType::kEcho && lack.digest.is_zero()) ||
         lack.type == MessageType::kClose;
}

}  // namespace

void SealAsks::LookAt(base::Time at) {
  if (!next_look_ || at < *next_look_) next_look_ = at;
}

bool SealAsks::Send(const SealLacks& lacks, bool slow, std::vector<SealAsk>& out) {
  next_look_.reset();
  std::map<PeerId, Request> requests;
  bool more = false;
  for (const auto& [lack, sources] : lacks.sources) {
    const bool of_all = AsksAll(lack);
    std::size_t room = of_all ? sources.size() : setup_.fault_bound() + 1;
    std::set<PeerId>& asked = asked_[lack];
    for (const PeerId& source : sources) {
      if (source == setup_.self() || asked.contains(source)) continue;
      if (room == 0) {
        more = true;
        break;
      }
      --room;
      if (!of_all || slow) asked.insert(source);
      AddTo(requests[source], lack);
    }
  }
  for (const auto& [to, request] : requests) {
    OSTRAKA_CHECK(to != setup_.self());
    Emit(to, request, setup_.members(), out);
  }
  if (lacks.later) LookAt(*lacks.later);
  return more;
}

void SealAsks::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, asked_, next_look_); }

}  // namespace ostraka::protocol
