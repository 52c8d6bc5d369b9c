// Two kinds of machine that are as different as the seam allows, for tests.
//   Tally   datagrams, a store, timers, no jobs: counts datagrams and says so to their senders
//   Square  links, jobs, no store: squares numbers for its peers
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "node/base/check.h"
#include "node/machine/datagrams.h"
#include "node/machine/links.h"
#include "node/machine/machine.h"

namespace ostraka::machine {

inline base::SharedBytes BytesOf(std::uint8_t value) {
  return std::make_shared<const base::Bytes>(base::Bytes{value});
}
inline base::PeerId PeerNumber(std::uint8_t number) {
  base::PeerId id;
  id.bytes.fill(number);
  return id;
}

// --- tally --------------------------------------------------------------------------------------

struct TallyRecord {
  std::uint8_t count = 0;
};
struct TallyStarted {
  std::optional<TallyRecord> restored;
};
struct TallyTold {
  std::uint8_t count = 0;
};
struct TallyFull {};

struct TallyKind {
  using Started = TallyStarted;
  using Transport = Datagrams<std::uint16_t>;
  using Jobs = NoJobs;
  using Disk = StoreOf<TallyRecord>;
  using Owner = NoOwner;
  using Observation = std::variant<TallyTold, TallyFull>;
  using Progress = std::uint8_t;  // the count
  static bool IsLast(const Observation& seen) { return std::holds_alternative<TallyFull>(seen); }
};

// Answers a datagram with the count that includes it, but only once that count is durable. Each
// second it tells its home address the count. Full at `most`; then it still answers, with `most`.
class Tally final : public Machine<TallyKind> {
 public:
  static constexpr std::uint16_t kHome = 1;
  explicit Tally(std::uint8_t most) : most_(most) {}

  void Step(base::Time now, const InputOf<TallyKind>& input, Outbox<TallyKind>& out) override {
    if (const auto* started = std::get_if<TallyStarted>(&input)) {
      if (started->restored) count_ = started->restored->count;
      out.Add(SetTimer{kEachSecond, now + base::Seconds(1)});
    } else if (const auto* got = std::get_if<DatagramReceived<std::uint16_t>>(&input)) {
      if (count_ == most_ && waiting_.empty()) return out.Add(Answer(got->from, most_));
      if (count_ == most_) return;
      waiting_.emplace(++count_, got->from);
      out.Add(Store<TallyRecord>{count_, {{count_}}});
    } else if (const auto* stored = std::get_if<Stored>(&input)) {
      const auto count = static_cast<std::uint8_t>(stored->id);
      out.Add(Answer(waiting_.extract(count).mapped(), count));
      if (count < most_) return;
      out.Add(CancelTimer{kEachSecond});
      out.Add(Observe<TallyKind::Observation>{TallyFull{}});
    } else if (std::holds_alternative<TimerFired>(input)) {
      out.Add(Answer(kHome, count_));
      out.Add(Observe<TallyKind::Observation>{TallyTold{count_}});
      out.Add(SetTimer{kEachSecond, now + base::Seconds(1)});
    }
  }
  void CheckInvariants() const override { OSTRAKA_CHECK(count_ <= most_); }
  base::Digest Fingerprint() const override {
    base::Digest digest;
    digest.bytes[0] = count_;
    return digest;
  }
  std::uint8_t progress() const override { return count_; }

 private:
  static constexpr TimerId kEachSecond = 7;
  static SendDatagram<std::uint16_t> Answer(std::uint16_t to, std::uint8_t count) {
    return {to, BytesOf(count)};
  }

  std::uint8_t most_;
  std::uint8_t count_ = 0;
  std::map<std::uint8_t, std::uint16_t> waiting_;  // by count: the sender to answer
};

// --- square -------------------------------------------------------------------------------------

struct SquareStarted {};
struct SquareDone {
  std::uint8_t root = 0;
};

struct SquareKind {
  using Started = SquareStarted;
  using Transport = Links;
  using Jobs = JobsOf<std::uint8_t, std::uint16_t>;
  using Disk = NoStore;
  using Owner = NoOwner;
  using Observation = SquareDone;
  using Progress = std::monostate;
  static bool IsLast(const Observation&) { return false; }
};

// Squares the first byte of each frame from a linked peer, and sends the low byte back.
class Square final : public Machine<SquareKind> {
 public:
  void Step(base::Time, const InputOf<SquareKind>& input, Outbox<SquareKind>& out) override {
    if (const auto* link = std::get_if<LinkChanged>(&input)) {
      link->up ? (void)linked_.insert(link->peer) : (void)linked_.erase(link->peer);
    } else if (const auto* got = std::get_if<MessageReceived>(&input)) {
      if (got->frame->empty()) return;
      const std::uint8_t root = got->frame->front();
      jobs_.emplace(++last_job_, std::pair{got->from, root});
      out.Add(StartJob<std::uint8_t>{last_job_, std::make_shared<const std::uint8_t>(root)});
    } else if (const auto* done = std::get_if<JobDone<std::uint16_t>>(&input)) {
      const auto [asker, root] = jobs_.extract(done->id).mapped();
      out.Add(Observe<SquareDone>{{root}});
      if (!linked_.contains(asker)) return;
      out.Add(Send{asker, BytesOf(static_cast<std::uint8_t>(*done->result)), nullptr});
    }
  }
  void CheckInvariants() const override { OSTRAKA_CHECK(jobs_.size() <= last_job_); }
  base::Digest Fingerprint() const override { return {}; }

 private:
  JobId last_job_ = 0;
  std::map<JobId, std::pair<base::PeerId, std::uint8_t>> jobs_;
  std::set<base::PeerId> linked_;
};

}  // namespace ostraka::machine
