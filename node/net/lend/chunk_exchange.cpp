#include "node/net/lend/chunk_exchange.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "node/base/check.h"
#include "node/os/steady_clock.h"

namespace ostraka::net {
namespace {

constexpr auto kAskWanted = std::chrono::milliseconds(100);

}  // namespace

ChunkExchange::ChunkExchange(std::uint64_t bytes_per_second, double account_seconds)
    : lends_(bytes_per_second > 0),
      account_seconds_(account_seconds),
      desk_(std::max<std::uint64_t>(bytes_per_second, 1)),
      seconds_of_all_(kAccountShareOfAll, account_seconds * kAccountsOfAll),
      on_their_way_(std::make_shared<std::atomic<std::uint64_t>>(0)) {}

ChunkExchange::~ChunkExchange() { OSTRAKA_CHECK(!lending_.joinable()); }

void ChunkExchange::Open(ExchangeLinks links) {
  links_ = std::move(links);
  const std::lock_guard lock(mutex_);
  open_ = true;
}

void ChunkExchange::Close() {
  const std::lock_guard lock(mutex_);
  open_ = false;
  lenders_.clear();
  asks_.clear();
  changed_.notify_all();
}

void ChunkExchange::OnLink(const base::PeerId& peer, bool up) {
  const bool lends = up && links_.lends(peer);
  const std::lock_guard lock(mutex_);
  lenders_.erase(peer);
  if (lends && open_) lenders_.try_emplace(peer);
  for (auto& [chunk, question] : questions_) question.asked.erase(peer);
  std::erase_if(asks_, [&peer](const Ask& ask) { return ask.from == peer; });
  changed_.notify_all();
}

void ChunkExchange::SetMembers(std::set<base::PeerId> members) {
  for (const base::PeerId& peer : members_) {
    if (!members.contains(peer)) desk_.Forget(peer);
  }
  const std::lock_guard lock(mutex_);
  members_ = std::move(members);
}

void ChunkExchange::OnRecord(const base::PeerId& from, const DataRecord& record) {
  if (const auto* ask = std::get_if<DataAsk>(&record)) return OnAsk(from, *ask);
  const std::lock_guard lock(mutex_);
  if (const auto* told = std::get_if<DataTold>(&record)) return Take(from, *told);
  Take(from, std::get<DataPiece>(record));
}

ExchangeCounts ChunkExchange::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

// --- borrowing ----------------------------------------------------------------------------------

void ChunkExchange::Take(const base::PeerId& from, const DataTold& told) {
  const auto question = questions_.find(told.chunk);
  if (question != questions_.end() && question->second.asked.erase(from) > 0) {
    Charge(from, WaitedFor(question->second, os::SteadyNow()), kFreeAnswer);
    if (told.answer == DataTold::Answer::kHas) question->second.have.push_back(from);
    return changed_.notify_all();
  }
  const auto lender = lenders_.find(from);
  if (lender == lenders_.end() || !lender->second.sending) return;
  Lender::Sending& sending = *lender->second.sending;
  if (sending.chunk != told.chunk || sending.came > 0 || told.answer == DataTold::Answer::kHas) {
    return;
  }
  sending.is_refused = true;
  if (!sending.is_wanted) lender->second.sending.reset();
  changed_.notify_all();
}

void ChunkExchange::Take(const base::PeerId& from, const DataPiece& piece) {
  const auto lender = lenders_.find(from);
  if (lender == lenders_.end() || !lender->second.sending) return;
  Lender::Sending& sending = *lender->second.sending;
  // Of an ask over an earlier link it may be the middle.
  const bool goes_on = piece.offset == sending.came;
  if (sending.chunk != piece.chunk || !goes_on || sending.is_refused) return;
  const std::size_t more = std::min(piece.bytes.size(), sending.size - sending.came);
  sending.came += more;
  if (sending.is_wanted) {
    sending.bytes.insert(sending.bytes.end(), piece.bytes.begin(),
                         piece.bytes.begin() + static_cast<std::ptrdiff_t>(more));
  }
  if (sending.came < sending.size) return;
  if (!sending.is_wanted) lender->second.sending.reset();
  changed_.notify_all();
}

ChunkExchange::Account& ChunkExchange::AccountOf(const base::PeerId& peer) {
  return accounts_.try_emplace(peer, Account{.seconds = {kAccountShare, account_seconds_}})
      .first->second;
}

void ChunkExchange::Charge(const base::PeerId& peer, base::Duration cost, base::Duration free) {
  if (cost <= free) return;
  AccountOf(peer).seconds.Take((cost - free).seconds());
  seconds_of_all_.Take((cost - free).seconds());
}

base::Duration ChunkExchange::WaitedFor(const Question& question, base::Time now) {
  return question.waited + (question.waits_since ? now - *question.waits_since : base::Duration{});
}

// It is linked, and sends us nothing.
bool ChunkExchange::IsFree(const base::PeerId& peer) const {
  const auto lender = lenders_.find(peer);
  return lender != lenders_.end() && !lender->second.sending;
}

std::vector<base::PeerId> ChunkExchange::WhomToAsk(base::Time now) {
  std::vector<base::PeerId> peers;
  if (!seconds_of_all_.Ready(now)) return peers;
  for (const auto& [peer, lender] : lenders_) {
    if (lender.sending || !members_.contains(peer) || distrusted_.contains(peer)) continue;
    Account& account = AccountOf(peer);
    if (account.asks.Ready(now) && account.seconds.Ready(now)) peers.push_back(peer);
  }
  if (peers.size() <= kAskedAtOnce) return peers;
  next_ = (next_ + kAskedAtOnce) % peers.size();
  std::rotate(peers.begin(), peers.begin() + static_cast<std::ptrdiff_t>(next_), peers.end());
  peers.resize(kAskedAtOnce);
  return peers;
}

void ChunkExchange::Post(std::function<void()> function) {
  OSTRAKA_CHECK(open_);
  links_.post([this, run = std::move(function)] {
    {
      const std::lock_guard lock(mutex_);
      if (!open_) return;  // E4; only this thread closes it
    }
    run();
  });
}

void ChunkExchange::PostSend(const base::PeerId& to, const DataRecord& record) {
  Post([this, to, record] { links_.send(to, record); });
}

bool ChunkExchange::WaitFor(Lock& lock, const std::function<bool()>& unwanted, base::Time deadline,
                            const std::function<bool()>& has_come) {
  while (!has_come()) {
    if (!open_ || os::SteadyNow() >= deadline) return false;
    lock.unlock();
    const bool ends = unwanted && unwanted();
    lock.lock();
    if (ends) return false;
    const std::chrono::nanoseconds left((deadline - os::SteadyNow()).ns);
    if (!has_come() && left.count() > 0) {
      changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(left, kAskWanted));
    }
  }
  return true;
}

