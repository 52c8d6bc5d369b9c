// Any bytes as each entry of a recording: refused, or exactly the bytes that the value encodes to;
// and what a call was given is an input of a machine, or refused.
#include <algorithm>
#include <cstdint>

#include "node/base/check.h"
#include "node/protocol/recording/entries.h"

namespace ostraka::protocol {
namespace {

void CheckRecording(base::ByteView bytes) {
  const auto head = wire::DecodeRecordingHead(bytes);
  if (head.ok()) {
    const base::Bytes again = wire::EncodeRecordingHead(*head);
    OSTRAKA_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  }
  const auto outcome = wire::DecodeRecordedOutcome(bytes);
  if (outcome.ok()) {
    const base::Bytes again = wire::EncodeRecordedOutcome(*outcome);
    OSTRAKA_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  }
  const auto turn = wire::DecodeRecordedInput(bytes);
  if (!turn.ok()) return;
  const base::Bytes again = wire::EncodeRecordedInput(*turn);
  OSTRAKA_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  const auto input = InputOf(*turn);
  if (input.ok()) OSTRAKA_CHECK(input->index() == turn->input);
  if (turn->result && IsHeldWhole(*turn->result)) {
    const auto none = std::make_shared<const std::vector<float>>(1);
    (void)ResultOf(*turn->result, GradientSpec{0, {}, none, {}});
  }
}

}  // namespace
}  // namespace ostraka::protocol

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ostraka::protocol::CheckRecording({data, size});
  return 0;
}
