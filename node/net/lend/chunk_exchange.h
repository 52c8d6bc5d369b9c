// Chunks of the run's data among its members: asks them for this node, and lends to them what this
// node has. The protocol knows nothing of it: what comes is judged by its hash (node/train/stream),
// and who gets nothing asks the data's sources.
//
//   fetching thread ─► Borrow ─► DATAASK have ─► members      members ─► DATAASK ─► LendDesk
//                        │ ◄─── DATATOLD has ◄── a member                             │
//                        ├────► DATAASK send ─►  it           lending thread ─► ChunkShelf
//                      bytes ◄─ DATA ... ◄────── it           members ◄─ DATA, DATATOLD ◄┘
//
// Promises:
//   E1  Only members are asked and lent to, and of them those that lend (HELLO).
//   E2  Borrow ends within kAnswerPatience and PatienceFor the chunk. What a member makes a thread
//       wait beyond kFreeAnswer and FreeFor a chunk that comes is taken from its account of
//       kAccountSeconds, and from one of all members together, whatever comes of it, and over all
//       links; these fill by kAccountShare and kAccountShareOfAll of the time. A member is asked
//       while both are above zero. A distrusted one is never asked again.
//   E3  What is lent keeps to LendDesk's limits, and is read on a thread of its own.
//   E4  No function that was given is called before Open or after Close.
//   E5  A member is asked kAsksASecond at most, half of what LendDesk hears.
//
// May not know: connections, data, what a run is.
// Memory: a chunk for each thread in Borrow; what LendDesk lets be on its way; kMostAsks questions
// that wait for the disk.
// What an attacker can do here: as a member, keep fetching threads waiting as far as its account
// goes, and be as slow as FreeFor allows for each chunk that it sends. As one that lends, learn
// which chunks this node asks for: all can compute that from the coins.
//
// Thread safety: Open, OnLink, OnRecord, SetMembers and Close from the protocol thread, the others
// from any.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/chunk_lending.h"
#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/net/lend/exchange_counts.h"
#include "node/net/lend/lend_desk.h"
#include "node/net/records/data_records.h"
#include "node/net/records/token_bucket.h"

namespace ostraka::net {

struct ExchangeLinks {
  // Runs a function on the protocol thread, never within the call; from any thread.
  std::function<void(std::function<void()>)> post;
  // The rest on the protocol thread. What goes to a link that is down is dropped.
  std::function<void(const base::PeerId& to, const DataRecord& record)> send;
  std::function<bool(const base::PeerId& to, std::uint64_t chunk, base::SharedBytes bytes)> lend;
  std::function<bool(const base::PeerId& peer)> lends;
};

class ChunkExchange final : public base::ChunkLenders {
 public:
  static constexpr base::Duration kAnswerPatience = base::Seconds(1);
  static constexpr base::Duration kFreeAnswer = base::Milliseconds(250);
  static constexpr double kAccountSeconds = 5;
  static constexpr double kAccountShare = 0.01;
  static constexpr double kAccountsOfAll = 4;  // what all together have, in accounts of one
  static constexpr double kAccountShareOfAll = 0.05;
  static constexpr double kAsksASecond = LendDesk::kAsksASecond / 2;
  static constexpr std::size_t kAskedAtOnce = 8;
  static constexpr std::size_t kMostAsks = 1024;
  // As long as 512 KiB/s take, and a round trip, but no more than a second.
  static constexpr base::Duration FreeFor(std::size_t bytes) {
    return std::min(kFreeAnswer + base::Milliseconds(static_cast<std::int64_t>(bytes >> 9)),
                    base::Seconds(1));
  }
  // Four times that. Longer chunks of slow members come from the sources.
  static constexpr base::Duration PatienceFor(std::size_t bytes) { return FreeFor(bytes) * 4; }

  // 0: it lends nothing.
  explicit ChunkExchange(std::uint64_t bytes_per_second, double account_seconds = kAccountSeconds);
  ~ChunkExchange() override;

  // REQUIRES: once, and all are set.
  void Open(ExchangeLinks links);
  void OnLink(const base::PeerId& peer, bool up);
  void OnRecord(const base::PeerId& from, const DataRecord& record);
  void SetMembers(std::set<base::PeerId> members);
  void Close();