std::optional<base::Bytes> ChunkExchange::BorrowFrom(Lock& lock, const base::PeerId& peer,
                                                     std::uint64_t chunk, std::size_t size,
                                                     const std::function<bool()>& unwanted,
                                                     base::Time deadline) {
  const auto found = [&]() -> Lender* {
    const auto lender = lenders_.find(peer);
    const bool is_ours = lender != lenders_.end() && lender->second.sending &&
                         lender->second.sending->chunk == chunk &&
                         lender->second.sending->is_wanted;
    return is_ours ? &lender->second : nullptr;
  };
  lenders_.at(peer).sending = Lender::Sending{.chunk = chunk, .size = size};
  AccountOf(peer).asks.Take(1);
  PostSend(peer, DataAsk{DataAsk::What::kSend, chunk});
  const bool came = WaitFor(lock, unwanted, deadline, [&] {
    const Lender* const from = found();  // null: its link went down
    return from == nullptr || from->sending->is_refused || from->sending->came == size;
  });
  Lender* const from = found();
  if (from == nullptr) return std::nullopt;
  if (!came) {
    from->sending->is_wanted = false;
    from->sending->bytes = {};
    return std::nullopt;
  }
  Lender::Sending sent = *std::exchange(from->sending, std::nullopt);
  if (sent.is_refused) return std::nullopt;
  return std::move(sent.bytes);
}

std::optional<base::LentChunk> ChunkExchange::Borrow(std::uint64_t chunk, std::size_t size,
                                                     const std::function<bool()>& unwanted) {
  OSTRAKA_CHECK(size > 0);
  Lock lock(mutex_);
  if (!open_ || questions_.contains(chunk)) return std::nullopt;
  const std::vector<base::PeerId> peers = WhomToAsk(os::SteadyNow());
  if (peers.empty()) return std::nullopt;
  Question& question = questions_[chunk];
  question.asked.insert(peers.begin(), peers.end());
  for (const base::PeerId& peer : peers) {
    AccountOf(peer).asks.Take(1);
    PostSend(peer, DataAsk{DataAsk::What::kHave, chunk});
  }
  const base::Time no_later = os::SteadyNow() + kAnswerPatience;
  std::optional<base::LentChunk> lent;
  // No member is asked to send after kAnswerPatience, so each has the whole PatienceFor.
  while (!lent && open_ && os::SteadyNow() < no_later && !(unwanted && unwanted())) {
    question.waits_since = os::SteadyNow();
    WaitFor(lock, unwanted, no_later,
            [&] { return !question.have.empty() || question.asked.empty(); });
    question.waited = WaitedFor(question, os::SteadyNow());
    question.waits_since.reset();
    if (question.have.empty()) break;
    const base::PeerId peer = question.have.front();
    question.have.pop_front();
    if (!IsFree(peer)) continue;  // it sends another thread a chunk
    const base::Time begin = os::SteadyNow();
    auto bytes = BorrowFrom(lock, peer, chunk, size, unwanted, begin + PatienceFor(size));
    Charge(peer, os::SteadyNow() - begin, bytes ? FreeFor(size) : base::Duration{});
    if (bytes) lent = base::LentChunk{*std::move(bytes), peer};
  }
  for (const base::PeerId& silent : question.asked) Charge(silent, question.waited, kFreeAnswer);
  questions_.erase(chunk);
  if (lent) ++counts_.borrowed;
  return lent;
}

