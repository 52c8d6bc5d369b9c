// Any bytes as a block of the ledger: refused, or exactly the bytes that the decoded block encodes
// to, with the properties on which readers of a block rely.
#include <algorithm>
#include <cstdint>

#include "node/base/check.h"
#include "node/wire/block.h"

namespace ostraka::wire {
namespace {

void CheckBlock(base::ByteView bytes) {
  const auto block = DecodeBlock(bytes);
  if (!block.ok()) {
    OSTRAKA_CHECK(block.status().code() == absl::StatusCode::kInvalidArgument);
    return;
  }
  const Bytes again = EncodeBlock(*block);
  OSTRAKA_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  for (const auto& peers : {block->members, block->proven, block->owing, block->joined}) {
    OSTRAKA_CHECK(std::is_sorted(peers.begin(), peers.end()));
  }
  for (const Block::Column& column : block->aggregated) {
    OSTRAKA_CHECK(std::is_sorted(column.senders.begin(), column.senders.end()));
  }
  for (const Case& open : block->cases) OSTRAKA_CHECK(*CaseKindName(open.id.kind) != '\0');
  OSTRAKA_CHECK(block->thresholds.quorum() <= block->thresholds.n);
  for (const ColumnFate fate : block->columns) OSTRAKA_CHECK(*ColumnFateName(fate) != '\0');
  for (const Removal& removal : block->removals) {
    OSTRAKA_CHECK(*RemovalKindName(removal.kind) != '\0');
    OSTRAKA_CHECK(wire::TextOf(removal.reason).find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace ostraka::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ostraka::wire::CheckBlock({data, size});
  return 0;
}
