#include "node/net/mesh/notices.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::net {

void Notices::Say(NoticeLevel level, const std::string& line) {
  if (sink_) sink_(level, line);
}

void Notices::SayOfStranger(base::Time now, const std::string& line) {
  const std::int64_t seconds = (now - refilled_).ns / base::Seconds(1).ns;
  if (seconds > 0) {
    allowed_ = std::min(burst_, allowed_ + std::min(seconds, burst_));
    refilled_ = refilled_ + base::Seconds(seconds);
  }
  OSTRAKA_CHECK(allowed_ >= 0 && allowed_ <= burst_);  // N1
  if (allowed_ == 0) {
    ++left_out_;
    return;
  }
  --allowed_;
  std::string said = line;
  if (left_out_ > 0) said += " (" + std::to_string(left_out_) + " such lines left out before it)";
  left_out_ = 0;
  Say(NoticeLevel::kWarning, said);
}

}  // namespace ostraka::net
