// ChunkExchange over real links of 127.0.0.1.
#include "node/net/lend/chunk_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <map>

#include "node/os/steady_clock.h"
#include "node/os/timer.h"
#include "tests/unit/net/transport_net.h"

namespace ostraka::net::chunk_exchange_test {
namespace {

using base::Bytes;

constexpr double kAccount = 0.5;  // seconds
constexpr std::size_t kChunk = 3 * kDataPieceBytes + 5;

Bytes ChunkOf(std::uint64_t number, std::size_t size = kChunk) {
  return Bytes(size, static_cast<std::uint8_t>(number + 1));
}

class Shelf final : public base::ChunkShelf {
 public:
  bool Has(std::uint64_t chunk) override { return chunks.contains(chunk); }
  std::optional<Bytes> Lend(std::uint64_t chunk) override {
    ++reads;
    if (loses) return std::nullopt;
    const auto found = chunks.find(chunk);
    if (found == chunks.end()) return std::nullopt;
    return found->second;
  }
  std::map<std::uint64_t, Bytes> chunks;
  std::atomic<int> reads = 0;
  bool loses = false;  // what it said it has
};

struct Peer {
  explicit Peer(std::size_t rank, std::uint64_t lends = 100 << 20)
      : node(rank), exchange(lends, kAccount) {
    node.options.lends_data = lends > 0;
    node.on_link = [this](const PeerId& peer, bool up) {
      if (opened) exchange.OnLink(peer, up);
    };
    node.on_data = [this](const PeerId& from, const DataRecord& record) {
      records.push_back(record);
      if (answers) exchange.OnRecord(from, record);
    };
  }
  void Start(boost::asio::io_context& io, const std::set<PeerId>& members) {
    node.Start(io);
    exchange.Open(
        {.post = [&io](std::function<void()> run) { boost::asio::post(io, std::move(run)); },
         .send = [this](const PeerId& to,
                        const DataRecord& record) { node.transport->SendData(to, record); },
         .lend =
             [this](const PeerId& to, std::uint64_t chunk, base::SharedBytes bytes) {
               return node.transport->Lend(to, chunk, std::move(bytes));
             },
         .lends = [this](const PeerId& peer) { return node.transport->LendsData(peer); }});
    opened = true;
    exchange.SetMembers(members);
    if (!shelf.chunks.empty()) exchange.LendFrom(shelf, shelf.chunks.begin()->second.size());
  }
  ~Peer() {
    if (opened) exchange.Close();
    exchange.EndLending();
  }

