// Any bytes as what happens to one node of the DHT: queries of every kind from any address, replies
// true, false, late and twice, time, questions of its process. Nothing may make it abort, grow
// beyond its bounds, answer at more length than it was asked, or send to an address that nobody
// named.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "dht/node.h"
#include "dht/wire/limits.h"
#include "node/base/check.h"
#include "node/machine/contract.h"
#include "tests/fuzz/byte_source.h"

namespace ostraka::dht {
namespace {

using base::Bytes;
using fuzz::ByteSource;

constexpr std::size_t kKeys = 12;
constexpr std::size_t kMaxOperations = 150;

using Key = std::shared_ptr<const crypto::SigningKey>;
const std::vector<Key>& Keys() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> made;
    for (std::size_t i = 0; i < kKeys; ++i) {
      const Bytes seed(crypto::SigningKey::kSeedSize, static_cast<std::uint8_t>(i + 1));
      made.push_back(
          std::make_shared<const crypto::SigningKey>(crypto::SigningKey::FromSeed(seed)));
    }
    return made;
  }();
  return keys;
}

class Play {
 public:
  explicit Play(base::ByteView bytes)
      : source_(bytes),
        node_({Keys()[0], NetworkOf("fuzz"), static_cast<Role>(source_.Below(3)),
               std::make_shared<crypto::PlainVerifier>()}) {
    Started started;
    started.wall_s = 1'800'000'000;
    started.secret.bytes.fill(source_.Byte());
    for (std::size_t i = source_.Below(4); i > 0; --i) started.bootstraps.push_back(AnyEndpoint());
    for (std::size_t i = source_.Below(4); i > 0; --i) started.known.push_back(AnyContact());
    for (const Endpoint& endpoint : started.bootstraps) named_.insert(endpoint);
    for (const Contact& contact : started.known) named_.insert(contact.endpoint);
    Give(started);
  }

  void Run() {
    for (std::size_t i = 0; i < kMaxOperations && !source_.empty(); ++i) Operate();
    node_.CheckInvariants();
    node_.Fingerprint();
    for (int i = 0; i < 40; ++i) FireTimer();
    node_.CheckInvariants();
  }

 private:
  struct Open {
    Endpoint to;
    base::SharedBytes query;
  };

  Endpoint AnyEndpoint() {
    const std::uint8_t byte = source_.Byte();
    const std::uint32_t bases[] = {0x14000001, 0x7f000001, 0xc0a80001, 0x14000001};
    std::uint32_t address = bases[byte % 4] + 256U * (byte / 4);
    if (byte == 255) address = static_cast<std::uint32_t>(source_.Integer(4));
    Endpoint endpoint = Endpoint::V4(address, static_cast<std::uint16_t>(7000 + byte % 2));
    if (byte % 16 == 7) {
      endpoint.address.fill(0);
      endpoint.address[0] = 0x20;
      endpoint.address[4] = byte / 64;
      endpoint.address[15] = 1;
    }
    return endpoint;
  }
  Contact AnyContact() {
    Contact contact;
    contact.peer = Keys()[source_.Below(kKeys)]->id();
    if (source_.Byte() % 4 == 0) contact.peer.bytes[source_.Below(32)] ^= source_.Byte();
    contact.endpoint = AnyEndpoint();
    return contact;
  }
  Digest AnyPoint() {
    Digest point = NodeIdOf(NetworkOf("fuzz"), Keys()[source_.Below(kKeys)]->id());
    if (source_.Flip()) point = PeerKey(NetworkOf("fuzz"), Keys()[source_.Below(kKeys)]->id());
    point.bytes[source_.Below(32)] ^= source_.Byte();
    return point;
  }
  Bytes AnyRecord() {
    const Key& key = Keys()[source_.Below(kKeys)];
    Announcement content;
    content.network = NetworkOf("fuzz");
    content.peer = key->id();
    content.seq = source_.Byte();
    content.expires = 1'800'000'000 + 256 * source_.Below(64) - 4000;
    if (source_.Flip()) content.run = RunState{};
    Bytes record = SignAnnouncement(content, *key);
    if (source_.Byte() % 8 == 0) record[source_.Below(record.size())] ^= source_.Byte();
    return record;
  }

  void Operate() {
    switch (source_.Byte() % 9) {
      case 0:
      case 1:
        return Ask();
      case 2:
      case 3:
      case 4:
        return Answer();
      case 5:
        return FireTimer();
      case 6:
        now_ = now_ + base::Milliseconds(static_cast<std::int64_t>(source_.Integer(2)));
        return;
      case 7:
        return Question();
      default: {
        const base::ByteView junk = source_.Take(source_.Byte());
        return Receive(AnyEndpoint(), std::make_shared<Bytes>(junk.begin(), junk.end()));
      }
    }
  }

