// The machine alone: one node whose network is the test. Many nodes: tests/unit/sim/dht.
#include "dht/node.h"

#include <gtest/gtest.h>

#include <map>

#include "dht/wire/limits.h"
#include "node/machine/contract.h"
#include "tests/unit/dht/samples.h"

namespace ostraka::dht::node_test {
namespace {

base::Time At(std::int64_t ms) { return base::Time{} + base::Milliseconds(ms); }
Endpoint In(std::uint32_t prefix, std::uint16_t port = 7000) {
  return Endpoint::V4((std::uint32_t{20} << 24) + (prefix << 8) + 1, port);
}
Nonce Mark(std::uint8_t fill) {
  Nonce mark;
  mark.fill(fill);
  return mark;
}

struct Sent {
  Endpoint to;
  base::SharedBytes bytes;
};

class NodeTest : public testing::Test {
 protected:
  void Start(Role role, std::vector<Endpoint> bootstraps = {}, std::vector<Contact> known = {}) {
    node_ = std::make_unique<Node>(
        NodeConfig{KeyOf(1), TestNetwork(), role, std::make_shared<crypto::PlainVerifier>()});
    Give(Started{4000, NetworkOf("secret"), std::move(bootstraps), std::move(known)});
  }
  // What the node sends for it.
  std::vector<Sent> Give(const Input& input) {
    Outbox out;
    EXPECT_EQ(contract_.Step(*node_, now_, input, out), machine::Breach::kNone);
    std::vector<Sent> sent;
    for (const auto& action : out.actions()) {
      if (const auto* send = std::get_if<machine::SendDatagram<Endpoint>>(&action)) {
        sent.push_back({send->to, send->bytes});
        EXPECT_LE(send->bytes->size(), kDatagramBytes);
      } else if (const auto* timer = std::get_if<machine::SetTimer>(&action)) {
        timer_ = timer->at;
      } else if (const auto* answered = std::get_if<Answered>(&action)) {
        answered_.push_back(*answered);
      } else if (const auto* store = std::get_if<machine::Store<KeptContacts>>(&action)) {
        stores_.push_back(store->id);
      }
    }
    node_->CheckInvariants();
    all_.insert(all_.end(), sent.begin(), sent.end());
    return sent;
  }
  std::vector<Sent> Receive(const Endpoint& from, base::SharedBytes bytes) {
    return Give(machine::DatagramReceived<Endpoint>{from, std::move(bytes)});
  }
  // Lets time pass until `until`, firing the node's timer whenever it is due.
  void Pass(base::Time until) {
    while (timer_ && *timer_ <= until) {
      now_ = std::max(now_, *timer_);
      timer_.reset();
      Give(machine::TimerFired{0});
      for (; !stores_.empty(); stores_.pop_back()) Give(machine::Stored{stores_.back()});
    }
    now_ = until;
  }
  static Query Of(QueryKind kind, std::uint64_t asker = 2) {
    Query query;
    query.kind = kind;
    query.network = TestNetwork();
    query.sender = KeyOf(asker)->id();
    return query;
  }
  // The reply of the node with key `number` to a query that ours sent.
  static base::SharedBytes ReplyTo(const Sent& sent, std::uint64_t number,
                                   std::vector<Contact> contacts = {}, bool true_key = true) {
    Reply reply;
    reply.sender = KeyOf(number)->id();
    reply.server = true;
    reply.seen = In(1);
    reply.token.fill(3);
    reply.contacts = std::move(contacts);
    const auto header = ReadHeader(*sent.bytes);
    const Digest query = OpenQuery(*sent.bytes)->digest;
    if (true_key) return EncodeReply(header->nonce, query, reply, *KeyOf(number));
    auto forged =
        std::make_shared<base::Bytes>(*EncodeReply(header->nonce, query, reply, *KeyOf(number)));
    (*forged)[kHeaderBytes + 3] ^= 1;
    return forged;
  }
  static bool IsReply(const Sent& sent) { return ReadHeader(*sent.bytes)->is_reply; }

