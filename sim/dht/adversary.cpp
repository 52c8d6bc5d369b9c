#include "sim/dht/adversary.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "dht/wire/limits.h"
#include "node/base/suggest.h"

namespace ostraka::sim::dhtsim {
namespace {

using dht::Contact;
using dht::KnownNode;
using dht::Nonce;
using dht::Query;
using dht::QueryKind;
using dht::Reply;
using dht::Verdict;

Nonce DrawNonce(base::Rng& rng) {
  Nonce nonce;
  for (std::uint8_t& byte : nonce) byte = static_cast<std::uint8_t>(rng.Below(256));
  return nonce;
}

// The `count` of `nodes` that are nearest to `target`, one a prefix, drawn from three times as
// many.
std::vector<Contact> DrawNear(const std::vector<KnownNode>& nodes, const base::Digest& target,
                              std::size_t count, base::Rng& rng) {
  std::vector<KnownNode> near = nodes;
  const std::size_t pool = std::min(near.size(), 3 * count);
  const auto nearer = [&target](const KnownNode& a, const KnownNode& b) {
    return dht::IsNearer(target, a.id, b.id);
  };
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(pool), near.end(),
                    nearer);
  near.resize(pool);
  for (std::size_t i = pool; i > 1; --i) std::swap(near[i - 1], near[rng.Below(i)]);
  near.resize(std::min(pool, count));
  std::vector<Contact> contacts;
  for (const KnownNode& node : near) contacts.push_back(node.contact);
  return contacts;
}

// Answers what asks for nodes or records; leaves PINGs and checks to its node.
class Answering : public Adversary {
 public:
  Answering(std::shared_ptr<const Coven> coven, const base::Rng& rng)
      : coven_(std::move(coven)), rng_(rng) {}

  bool OnDatagram(Swarm& swarm, std::uint32_t peer, const Endpoint& from,
                  const base::SharedBytes& bytes) final {
    const auto header = dht::ReadHeader(*bytes);
    if (!header.ok() || header->is_reply) return false;
    const auto opened = dht::OpenQuery(*bytes);
    if (!opened.ok()) return true;
    Reply reply;
    reply.sender = swarm.id(peer);
    reply.server = true;
    reply.seen = from;
    switch (Change(swarm, peer, opened->query, reply)) {
      case Answer::kHonest:
        return false;
      case Answer::kNone:
        return true;
      case Answer::kThis:
        break;
    }
    if (reply.sender != swarm.id(peer))
      return SendForged(swarm, peer, from, *header, *opened, reply);
    swarm.SendAs(peer, swarm.endpoint(peer), from,
                 dht::EncodeReply(header->nonce, opened->digest, reply, swarm.key(peer)));
    return true;
  }

 protected:
  enum class Answer { kHonest, kNone, kThis };
  virtual Answer Change(Swarm& swarm, std::uint32_t peer, const Query& query, Reply& reply) = 0;

  // Under another's id, signed with our own key all the same.
  bool SendForged(Swarm& swarm, std::uint32_t peer, const Endpoint& from, const dht::Header& header,
                  const dht::OpenedQuery& opened, Reply reply) {
    const base::PeerId claimed = std::exchange(reply.sender, swarm.id(peer));
    const base::SharedBytes own =
        dht::EncodeReply(header.nonce, opened.digest, reply, swarm.key(peer));
    auto forged = std::make_shared<base::Bytes>(*own);
    const auto at = std::search(forged->begin(), forged->end(), swarm.id(peer).bytes.begin(),
                                swarm.id(peer).bytes.end());
    if (at != forged->end()) std::copy(claimed.bytes.begin(), claimed.bytes.end(), at);
    swarm.SendAs(peer, swarm.endpoint(peer), from, std::move(forged));
    return true;
  }

  static bool Asks(const Query& query) {
    return query.kind == QueryKind::kFind || query.kind == QueryKind::kGet;
  }

  std::shared_ptr<const Coven> coven_;
  base::Rng rng_;
};

// Names only colluders near the target, has no records, and says that it stored what it threw away.
// Also the behaviour of ids ground around a key.
class Colluder final : public Answering {
 public:
  using Answering::Answering;

 private:
  Answer Change(Swarm&, std::uint32_t, const Query& query, Reply& reply) override {
    if (query.kind == QueryKind::kPut) {
      reply.verdict = Verdict::kDone;
      return Answer::kThis;
    }
    if (!Asks(query)) return Answer::kHonest;
    reply.token.fill(0x77);
    reply.contacts = DrawNear(coven_->members, query.target, dht::kMaxContacts, rng_);
    return Answer::kThis;
  }
};

class Silent final : public Answering {
 public:
  using Answering::Answering;

