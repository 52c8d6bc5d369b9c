#include "node/net/mesh/tally.h"

#include <numeric>

#include "node/base/check.h"

namespace ostraka::net {
namespace {

// Two dials that cross, or a network that changes, replace a link once or twice.
constexpr std::uint64_t kTwinsForALine = 3;

}  // namespace

void AddTraffic(Traffic& sum, const Traffic& added) {
  sum.control_sent += added.control_sent;
  sum.control_received += added.control_received;
  sum.payload_sent += added.payload_sent;
  sum.payload_received += added.payload_received;
  sum.carried_dropped += added.carried_dropped;
}

std::string RateReason(std::uint64_t bytes_per_second, std::uint64_t least, std::size_t members) {
  return "a bandwidth of " + std::to_string(bytes_per_second) +
         " bytes a second is too little for " + std::to_string(members) +
         " members: give at least " + std::to_string(least);
}

void Tally::CountRefusal(Refusal refusal) {
  ++counters_.refused;
  ++counters_.refused_by[static_cast<std::size_t>(refusal)];
  const auto& kinds = counters_.refused_by;
  OSTRAKA_CHECK(std::accumulate(kinds.begin(), kinds.end(), std::uint64_t{0}) ==
                counters_.refused);  // Y1
}

void Tally::CountBytes(const Traffic& added) { AddTraffic(counters_.total, added); }

void Tally::LinkUp(const std::string& name) {
  ++counters_.links;
  ++counters_.links_up;
  notices_.Say(NoticeLevel::kInfo, "linked with " + name);
}

void Tally::LinkDown(const base::PeerId& peer, const std::string& name, const Closing& closing) {
  OSTRAKA_CHECK(counters_.links_up > 0);  // Y2
  --counters_.links_up;
  notices_.Say(closing.why == Closing::Why::kRefused ? NoticeLevel::kWarning : NoticeLevel::kInfo,
               "link with " + name + " is down: it " + closing.reason);
  if (closing.why == Closing::Why::kDuplicate) LostToTwin(peer);
}

void Tally::LostToTwin(const base::PeerId& peer) {
  if (links_lost_to_twins_ == kTwinsForALine) return;
  have_a_twin_.insert(peer);
  // One member alone may say what is not so.
  if (links_lost_to_twins_ + 1 < kTwinsForALine || have_a_twin_.size() > 1) ++links_lost_to_twins_;
  if (links_lost_to_twins_ < kTwinsForALine) return;
  notices_.Say(NoticeLevel::kWarning,
               "another node seems to run with this node's key: end one of the two, since two that "
               "sign with one key are banned for it");
}

void Tally::DialFailed(const std::string& name, const Closing& closing, bool is_news) {
  const NoticeLevel level =
      closing.why == Closing::Why::kRefused ? NoticeLevel::kWarning : NoticeLevel::kInfo;
  // Only news is said aloud: a member may be away for hours.
  notices_.Say(is_news ? level : NoticeLevel::kDebug, name + " " + closing.reason);
}

void Tally::MemberOfAnother(const std::string& name, const Closing& closing, bool is_news) {
  notices_.Say(is_news ? NoticeLevel::kWarning : NoticeLevel::kDebug, name + " " + closing.reason);
}

void Tally::StrangerLeft(base::Time now, const std::string& name, const Closing& closing) {
  const std::string line = name + " " + closing.reason;
  if (closing.why != Closing::Why::kRefused) return notices_.Say(NoticeLevel::kDebug, line);
  notices_.SayOfStranger(now, line);
}

void Tally::AcceptFailed(base::Time now, const std::string& reason) {
  notices_.SayOfStranger(now, "cannot accept connections: " + reason);
}

void Tally::MayLackMessages(const std::string& member) {
  notices_.Say(NoticeLevel::kWarning,
               member + " may lack our last messages: its link was down until the end");
}

void Tally::RateTooLow(std::uint64_t bytes_per_second, std::uint64_t least, std::size_t members) {
  notices_.Say(NoticeLevel::kWarning, RateReason(bytes_per_second, least, members));
}

}  // namespace ostraka::net