  std::unique_ptr<Node> node_;
  machine::Contract<DhtKind> contract_;
  base::Time now_;
  std::optional<base::Time> timer_;
  std::vector<Answered> answered_;
  std::vector<machine::StoreId> stores_;
  std::vector<Sent> all_;
};

TEST_F(NodeTest, AnswersAPingToWhereItCameFrom) {
  Start(Role::kServer);
  const EncodedQuery ping = EncodeQuery(Mark(5), Of(QueryKind::kPing));
  const auto sent = Receive(In(2), ping.datagram);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].to, In(2));
  EXPECT_EQ(ReadHeader(*sent[0].bytes)->nonce, Mark(5));
  const auto reply = OpenReply(*sent[0].bytes, ping.digest);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->reply.seen, In(2));
  EXPECT_EQ(reply->reply.sender, KeyOf(1)->id());
  crypto::PlainVerifier verifier;
  EXPECT_TRUE(verifier.Verify(KeyOf(1)->id(), reply->digest, reply->signature));
}

TEST_F(NodeTest, JunkIsNotAnswered) {
  Start(Role::kServer);
  EXPECT_TRUE(Receive(In(2), nullptr).empty());
  EXPECT_TRUE(Receive(In(2), std::make_shared<base::Bytes>(1200, 7)).empty());
  auto cut = std::make_shared<base::Bytes>(*EncodeQuery(Mark(1), Of(QueryKind::kPing)).datagram);
  cut->resize(600);
  EXPECT_TRUE(Receive(In(2), cut).empty());
  const auto ping = EncodeQuery(Mark(1), Of(QueryKind::kPing)).datagram;
  EXPECT_TRUE(Receive(Endpoint::V4(0xe0000001, 7), ping).empty()) << "from a multicast address";
}

TEST_F(NodeTest, ABootstrapThatAnswersIsKnownAndItsNamesAreAsked) {
  Start(Role::kServer, {In(10)});
  ASSERT_EQ(all_.size(), 1U);
  EXPECT_EQ(all_[0].to, In(10));
  Receive(In(10), ReplyTo(all_[0], 10, {{KeyOf(11)->id(), In(11)}}));
  EXPECT_EQ(node_->table().size(), 1U);
  Pass(At(1500));  // the search of its own place: it asks the bootstrap, and then whom that names
  std::size_t to_named = 0;
  for (std::size_t i = 1; i < all_.size(); ++i) {
    if (all_[i].to == In(10) && !IsReply(all_[i])) {
      Receive(In(10), ReplyTo(all_[i], 10, {{KeyOf(11)->id(), In(11)}}));
    }
  }
  for (const Sent& sent : all_) to_named += sent.to == In(11) ? 1 : 0;
  EXPECT_EQ(to_named, 1U);
}

TEST_F(NodeTest, AReplyIsBelievedOnlyFromItsEndpointWithItsNonceAndSignature) {
  Start(Role::kServer, {In(10)});
  const Sent query = all_.at(0);
  Receive(In(11), ReplyTo(query, 10));
  EXPECT_EQ(node_->table().size(), 0U) << "from another endpoint";
  Receive(In(10), ReplyTo(query, 10, {}, /*true_key=*/false));
  EXPECT_EQ(node_->table().size(), 0U) << "with a false signature";
  auto other_nonce = std::make_shared<base::Bytes>(*ReplyTo(query, 10));
  (*other_nonce)[10] ^= 1;
  Receive(In(10), other_nonce);
  EXPECT_EQ(node_->table().size(), 0U) << "with another nonce";
  Receive(In(10), ReplyTo(query, 10));
  EXPECT_EQ(node_->table().size(), 1U);
  Receive(In(10), ReplyTo(query, 12));
  EXPECT_EQ(node_->table().size(), 1U) << "once";
}

TEST_F(NodeTest, AnotherKeyThanTheOneAskedIsNotBelieved) {
  Start(Role::kServer, {}, {{KeyOf(10)->id(), In(10)}});
  ASSERT_EQ(all_.size(), 1U);
  Receive(In(10), ReplyTo(all_[0], 11));
  EXPECT_EQ(node_->table().size(), 0U);
  Receive(In(10), ReplyTo(all_[0], 10));
  EXPECT_EQ(node_->table().size(), 1U);
}

TEST_F(NodeTest, AnAskerThatServesIsPingedAndKnownOnceItAnswers) {
  Start(Role::kServer);
  Query ping = Of(QueryKind::kPing);
  EXPECT_EQ(Receive(In(2), EncodeQuery(Mark(1), ping).datagram).size(), 1U) << "a client";
  ping.server = true;
  const auto sent = Receive(In(2), EncodeQuery(Mark(2), ping).datagram);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_TRUE(IsReply(sent[0]));
  EXPECT_FALSE(IsReply(sent[1]));
  EXPECT_EQ(node_->table().size(), 0U) << "nothing is believed of an asker";
  EXPECT_EQ(Receive(In(2), EncodeQuery(Mark(3), ping).datagram).size(), 1U) << "not twice at once";
  Receive(In(2), ReplyTo(sent[1], 2));
  EXPECT_EQ(node_->table().size(), 1U);
}