  Shelf shelf;
  TestNode node;
  ChunkExchange exchange;
  bool opened = false;
  bool answers = true;
  std::vector<DataRecord> records;  // that came
};

class ChunkExchangeTest : public ::testing::Test {
 protected:
  void Link(const std::vector<Peer*>& peers, std::set<PeerId> members = {}) {
    std::vector<TestNode*> nodes;
    for (Peer* peer : peers) nodes.push_back(&peer->node);
    Introduce(nodes);
    if (members.empty()) {
      for (const Peer* peer : peers) members.insert(peer->node.id());
    }
    for (Peer* peer : peers) peer->Start(io_, members);
    ASSERT_TRUE(RunUntil(io_, [&] {
      return std::all_of(peers.begin(), peers.end(),
                         [&](Peer* peer) { return peer->node.Ups() == peers.size() - 1; });
    }));
  }
  std::optional<base::LentChunk> Borrow(Peer& peer, std::uint64_t chunk,
                                        std::function<bool()> unwanted = nullptr,
                                        std::size_t size = kChunk) {
    auto lent =
        std::async(std::launch::async, [&] { return peer.exchange.Borrow(chunk, size, unwanted); });
    EXPECT_TRUE(RunUntil(
        io_, [&] { return lent.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    return lent.get();
  }

  boost::asio::io_context io_;
  Peer a_{0}, b_{1}, c_{2};
};

TEST_F(ChunkExchangeTest, AMemberLendsWhatItHas) {
  b_.shelf.chunks[4] = ChunkOf(4);
  Link({&a_, &b_});
  const auto lent = Borrow(a_, 4);
  ASSERT_TRUE(lent);
  EXPECT_EQ(lent->bytes, ChunkOf(4));
  EXPECT_EQ(lent->lender, b_.node.id());
  EXPECT_FALSE(Borrow(a_, 5)) << "nobody has it";
  EXPECT_TRUE(Borrow(a_, 4)) << "and again";
  EXPECT_EQ(a_.exchange.counts(), (ExchangeCounts{.borrowed = 2, .lent = 0}));
  EXPECT_EQ(b_.exchange.counts(), (ExchangeCounts{.borrowed = 0, .lent = 2}));
}

TEST_F(ChunkExchangeTest, WhoHasItIsFoundAmongOthers) {
  b_.shelf.chunks[1] = ChunkOf(1);
  c_.shelf.chunks[2] = ChunkOf(2);
  Link({&a_, &b_, &c_});
  EXPECT_EQ(Borrow(a_, 1)->lender, b_.node.id());
  EXPECT_EQ(Borrow(a_, 2)->lender, c_.node.id());
}

TEST_F(ChunkExchangeTest, SeveralThreadsBorrowAtOnce) {
  for (std::uint64_t i = 0; i < 6; ++i) (i % 2 == 0 ? b_ : c_).shelf.chunks[i] = ChunkOf(i);
  Link({&a_, &b_, &c_});
  std::vector<std::future<std::optional<base::LentChunk>>> all;
  for (std::uint64_t i = 0; i < 6; ++i) {
    all.push_back(std::async(std::launch::async,
                             [this, i] { return a_.exchange.Borrow(i, kChunk, nullptr); }));
  }
  ASSERT_TRUE(RunUntil(io_, [&] {
    return std::all_of(all.begin(), all.end(), [](auto& each) {
      return each.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    });
  }));
  int got = 0;
  for (std::uint64_t i = 0; i < 6; ++i) {
    const auto lent = all[i].get();
    if (!lent) continue;  // another chunk was on its way from there
    ++got;
    EXPECT_EQ(lent->bytes, ChunkOf(i));
  }
  EXPECT_GE(got, 2);
}

TEST_F(ChunkExchangeTest, WhoOffersNothingIsNotAsked) {
  Peer silent(3, 0);
  silent.shelf.chunks[1] = ChunkOf(1);
  Link({&a_, &silent});
  EXPECT_FALSE(Borrow(a_, 1));
  EXPECT_TRUE(silent.records.empty());
  // Asked anyway it does not answer.
  a_.node.transport->SendData(silent.node.id(), DataAsk{DataAsk::What::kSend, 1});
  ASSERT_TRUE(RunUntil(io_, [&] { return silent.records.size() == 1; }));
  EXPECT_EQ(silent.shelf.reads, 0);
}

TEST_F(ChunkExchangeTest, NoGuestIsAskedOrLentTo) {
  b_.shelf.chunks[1] = ChunkOf(1);
  Link({&a_, &b_}, {a_.node.id()});
  EXPECT_FALSE(Borrow(a_, 1));
  EXPECT_TRUE(b_.records.empty());
  b_.exchange.SetMembers({b_.node.id()});
  a_.node.transport->SendData(b_.node.id(), DataAsk{DataAsk::What::kSend, 1});
  ASSERT_TRUE(RunUntil(io_, [&] { return b_.records.size() == 1; }));
  // Answers come in the order of the asks.
  b_.exchange.SetMembers({a_.node.id(), b_.node.id()});
  a_.node.transport->SendData(b_.node.id(), DataAsk{DataAsk::What::kHave, 2});
  ASSERT_TRUE(RunUntil(io_, [&] { return a_.records.size() == 1; }));
  EXPECT_EQ(a_.records[0], DataRecord(DataTold{DataTold::Answer::kLacks, 2}));
  EXPECT_EQ(b_.shelf.reads, 0);
}

TEST_F(ChunkExchangeTest, WhoDoesNotAnswerIsWaitedForASecond) {
  b_.answers = false;
  c_.shelf.chunks[1] = ChunkOf(1);
  Link({&a_, &b_, &c_});
  EXPECT_TRUE(Borrow(a_, 1)) << "another answers";
  const std::size_t asked = b_.records.size();
  EXPECT_FALSE(Borrow(a_, 2));
  EXPECT_EQ(b_.records.size(), asked + 1);
  EXPECT_FALSE(Borrow(a_, 3));
  EXPECT_EQ(b_.records.size(), asked + 1) << "nobody waits for it any more";
  EXPECT_TRUE(a_.node.transport->IsUp(b_.node.id()));
}

// It says that it has the chunk, and does not send it.
TEST_F(ChunkExchangeTest, WhoKeepsUsWaitingIsLeft) {
  b_.answers = false;
  Link({&a_, &b_});
  b_.node.on_data = [&](const PeerId& from, const DataRecord& record) {
    b_.records.push_back(record);
    const auto& ask = std::get<DataAsk>(record);
    if (ask.what != DataAsk::What::kHave) return;
    b_.node.transport->SendData(from, DataTold{DataTold::Answer::kHas, ask.chunk});
  };
  EXPECT_FALSE(Borrow(a_, 1));
  const std::size_t asked = b_.records.size();
  EXPECT_EQ(asked, 2u);
  a_.exchange.OnLink(b_.node.id(), false);  // a new link changes nothing
  a_.exchange.OnLink(b_.node.id(), true);
  EXPECT_FALSE(Borrow(a_, 1));
  EXPECT_EQ(b_.records.size(), asked);
}

// It refuses when it has cost as much time as it may.
TEST_F(ChunkExchangeTest, ALateRefusalIsNoBetter) {
  b_.answers = false;
  Link({&a_, &b_});
  std::unique_ptr<os::Timer> timer;
  b_.node.on_data = [&](const PeerId& from, const DataRecord& record) {
    b_.records.push_back(record);
    const auto& ask = std::get<DataAsk>(record);
    if (ask.what == DataAsk::What::kHave) {
      b_.node.transport->SendData(from, DataTold{DataTold::Answer::kHas, ask.chunk});
      return;
    }
    timer = std::make_unique<os::Timer>(io_);
    timer->Start(base::Milliseconds(1500), [&b = b_, from, ask] {
      b.node.transport->SendData(from, DataTold{DataTold::Answer::kBusy, ask.chunk});
    });
  };
  EXPECT_FALSE(Borrow(a_, 1));
  EXPECT_EQ(b_.records.size(), 2u);
  EXPECT_FALSE(Borrow(a_, 1));
  EXPECT_EQ(b_.records.size(), 2u);
}

// Three use up what all have together.
TEST_F(ChunkExchangeTest, ManyThatDoNotAnswerCostWhatAllHave) {
  Peer d(3), e(4);
  for (Peer* peer : {&b_, &c_, &d}) peer->answers = false;
  e.shelf.chunks[1] = ChunkOf(1);
  Link({&a_, &b_, &c_, &d, &e});
  EXPECT_TRUE(Borrow(a_, 1));
  EXPECT_FALSE(Borrow(a_, 2));
  EXPECT_FALSE(Borrow(a_, 1)) << "the sources are asked";
  EXPECT_EQ(e.records.size(), 3u);
}

// All members together cost no more time than one.
TEST_F(ChunkExchangeTest, ManyThatKeepUsWaitingCostOnePatience) {
  for (Peer* peer : {&b_, &c_}) {
    peer->answers = false;
    peer->node.on_data = [peer](const PeerId& from, const DataRecord& record) {
      const auto& ask = std::get<DataAsk>(record);
      if (ask.what != DataAsk::What::kHave) return;
      peer->node.transport->SendData(from, DataTold{DataTold::Answer::kHas, ask.chunk});
    };
  }
  Link({&a_, &b_, &c_});
  const base::Time begin = os::SteadyNow();
  EXPECT_FALSE(Borrow(a_, 1));
  const base::Duration most =
      ChunkExchange::kAnswerPatience + ChunkExchange::PatienceFor(kChunk) + base::Seconds(1);
  EXPECT_LT((os::SteadyNow() - begin).ns, most.ns);
}

// What an honest member asks, an honest member hears.
TEST_F(ChunkExchangeTest, NoMemberIsAskedMoreThanItHears) {
  b_.shelf.chunks[1] = ChunkOf(1);
  Link({&a_, &b_});
  auto all = std::async(std::launch::async, [this] {
    for (std::uint64_t i = 0; i < 1000; ++i) (void)a_.exchange.Borrow(1000 + i, kChunk, nullptr);
  });
  ASSERT_TRUE(RunUntil(
      io_, [&] { return all.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
  EXPECT_LT(b_.records.size(), 1000u);
  EXPECT_EQ(a_.records.size(), b_.records.size()) << "each is answered";
}

TEST_F(ChunkExchangeTest, WhatIsGoneMeanwhileIsAskedOfAnother) {
  b_.shelf.chunks[1] = c_.shelf.chunks[1] = ChunkOf(1);
  b_.shelf.loses = true;
  Link({&a_, &b_, &c_});
  EXPECT_EQ(Borrow(a_, 1)->lender, c_.node.id());
}

TEST_F(ChunkExchangeTest, ADistrustedMemberIsNotAskedAgain) {
  b_.shelf.chunks[1] = ChunkOf(1);
  Link({&a_, &b_});
  ASSERT_TRUE(Borrow(a_, 1));
  a_.exchange.Distrust(b_.node.id());
  EXPECT_FALSE(Borrow(a_, 1));
  EXPECT_EQ(b_.exchange.counts().lent, 1u);
}

TEST_F(ChunkExchangeTest, ALongerChunkThanAskedForIsCut) {
  b_.shelf.chunks[1] = ChunkOf(1);
  Link({&a_, &b_});
  const auto lent = Borrow(a_, 1, nullptr, 1000);
  ASSERT_TRUE(lent);
  EXPECT_EQ(lent->bytes.size(), 1000u);
}

TEST_F(ChunkExchangeTest, ALinkThatGoesDownEndsTheWait) {
  b_.answers = false;
  Link({&a_, &b_});
  b_.node.on_data = [&](const PeerId& from, const DataRecord& record) {
    const auto& ask = std::get<DataAsk>(record);
    if (ask.what == DataAsk::What::kHave) {
      b_.node.transport->SendData(from, DataTold{DataTold::Answer::kHas, ask.chunk});
    } else {
      boost::asio::post(io_, [&] { b_.node.transport->Remove(from); });
    }
  };
  EXPECT_FALSE(Borrow(a_, 1));
  EXPECT_EQ(a_.node.Downs(), 1u);
}

TEST_F(ChunkExchangeTest, WhatNobodyWantsAnyMoreIsLeft) {
  b_.answers = false;
  Link({&a_, &b_});
  std::atomic<bool> unwanted = false;
  b_.node.on_data = [&](const PeerId&, const DataRecord&) { unwanted = true; };
  EXPECT_FALSE(Borrow(a_, 1, [&] { return unwanted.load(); }));
}

// Pieces that nobody asked for, of another chunk, and more than one chunk has.
TEST_F(ChunkExchangeTest, StrayPiecesAreDropped) {
  b_.answers = false;
  Link({&a_, &b_});
  b_.node.transport->Lend(a_.node.id(), 1, std::make_shared<const Bytes>(ChunkOf(9)));
  b_.node.transport->SendData(a_.node.id(), DataTold{DataTold::Answer::kHas, 1});
  ASSERT_TRUE(RunUntil(io_, [&] { return a_.records.size() == 5; }));
  b_.node.on_data = [&](const PeerId& from, const DataRecord& record) {
    const auto& ask = std::get<DataAsk>(record);
    if (ask.what == DataAsk::What::kHave) {
      b_.node.transport->SendData(from, DataTold{DataTold::Answer::kHas, ask.chunk});
    } else {
      b_.node.transport->Lend(from, 1, std::make_shared<const Bytes>(ChunkOf(1, 10 * kChunk)));
    }
  };
  const auto lent = Borrow(a_, 1);
  ASSERT_TRUE(lent);
  EXPECT_EQ(lent->bytes, ChunkOf(1));
  ASSERT_TRUE(RunUntil(io_, [&] { return a_.records.size() == 5 + 1 + 31; }));
  EXPECT_TRUE(a_.node.transport->IsUp(b_.node.id()));
}

// The chunk that was asked for comes after another one.
TEST_F(ChunkExchangeTest, PiecesOfAnotherChunkAreDropped) {
  b_.answers = false;
  Link({&a_, &b_});
  std::function<void()> lend_next = [&] {
    const auto chunk = std::make_shared<const Bytes>(ChunkOf(1));
    if (!b_.node.transport->Lend(a_.node.id(), 1, chunk)) boost::asio::post(io_, lend_next);
  };
  b_.node.on_data = [&](const PeerId& from, const DataRecord& record) {
    const auto& ask = std::get<DataAsk>(record);
    if (ask.what == DataAsk::What::kHave) {
      b_.node.transport->SendData(from, DataTold{DataTold::Answer::kHas, ask.chunk});
    } else {
      b_.node.transport->Lend(from, 2, std::make_shared<const Bytes>(ChunkOf(2)));
      lend_next();
    }
  };
  const auto lent = Borrow(a_, 1);
  ASSERT_TRUE(lent);
  EXPECT_EQ(lent->bytes, ChunkOf(1));
}

// What was asked for over an earlier link may come over this one, from its middle on.
TEST_F(ChunkExchangeTest, PiecesThatDoNotGoOnAreDropped) {
  b_.answers = false;
  Link({&a_, &b_});
  b_.node.on_data = [&](const PeerId& from, const DataRecord& record) {
    const auto& ask = std::get<DataAsk>(record);
    if (ask.what == DataAsk::What::kHave) {
      b_.node.transport->SendData(from, DataTold{DataTold::Answer::kHas, ask.chunk});
    } else {
      a_.exchange.OnRecord(b_.node.id(), DataPiece{1, kDataPieceBytes, Bytes(1000)});
      b_.node.transport->Lend(from, 1, std::make_shared<const Bytes>(ChunkOf(1)));
    }
  };
  const auto lent = Borrow(a_, 1);
  ASSERT_TRUE(lent);
  EXPECT_EQ(lent->bytes, ChunkOf(1));
}

TEST_F(ChunkExchangeTest, WhatWasNotLentCostsNothing) {
  Peer slow(3, 1000);
  slow.shelf.chunks[1] = ChunkOf(1);
  slow.shelf.loses = true;
  Link({&a_, &slow});
  EXPECT_FALSE(Borrow(a_, 1));
  slow.shelf.loses = false;
  EXPECT_TRUE(Borrow(a_, 1));
}

TEST_F(ChunkExchangeTest, WhatHasBeenSentIsOnItsWayNoMore) {
  b_.shelf.chunks[1] = ChunkOf(1);
  Link({&a_, &b_});
  for (std::uint64_t sent = 0; sent < LendDesk::kMostBytes + 2 * kChunk; sent += kChunk) {
    ASSERT_TRUE(Borrow(a_, 1)) << sent;
  }
}

TEST_F(ChunkExchangeTest, BeyondTheRateItIsBusy) {
  Peer slow(3, 1000);
  slow.shelf.chunks[1] = ChunkOf(1);
  Link({&a_, &slow});
  EXPECT_TRUE(Borrow(a_, 1));
  EXPECT_FALSE(Borrow(a_, 1));
  EXPECT_EQ(std::get<DataTold>(a_.records.back()).answer, DataTold::Answer::kBusy);
  EXPECT_EQ(slow.shelf.reads, 1);
}

TEST_F(ChunkExchangeTest, AfterCloseNothingIsAskedOrSaid) {
  b_.shelf.chunks[1] = ChunkOf(1);
  Link({&a_, &b_});
  b_.exchange.Close();
  EXPECT_FALSE(Borrow(a_, 1));
  a_.exchange.Close();
  EXPECT_FALSE(a_.exchange.Borrow(1, kChunk, nullptr)) << "at once";
  EXPECT_EQ(b_.shelf.reads, 0);
}

TEST(ChunkExchange, BeforeItIsOpenedNobodyIsAsked) {
  ChunkExchange exchange(1);
  EXPECT_FALSE(exchange.Borrow(1, kChunk, nullptr));
}

}  // namespace
}  // namespace ostraka::net::chunk_exchange_test
