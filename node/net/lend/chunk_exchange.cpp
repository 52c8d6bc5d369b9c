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

ChunkExchange::ChunkExchange(std::uint64_t bytes_per_second)
    : lends_(bytes_per_second > 0),
      desk_(std::max<std::uint64_t>(bytes_per_second, 1)),
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
  std::erase_if(resting_, [this](const auto& rest) { return !members_.contains(rest.first); });
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

void ChunkExchange::LetRest(const base::PeerId& peer) {
  const base::Time now = os::SteadyNow();
  const auto [found, is_first] = resting_.try_emplace(peer);
  Rest& rest = found->second;
  if (!is_first && now < rest.until) return;  // another thread has seen it
  const bool again = !is_first && now < rest.until + kLongestRest;
  rest.length = again ? std::min(rest.length * 2, kLongestRest) : kFirstRest;
  rest.until = now + rest.length;
}

bool ChunkExchange::MayBeAsked(const base::PeerId& peer, base::Time now) const {
  const auto rests = resting_.find(peer);
  return members_.contains(peer) && !distrusted_.contains(peer) &&
         (rests == resting_.end() || rests->second.until <= now);
}

std::vector<base::PeerId> ChunkExchange::WhomToAsk(base::Time now) {
  std::vector<base::PeerId> peers;
  for (auto& [peer, lender] : lenders_) {
    const bool is_free = !lender.sending && lender.asks.Ready(now);
    if (is_free && MayBeAsked(peer, now)) peers.push_back(peer);
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
    if (!has_come()) changed_.wait_for(lock, kAskWanted);
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
  const auto lender = lenders_.find(peer);
  if (lender == lenders_.end() || lender->second.sending) return std::nullopt;
  lender->second.sending = Lender::Sending{.chunk = chunk, .size = size};
  lender->second.asks.Take(1);
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
  const Lender::Sending sent = std::move(*from->sending);
  from->sending.reset();
  if (sent.is_refused) return std::nullopt;
  return sent.bytes;
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
    lenders_.at(peer).asks.Take(1);
    PostSend(peer, DataAsk{DataAsk::What::kHave, chunk});
  }
  const base::Time begin = os::SteadyNow();
  const base::Time latest = begin + kAnswerPatience + PatienceFor(size);
  std::optional<base::LentChunk> lent;
  while (!lent) {
    WaitFor(lock, unwanted, begin + kAnswerPatience,
            [&] { return !question.have.empty() || question.asked.empty(); });
    if (question.have.empty()) break;
    const base::PeerId peer = question.have.front();
    question.have.pop_front();
    const base::Time asked = os::SteadyNow();
    auto bytes = BorrowFrom(lock, peer, chunk, size, unwanted, latest);
    if (bytes) {
      lent = base::LentChunk{*std::move(bytes), peer};
    } else if (open_ && os::SteadyNow() >= asked + kAnswerPatience) {
      LetRest(peer);
    }
  }
  if (open_ && os::SteadyNow() >= begin + kAnswerPatience) {
    for (const base::PeerId& silent : question.asked) LetRest(silent);
  }
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
  if (chunk_bytes_ == 0 || asks_.size() >= kMostAsks) {
    lock.unlock();
    return links_.send(from, DataTold{DataTold::Answer::kBusy, ask.chunk});
  }
  if (ask.what == DataAsk::What::kSend && !desk_.Lends(now, from, chunk_bytes_, *on_their_way_)) {
    lock.unlock();
    return links_.send(from, DataTold{DataTold::Answer::kBusy, ask.chunk});
  }
  asks_.push_back({from, ask});
  if (ask.what == DataAsk::What::kSend) asks_.back().counted = CountAsOnItsWay();
  changed_.notify_all();
}

// Counts a chunk until what is returned, and each copy of it, is gone.
std::shared_ptr<const void> ChunkExchange::CountAsOnItsWay() const {
  *on_their_way_ += chunk_bytes_;
  return {this, [counter = on_their_way_, size = chunk_bytes_](const void*) { *counter -= size; }};
}

void ChunkExchange::LendTo(const base::PeerId& peer, std::uint64_t chunk, base::SharedBytes bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (!members_.contains(peer)) return;
  }
  if (!links_.lend(peer, chunk, std::move(bytes))) {
    return links_.send(peer, DataTold{DataTold::Answer::kBusy, chunk});
  }
  const std::lock_guard lock(mutex_);
  ++counts_.lent;
}

void ChunkExchange::LendAll(base::ChunkShelf& shelf) {
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return chunk_bytes_ == 0 || !asks_.empty(); });
    if (chunk_bytes_ == 0) return;
    const auto [peer, ask, counted] = asks_.front();
    asks_.pop_front();
    lock.unlock();
    auto answer = DataTold::Answer::kLacks;
    base::SharedBytes bytes;
    if (ask.what == DataAsk::What::kHave) {
      if (shelf.Has(ask.chunk)) answer = DataTold::Answer::kHas;
    } else if (auto lent = shelf.Lend(ask.chunk)) {
      const auto both = std::make_shared<std::pair<base::Bytes, std::shared_ptr<const void>>>(
          *std::move(lent), counted);
      bytes = base::SharedBytes(both, &both->first);
    }
    lock.lock();
    if (!open_) continue;
    if (bytes == nullptr) {
      PostSend(peer, DataTold{answer, ask.chunk});
    } else {
      Post([this, peer = peer, chunk = ask.chunk, bytes = std::move(bytes)] {
        LendTo(peer, chunk, bytes);
      });
    }
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