 private:
  // Answers PINGs, so that it stays in tables.
  Answer Change(Swarm&, std::uint32_t, const Query& query, Reply&) override {
    return query.kind == QueryKind::kPing ? Answer::kHonest : Answer::kNone;
  }
};

// Names bystanders, whom askers would then hit, and honest nodes at poisoners' addresses, where
// they are impersonated.
class Poison final : public Answering {
 public:
  using Answering::Answering;

 private:
  Answer Change(Swarm& swarm, std::uint32_t peer, const Query& query, Reply& reply) override {
    const KnownNode& mask = coven_->honest[peer % coven_->honest.size()];
    if (query.kind == QueryKind::kPut) return Answer::kHonest;
    // Whoever was told that the mask lives here expects its answer.
    const bool masked = rng_.Chance(1, 2);
    if (masked) reply.sender = mask.contact.peer;
    if (!Asks(query)) return masked ? Answer::kThis : Answer::kHonest;
    reply.token.fill(0x77);
    for (const KnownNode& member : coven_->members) {
      if (reply.contacts.size() == dht::kMaxContacts / 2) break;
      const auto number = swarm.PeerAt(member.contact.endpoint);
      if (!number) continue;
      const KnownNode& face = coven_->honest[*number % coven_->honest.size()];
      reply.contacts.push_back({face.contact.peer, member.contact.endpoint});
    }
    while (reply.contacts.size() < dht::kMaxContacts) {
      base::PeerId nobody;
      for (std::uint8_t& byte : nobody.bytes) byte = static_cast<std::uint8_t>(rng_.Below(256));
      reply.contacts.push_back({nobody, coven_->bystanders[rng_.Below(coven_->bystanders.size())]});
    }
    return Answer::kThis;
  }
};

// Gives the oldest record that it ever got for a key, and sends old datagrams again.
class Replay final : public Answering {
 public:
  using Answering::Answering;

  void OnSecond(Swarm& swarm, std::uint32_t peer) override {
    if (heard_.empty() || coven_->honest.empty()) return;
    const auto& [bytes, from] = heard_[rng_.Below(heard_.size())];
    const KnownNode& to = coven_->honest[rng_.Below(coven_->honest.size())];
    swarm.SendAs(peer, from, to.contact.endpoint, bytes);
  }

 private:
  Answer Change(Swarm&, std::uint32_t, const Query& query, Reply& reply) override {
    if (heard_.size() < 256) {
      heard_.emplace_back(dht::EncodeQuery(DrawNonce(rng_), query).datagram, reply.seen);
    }
    if (query.kind == QueryKind::kPut) {
      oldest_.try_emplace(query.target, query.record);
      reply.verdict = Verdict::kDone;
      return Answer::kThis;
    }
    const auto old = oldest_.find(query.target);
    if (query.kind != QueryKind::kGet || old == oldest_.end()) return Answer::kHonest;
    reply.token.fill(0x77);
    reply.records = {old->second};
    return Answer::kThis;
  }

  std::map<base::Digest, base::Bytes> oldest_;
  std::vector<std::pair<base::SharedBytes, Endpoint>> heard_;
};

// Stores announcements of made-up peers wherever it can, and more of them under one run's key.
class StoreFlood final : public Adversary {
 public:
  StoreFlood(std::shared_ptr<const Coven> coven, const base::Rng& rng)
      : coven_(std::move(coven)), rng_(rng) {}

  bool OnDatagram(Swarm& swarm, std::uint32_t peer, const Endpoint& from,
                  const base::SharedBytes& bytes) override {
    const auto header = dht::ReadHeader(*bytes);
    if (!header.ok() || !header->is_reply) return false;
    const auto asked = asked_.find(header->nonce);
    if (asked == asked_.end()) return false;
    const auto opened = dht::OpenReply(*bytes, asked->second);
    asked_.erase(asked);
    if (!opened.ok()) return true;
    for (int i = 0; i < 4; ++i) Put(swarm, peer, from, opened->reply.token);
    return true;
  }

  void OnSecond(Swarm& swarm, std::uint32_t peer) override {
    if (coven_->honest.empty() || coven_->sock_puppets.empty()) return;
    for (int i = 0; i < 10; ++i) {
      const KnownNode& to = coven_->honest[rng_.Below(coven_->honest.size())];
      Query find;
      find.kind = QueryKind::kFind;
      find.network = coven_->network;
      find.sender = swarm.id(peer);
      find.target = to.id;
      const Nonce nonce = DrawNonce(rng_);
      const dht::EncodedQuery encoded = dht::EncodeQuery(nonce, find);
      if (asked_.size() > 1000) asked_.clear();
      asked_.emplace(nonce, encoded.digest);
      swarm.SendAs(peer, swarm.endpoint(peer), to.contact.endpoint, encoded.datagram);
    }
  }

