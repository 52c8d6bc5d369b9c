// Internal to node/wire, included by its .cpp files only: who aggregated whose parts, in a block.
//
// Nearly every worker is in nearly every column. So the block names each once, and a column has a
// bit for each: at 256 members 30 KiB instead of 2 MiB.
#pragma once

#include <vector>

#include "node/base/status.h"
#include "node/wire/block.h"
#include "ostraka.capnp.h"

namespace ostraka::wire::internal {

// REQUIRES: the senders of each column ascend strictly.
void WriteAggregated(const std::vector<Block::Column>& columns, schema::Block::Builder root);
base::Status ReadAggregated(schema::Block::Reader root, std::vector<Block::Column>& out);

}  // namespace ostraka::wire::internal
