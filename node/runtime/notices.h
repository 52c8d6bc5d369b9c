// Lines for people, kept few where strangers can cause them.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "node/base/time.h"
#include "node/runtime/transport.h"

namespace ostraka::runtime {

class Notices {
 public:
  explicit Notices(std::function<void(NoticeLevel, const std::string&)> sink)
      : sink_(std::move(sink)) {}

  void Say(NoticeLevel level, const std::string& line);
  // A line that a stranger caused at `now`: a burst of kBurst passes, then one a second; the next
  // that passes says how many did not.
  void SayOfStranger(base::Time now, const std::string& line);

  static constexpr std::int64_t kBurst = 20;

 private:
  std::function<void(NoticeLevel, const std::string&)> sink_;
  std::int64_t allowed_ = kBurst;
  std::int64_t left_out_ = 0;
  base::Time refilled_;
};

}  // namespace ostraka::runtime