 private:
  void Put(Swarm& swarm, std::uint32_t peer, const Endpoint& to, const dht::Token& token) {
    const auto& key = *coven_->sock_puppets[rng_.Below(coven_->sock_puppets.size())];
    dht::Announcement content;
    content.network = coven_->network;
    content.peer = key.id();
    content.seq = rng_.Below(1000);
    content.expires =
        Swarm::kWallStart + static_cast<std::uint64_t>(swarm.now().ns / 1'000'000'000) + 3600;
    content.run = dht::RunState{coven_->run_id, 1, {}, true, 0};
    Query put;
    put.kind = QueryKind::kPut;
    put.network = coven_->network;
    put.sender = swarm.id(peer);
    put.target = rng_.Chance(1, 2) ? dht::RunKey(coven_->network, coven_->run_id)
                                   : dht::PeerKey(coven_->network, key.id());
    put.token = token;
    put.record = dht::SignAnnouncement(content, key);
    swarm.SendAs(peer, swarm.endpoint(peer), to, dht::EncodeQuery(DrawNonce(rng_), put).datagram);
  }

  std::shared_ptr<const Coven> coven_;
  base::Rng rng_;
  std::map<Nonce, base::Digest> asked_;
};

// Writes other addresses into its datagrams: questions that should be answered to a bystander,
// short ones that should be answered at length, records on another's account, false replies.
class Spoof final : public Adversary {
 public:
  Spoof(std::shared_ptr<const Coven> coven, const base::Rng& rng)
      : coven_(std::move(coven)), rng_(rng) {}

  bool OnDatagram(Swarm&, std::uint32_t, const Endpoint&, const base::SharedBytes&) override {
    return false;
  }

  void OnSecond(Swarm& swarm, std::uint32_t peer) override {
    if (coven_->honest.empty() || coven_->sock_puppets.empty()) return;
    for (int i = 0; i < 4; ++i) {
      const KnownNode& to = coven_->honest[rng_.Below(coven_->honest.size())];
      const KnownNode& other = coven_->honest[rng_.Below(coven_->honest.size())];
      const Endpoint& victim = coven_->bystanders[rng_.Below(coven_->bystanders.size())];
      Query query;
      query.kind = QueryKind::kFind;
      query.network = coven_->network;
      query.sender = other.contact.peer;
      query.server = true;
      query.target = to.id;
      const auto find = dht::EncodeQuery(DrawNonce(rng_), query).datagram;
      swarm.SendAs(peer, victim, to.contact.endpoint, find);
      auto cut = std::make_shared<base::Bytes>(*find);
      cut->resize(256);
      swarm.SendAs(peer, victim, to.contact.endpoint, std::move(cut));
      swarm.SendAs(peer, other.contact.endpoint, to.contact.endpoint, ForgedPut(swarm));
      Reply reply;
      reply.sender = swarm.id(peer);
      reply.seen = to.contact.endpoint;
      swarm.SendAs(peer, other.contact.endpoint, to.contact.endpoint,
                   dht::EncodeReply(DrawNonce(rng_), {}, reply, swarm.key(peer)));
    }
  }

 private:
  base::SharedBytes ForgedPut(Swarm& swarm) {
    const auto& key = *coven_->sock_puppets[rng_.Below(coven_->sock_puppets.size())];
    dht::Announcement content;
    content.network = coven_->network;
    content.peer = key.id();
    content.expires =
        Swarm::kWallStart + static_cast<std::uint64_t>(swarm.now().ns / 1'000'000'000) + 600;
    Query put;
    put.kind = QueryKind::kPut;
    put.network = coven_->network;
    put.sender = key.id();
    put.target = dht::PeerKey(coven_->network, key.id());
    for (std::uint8_t& byte : put.token) byte = static_cast<std::uint8_t>(rng_.Below(256));
    put.record = dht::SignAnnouncement(content, key);
    return dht::EncodeQuery(DrawNonce(rng_), put).datagram;
  }

  std::shared_ptr<const Coven> coven_;
  base::Rng rng_;
};

}  // namespace

base::StatusOr<std::unique_ptr<Adversary>> MakeAdversary(std::string_view name,
                                                         std::shared_ptr<const Coven> coven,
                                                         const base::Rng& rng) {
  std::unique_ptr<Adversary> made;
  if (name == "colluder" || name == "grinder") made = std::make_unique<Colluder>(coven, rng);
  if (name == "poison") made = std::make_unique<Poison>(coven, rng);
  if (name == "replay") made = std::make_unique<Replay>(coven, rng);
  if (name == "silent") made = std::make_unique<Silent>(coven, rng);
  if (name == "store_flood") made = std::make_unique<StoreFlood>(coven, rng);
  if (name == "spoof") made = std::make_unique<Spoof>(coven, rng);
  if (made) return made;
  const std::vector<std::string> known(std::begin(kAdversaries), std::end(kAdversaries));
  return base::InvalidArgument("no adversary '" + std::string(name) + "'" +
                               base::SuggestionFor(name, known));
}

}  // namespace ostraka::sim::dhtsim