  std::optional<base::LentChunk> Borrow(std::uint64_t chunk, std::size_t size,
                                        const std::function<bool()>& unwanted) override;
  void Distrust(const base::PeerId& lender) override;
  void LendFrom(base::ChunkShelf& shelf, std::size_t chunk_bytes) override;
  void EndLending() override;

  ExchangeCounts counts() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  // A member whose link is up.
  struct Lender {
    // The chunk that it is sending us. It sends no other before that is complete.
    struct Sending {
      std::uint64_t chunk = 0;
      std::size_t size = 0;
      std::size_t came = 0;
      bool is_wanted = true;  // by a thread in Borrow, which takes it
      bool is_refused = false;
      base::Bytes bytes = {};  // while it is wanted
    };
    std::optional<Sending> sending = std::nullopt;
  };
  // Of a member that was asked once.
  struct Account {
    TokenBucket asks{kAsksASecond, LendDesk::kAsksAtOnce / 2};
    TokenBucket seconds;
  };
  struct Question {
    std::set<base::PeerId> asked;  // and have not answered
    std::deque<base::PeerId> have;
    // How long its thread has waited for answers, and since when it does so now.
    base::Duration waited{};
    std::optional<base::Time> waits_since = std::nullopt;
  };
  struct Ask {
    base::PeerId from;
    DataAsk ask;
    std::shared_ptr<const void> counted = nullptr;  // on_their_way_, of one to send
  };

  // --- borrowing, under mutex_ ---
  std::vector<base::PeerId> WhomToAsk(base::Time now);
  Account& AccountOf(const base::PeerId& peer);
  // A thread has waited for `peer` for `cost`, of which `free` are its due.
  void Charge(const base::PeerId& peer, base::Duration cost, base::Duration free);
  static base::Duration WaitedFor(const Question& question, base::Time now);
  bool IsFree(const base::PeerId& peer) const;
  // False: it has not come by the deadline, is unwanted, or nothing comes any more.
  bool WaitFor(Lock& lock, const std::function<bool()>& unwanted, base::Time deadline,
               const std::function<bool()>& has_come);
  std::optional<base::Bytes> BorrowFrom(Lock& lock, const base::PeerId& peer, std::uint64_t chunk,
                                        std::size_t size, const std::function<bool()>& unwanted,
                                        base::Time deadline);
  // `function` runs on the protocol thread, if this is open by then. REQUIRES: open_.
  void Post(std::function<void()> function);
  void PostSend(const base::PeerId& to, const DataRecord& record);
  void Take(const base::PeerId& from, const DataTold& told);
  void Take(const base::PeerId& from, const DataPiece& piece);

  // --- lending ---
  void OnAsk(const base::PeerId& from, const DataAsk& ask);
  void LendAll(base::ChunkShelf& shelf);
  // On the protocol thread. `bytes` null: it is not here.
  void LendTo(const base::PeerId& peer, std::uint64_t chunk, const base::SharedBytes& bytes);
  std::shared_ptr<const void> CountAsOnItsWay() const;

  const bool lends_;
  const double account_seconds_;
  LendDesk desk_;        // of the protocol thread
  ExchangeLinks links_;  // of the protocol thread, but post

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  std::set<base::PeerId> members_;
  std::map<base::PeerId, Lender> lenders_;
  std::map<base::PeerId, Account> accounts_;  // what a new link does not end
  TokenBucket seconds_of_all_;
  std::set<base::PeerId> distrusted_;
  std::map<std::uint64_t, Question> questions_;  // of the threads in Borrow, one for each
  std::size_t next_ = 0;                         // which lender is asked first
  ExchangeCounts counts_;

  std::size_t chunk_bytes_ = 0;  // of the shelf; 0: there is none
  std::deque<Ask> asks_;         // that wait for the lending thread; at most kMostAsks
  std::thread lending_;
  // Bytes that others were promised, and that are not yet sent. Outlives what is queued.
  const std::shared_ptr<std::atomic<std::uint64_t>> on_their_way_;
};

}  // namespace ostraka::net
