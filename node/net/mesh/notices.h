// Log lines for people, rate-limited where strangers can cause them.
//
// Promises:
//   N1  Of strangers' lines at most a burst passes, and then one a second.
//   N2  Every line that was held back is counted in the next one that passes.
//
// May not know: what a line means.
//
// Memory: constant.
//
// What an attacker can do here: use up the burst, so that other strangers' lines are only counted.
// Lines about members are not limited.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "node/base/time.h"

namespace ostraka::net {

enum class NoticeLevel : std::uint8_t { kDebug, kInfo, kWarning };

class Notices {
 public:
  Notices(std::function<void(NoticeLevel, const std::string&)> sink, std::int64_t burst)
      : sink_(std::move(sink)), burst_(burst), allowed_(burst) {}

  void Say(NoticeLevel level, const std::string& line);
  // A line that a stranger caused at `now`. A burst passes, then one line per second; the next line
  // that passes counts the suppressed ones.
  void SayOfStranger(base::Time now, const std::string& line);

 private:
  std::function<void(NoticeLevel, const std::string&)> sink_;
  const std::int64_t burst_;
  std::int64_t allowed_;
  std::int64_t left_out_ = 0;
  base::Time refilled_;
};

}  // namespace ostraka::net
