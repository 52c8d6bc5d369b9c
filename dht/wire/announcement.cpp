#include "dht/wire/announcement.h"

#include <algorithm>

#include "crypto/domains.h"
#include "dht.capnp.h"
#include "dht/wire/fields.h"
#include "dht/wire/limits.h"
#include "node/base/check.h"

namespace ostraka::dht {
namespace {

using crypto::Signature;
using internal::AsData;
using internal::Joined;
using internal::ReadId;
using internal::Refuse;

constexpr char kWhat[] = "announcement";

base::Bytes EncodeCore(const Announcement& content) {
  return internal::EncodeCanonical<schema::Announcement>([&](schema::Announcement::Builder root) {
    root.setNetwork(AsData(content.network));
    root.setPeer(AsData(content.peer));
    root.setSeq(content.seq);
    root.setExpires(content.expires);
    if (!content.addresses.empty()) root.setAddresses(AsData(Joined(content.addresses)));
    if (!content.name.empty()) root.setName(content.name.c_str());
    if (!content.relays.empty()) root.setRelays(AsData(Joined(content.relays)));
    root.setReachable(content.reachable);
    if (!content.run) return;
    root.setRunId(AsData(content.run->run_id));
    root.setServesState(content.run->serves_state);
    root.setFreeSeats(content.run->free_seats);
    root.setHeight(content.run->height);
    root.setHead(AsData(content.run->head));
  });
}

// The name ends up on terminals and in a resolver: letters, digits and "-.:[]" alone.
base::Status ReadName(capnp::Text::Reader text, std::string& out) {
  if (text.size() > kMaxNameBytes) return Refuse("name", "too long");
  out.assign(text.begin(), text.end());
  const bool plain = std::all_of(out.begin(), out.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == ':' ||
           c == '[' || c == ']';
  });
  return plain ? base::OkStatus() : Refuse("name", "must be lower-case letters, digits, -.:[]");
}

base::Status ReadRun(schema::Announcement::Reader root, std::optional<RunState>& out) {
  // Without a run its fields are not read; a value in one of them breaks the canonical form.
  if (root.getRunId().size() == 0) return base::OkStatus();
  RunState& run = out.emplace();
  RETURN_IF_ERROR(ReadId(root.getRunId(), "run id", run.run_id));
  run.height = root.getHeight();
  RETURN_IF_ERROR(ReadId(root.getHead(), "head", run.head));
  run.serves_state = root.getServesState();
  run.free_seats = root.getFreeSeats();
  return base::OkStatus();
}

base::StatusOr<Announcement> ReadCore(schema::Announcement::Reader root) {
  Announcement content;
  RETURN_IF_ERROR(ReadId(root.getNetwork(), "network", content.network));
  RETURN_IF_ERROR(ReadId(root.getPeer(), "peer", content.peer));
  content.seq = root.getSeq();
  content.expires = root.getExpires();
  RETURN_IF_ERROR(
      internal::ReadEndpoints(root.getAddresses(), "addresses", kMaxAddresses, content.addresses));
  RETURN_IF_ERROR(ReadName(root.getName(), content.name));
  RETURN_IF_ERROR(internal::ReadContacts(root.getRelays(), "relays", kMaxRelays, content.relays));
  content.reachable = root.getReachable();
  RETURN_IF_ERROR(ReadRun(root, content.run));
  return content;
}

}  // namespace

void HashValue(crypto::Hasher& hasher, const Contact& contact) {
  const auto& [peer, endpoint] = contact;
  hasher.Update(peer.view());
  HashValue(hasher, endpoint);
}

bool FitsRecord(const Announcement& content) {
  return content.addresses.size() <= kMaxAddresses && content.relays.size() <= kMaxRelays &&
         content.name.size() <= kMaxNameBytes;
}

base::Bytes SignAnnouncement(const Announcement& content, const crypto::SigningKey& key) {
  OSTRAKA_CHECK(key.id() == content.peer);
  const base::Bytes core = EncodeCore(content);
  const Signature signature = key.Sign(crypto::Hash(crypto::kDomainDhtRecord, core));
  base::Bytes bytes(signature.bytes.begin(), signature.bytes.end());
  bytes.insert(bytes.end(), core.begin(), core.end());
  OSTRAKA_CHECK(bytes.size() <= kMaxRecordBytes);
  return bytes;
}

base::StatusOr<SignedAnnouncement> OpenAnnouncement(base::ByteView bytes) {
  if (bytes.size() < Signature::kSize) return Refuse(kWhat, "shorter than a signature");
  if (bytes.size() > kMaxRecordBytes) return Refuse(kWhat, "too long");
  const base::ByteView core = bytes.subspan(Signature::kSize);
  SignedAnnouncement opened;
  ASSIGN_OR_RETURN(opened.content, (internal::DecodeCanonical<schema::Announcement, Announcement>(
                                       kWhat, core, kMaxRecordBytes, ReadCore, EncodeCore)));
  std::copy_n(bytes.begin(), Signature::kSize, opened.signature.bytes.begin());
  opened.digest = crypto::Hash(crypto::kDomainDhtRecord, core);
  return opened;
}

bool BelongsUnder(const Announcement& content, const Digest& key) {
  if (key == PeerKey(content.network, content.peer)) return true;
  return content.run && key == RunKey(content.network, content.run->run_id);
}

}  // namespace ostraka::dht