TEST_F(NodeTest, ATryPingsTheNamedAddressWithTheMark) {
  Start(Role::kServer);
  const auto find = EncodeQuery(Mark(1), Of(QueryKind::kFind));
  const auto answer = Receive(In(2), find.datagram);
  Query test = Of(QueryKind::kTry);
  test.token = OpenReply(*answer.at(0).bytes, find.digest)->reply.token;
  test.mark = Mark(77);
  test.endpoint = In(40);
  const auto sent = Receive(In(2), EncodeQuery(Mark(2), test).datagram);
  ASSERT_EQ(sent.size(), 2U);
  const Sent& ping = IsReply(sent[0]) ? sent[1] : sent[0];
  EXPECT_EQ(ping.to, In(40));
  EXPECT_EQ(ReadHeader(*ping.bytes)->nonce, Mark(77));
  EXPECT_EQ(OpenQuery(*ping.bytes)->query.kind, QueryKind::kPing);
}

TEST_F(NodeTest, ANodeThatDoesNotAnswerIsAskedOnAndThenForgotten) {
  Start(Role::kServer, {In(10)});
  Receive(In(10), ReplyTo(all_[0], 10));
  Pass(At(3'600'000));
  EXPECT_EQ(node_->table().size(), 0U);
  EXPECT_FALSE(node_->progress().joined);
  const std::size_t before = all_.size();
  Pass(At(3'720'000));
  EXPECT_GT(all_.size(), before) << "it asks its bootstraps again";
  EXPECT_LT(all_.size(), before + 10);
}

TEST_F(NodeTest, QuestionsAreAnsweredThoughNobodyIsThere) {
  Start(Role::kServer);
  Give(Ask{7, GetPeer{KeyOf(9)->id()}});
  Give(Ask{8, FindNodes{NetworkOf("point")}});
  Pass(At(20'000));
  ASSERT_EQ(answered_.size(), 2U);
  EXPECT_TRUE(std::get<GotRecords>(answered_[0].result).records.empty());
  EXPECT_TRUE(std::get<FoundNodes>(answered_[1].result).nodes.empty());
}

TEST_F(NodeTest, WhatDoesNotFitARecordIsNotPublished) {
  Start(Role::kServer);
  Publish publish;
  publish.content.name = std::string(kMaxNameBytes + 1, 'a');
  Give(Ask{1, publish});
  ASSERT_EQ(answered_.size(), 1U);
  EXPECT_EQ(std::get<Published>(answered_[0].result).stored, 0U);
}

TEST_F(NodeTest, TooManyQuestionsAtOnceAreAnsweredWithNothing) {
  Start(Role::kServer, {In(10)});
  Receive(In(10), ReplyTo(all_[0], 10));
  for (std::uint64_t i = 0; i < Node::kMostOperations + 20; ++i) {
    Give(Ask{2 * i, GetPeer{KeyOf(9)->id()}});
    Give(Ask{2 * i + 1, FindNodes{NetworkOf("point")}});
  }
  EXPECT_GE(answered_.size(), Node::kMostOperations);
  Pass(At(20'000));
  EXPECT_EQ(answered_.size(), 2 * (Node::kMostOperations + 20));
  for (const Answered& one : answered_) {
    EXPECT_EQ(std::holds_alternative<FoundNodes>(one.result), one.id % 2 == 1);
  }
}

TEST_F(NodeTest, EqualInputsGiveEqualFingerprintsAndOthersDoNot) {
  Start(Role::kServer, {In(10)});
  const base::Digest begun = node_->Fingerprint();
  const Sent query = all_.at(0);
  Receive(In(10), ReplyTo(query, 10));
  const base::Digest known = node_->Fingerprint();
  EXPECT_NE(begun, known);
  contract_ = machine::Contract<DhtKind>();
  all_.clear();
  timer_.reset();
  Start(Role::kServer, {In(10)});
  EXPECT_EQ(node_->Fingerprint(), begun);
  Receive(In(10), ReplyTo(query, 10));
  EXPECT_EQ(node_->Fingerprint(), known);
}

}  // namespace
}  // namespace ostraka::dht::node_test