  // A query of somebody else.
  void Ask() {
    Query query;
    query.kind = static_cast<QueryKind>(source_.Below(kQueryKindCount));
    query.network = NetworkOf("fuzz");
    query.sender = Keys()[source_.Below(kKeys)]->id();
    query.server = source_.Flip();
    query.target = AnyPoint();
    query.token = last_token_;
    if (source_.Byte() % 8 == 0) query.token.fill(source_.Byte());
    query.mark.fill(source_.Byte());
    if (query.kind == QueryKind::kTry) query.endpoint = AnyEndpoint();
    if (query.kind == QueryKind::kPut) {
      query.record = AnyRecord();
      const auto opened = OpenAnnouncement(query.record);
      if (opened.ok() && source_.Flip()) {
        query.target = PeerKey(opened->content.network, opened->content.peer);
      }
    }
    if (query.kind == QueryKind::kTry && !IsUsable(query.endpoint)) return;
    const Endpoint from = AnyEndpoint();
    Nonce nonce;
    nonce.fill(source_.Byte());
    auto bytes = EncodeQuery(nonce, query).datagram;
    if (source_.Byte() % 16 == 0) bytes = Bent(*bytes);
    const auto opened = OpenQuery(*bytes);
    if (opened.ok() && opened->query.kind == QueryKind::kTry) {
      named_.insert(opened->query.endpoint);
    }
    Receive(from, bytes);
  }

  // An answer to one of the node's own queries, right or nearly so.
  void Answer() {
    if (open_.empty()) return;
    const Open open = open_[source_.Below(open_.size())];
    const auto query = OpenQuery(*open.query);
    OSTRAKA_CHECK(query.ok());
    const Key& key = Keys()[source_.Below(kKeys)];
    Reply reply;
    reply.sender = key->id();
    reply.server = source_.Byte() % 8 != 0;
    reply.seen = Endpoint::V4(0x14000001, 7000);
    reply.token.fill(source_.Byte());
    if (source_.Byte() % 4 == 0) reply.records.push_back(AnyRecord());
    reply.verdict = static_cast<Verdict>(source_.Below(kVerdictCount));
    for (std::size_t i = source_.Below(1 + ContactsBeside(reply.records)); i > 0; --i) {
      const Contact contact = AnyContact();
      if (!IsUsable(contact.endpoint)) continue;
      named_.insert(contact.endpoint);
      reply.contacts.push_back(contact);
    }
    auto bytes = EncodeReply(ReadHeader(*open.query)->nonce, query->digest, reply, *key);
    if (source_.Byte() % 16 == 0) bytes = Bent(*bytes);
    Receive(source_.Byte() % 16 == 0 ? AnyEndpoint() : open.to, bytes);
  }

  base::SharedBytes Bent(const Bytes& bytes) {
    auto bent = std::make_shared<Bytes>(bytes);
    (*bent)[source_.Below(bent->size())] ^= source_.Byte();
    return bent;
  }

  void Question() {
    const std::uint64_t id = questions_++;
    switch (source_.Byte() % 4) {
      case 0:
        return Give(dht::Ask{id, GetPeer{Keys()[source_.Below(kKeys)]->id()}});
      case 1:
        return Give(dht::Ask{id, GetRun{}});
      case 2:
        return Give(dht::Ask{id, FindNodes{AnyPoint()}});
      default: {
        Publish publish;
        publish.under_run = source_.Flip();
        publish.content.run = RunState{};
        return Give(dht::Ask{id, publish});
      }
    }
  }

  void FireTimer() {
    if (!timer_) return;
    now_ = std::max(now_, *timer_);
    timer_.reset();
    Give(machine::TimerFired{0});
  }

  void Receive(const Endpoint& from, base::SharedBytes bytes) {
    named_.insert(from);
    received_ = bytes->size();
    from_ = from;
    Give(machine::DatagramReceived<Endpoint>{from, std::move(bytes)});
    received_ = 0;
  }

  void Give(const Input& input) {
    Outbox out;
    OSTRAKA_CHECK(contract_.Step(node_, now_, input, out) == machine::Breach::kNone);
    std::size_t replies = 0;
    for (const auto& action : out.actions()) {
      if (const auto* send = std::get_if<machine::SendDatagram<Endpoint>>(&action)) {
        replies += OnSend(*send) ? 1 : 0;
      } else if (const auto* timer = std::get_if<machine::SetTimer>(&action)) {
        timer_ = timer->at;
      } else if (std::holds_alternative<Answered>(action)) {
        ++answers_;
      }
    }
    OSTRAKA_CHECK(replies <= (received_ > 0 ? std::size_t{1} : 0));
    OSTRAKA_CHECK(answers_ <= questions_);
  }

  // True if it is a reply.
  bool OnSend(const machine::SendDatagram<Endpoint>& send) {
    OSTRAKA_CHECK(named_.contains(send.to) && IsUsable(send.to));
    const auto header = ReadHeader(*send.bytes);
    OSTRAKA_CHECK(header.ok());
    if (!header->is_reply) {
      OSTRAKA_CHECK(send.bytes->size() == kDatagramBytes);
      open_.push_back({send.to, send.bytes});
      if (open_.size() > 64) open_.pop_front();
      return false;
    }
    OSTRAKA_CHECK(send.to == from_ && send.bytes->size() <= received_);
    const auto opened = OpenReply(*send.bytes, {});
    OSTRAKA_CHECK(opened.ok());
    if (opened->reply.token != Token{}) last_token_ = opened->reply.token;
    return true;
  }

  ByteSource source_;
  Node node_;
  machine::Contract<DhtKind> contract_;
  base::Time now_;
  std::optional<base::Time> timer_;
  std::set<Endpoint> named_;
  std::deque<Open> open_;
  Token last_token_{};
  Endpoint from_;
  std::size_t received_ = 0;
  std::uint64_t questions_ = 0;
  std::uint64_t answers_ = 0;
};

}  // namespace
}  // namespace ostraka::dht

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool initialized = ostraka::crypto::Initialize().ok();
  OSTRAKA_CHECK(initialized);
  ostraka::dht::Play({data, size}).Run();
  return 0;
}