void ChunkExchange::Distrust(const base::PeerId& lender) {
  const std::lock_guard lock(mutex_);
  distrusted_.insert(lender);
}

// --- lending ------------------------------------------------------------------------------------

void ChunkExchange::OnAsk(const base::PeerId& from, const DataAsk& ask) {
  const base::Time now = os::SteadyNow();
  Lock lock(mutex_);
  if (!open_ || !lends_ || !members_.contains(from) || !desk_.Hears(now, from)) return;
  const bool sends = ask.what == DataAsk::What::kSend;
  const auto may_have = [&] {
    return sends ? desk_.Lends(now, from, chunk_bytes_, *on_their_way_)
                 : desk_.WouldLend(now, from, chunk_bytes_, *on_their_way_);
  };
  if (chunk_bytes_ == 0 || asks_.size() >= kMostAsks || !may_have()) {
    lock.unlock();
    return links_.send(from, DataTold{DataTold::Answer::kBusy, ask.chunk});
  }
  asks_.push_back({from, ask});
  if (sends) asks_.back().counted = CountAsOnItsWay();
  changed_.notify_all();
}

// Counts a chunk until what is returned, and each copy of it, is gone.
std::shared_ptr<const void> ChunkExchange::CountAsOnItsWay() const {
  *on_their_way_ += chunk_bytes_;
  return {this, [counter = on_their_way_, size = chunk_bytes_](const void*) { *counter -= size; }};
}

void ChunkExchange::LendTo(const base::PeerId& peer, std::uint64_t chunk,
                           const base::SharedBytes& bytes) {
  Lock lock(mutex_);
  if (!members_.contains(peer)) return;
  const std::size_t size = chunk_bytes_;
  lock.unlock();
  if (bytes != nullptr && links_.lend(peer, chunk, bytes)) {
    lock.lock();
    ++counts_.lent;
    return;
  }
  desk_.TakeBack(peer, size);
  using Answer = DataTold::Answer;
  links_.send(peer, DataTold{bytes == nullptr ? Answer::kLacks : Answer::kBusy, chunk});
}

void ChunkExchange::LendAll(base::ChunkShelf& shelf) {
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return chunk_bytes_ == 0 || !asks_.empty(); });
    if (chunk_bytes_ == 0) return;
    const Ask asked = std::move(asks_.front());
    const std::uint64_t chunk = asked.ask.chunk;
    asks_.pop_front();
    lock.unlock();
    const bool sends = asked.ask.what == DataAsk::What::kSend;
    const bool has = !sends && shelf.Has(chunk);
    auto lent = sends ? shelf.Lend(chunk) : std::nullopt;
    lock.lock();
    if (!open_) continue;
    if (!sends) {
      using Answer = DataTold::Answer;
      PostSend(asked.from, DataTold{has ? Answer::kHas : Answer::kLacks, chunk});
      continue;
    }
    base::SharedBytes bytes;
    if (lent) {
      struct CountedBytes {
        base::Bytes bytes;
        std::shared_ptr<const void> counted;
      };
      const auto both =
          std::make_shared<CountedBytes>(CountedBytes{*std::move(lent), asked.counted});
      bytes = base::SharedBytes(both, &both->bytes);
    }
    Post([this, peer = asked.from, chunk, bytes] { LendTo(peer, chunk, bytes); });
  }
}

void ChunkExchange::LendFrom(base::ChunkShelf& shelf, std::size_t chunk_bytes) {
  OSTRAKA_CHECK(chunk_bytes > 0 && !lending_.joinable());
  if (!lends_) return;
  const std::lock_guard lock(mutex_);
  chunk_bytes_ = chunk_bytes;
  lending_ = std::thread([this, &shelf] { LendAll(shelf); });
}

void ChunkExchange::EndLending() {
  {
    const std::lock_guard lock(mutex_);
    chunk_bytes_ = 0;
    changed_.notify_all();
  }
  if (lending_.joinable()) lending_.join();
}

}  // namespace ostraka::net
