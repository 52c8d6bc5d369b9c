// Internal to node/wire, included by its .cpp files only: encodes Block::aggregated, the owner of
// each column and the workers whose parts it includes.
//
// Nearly every worker is in nearly every column. So the block lists each worker once, and each
// column has one bit per listed worker: 30 KiB instead of 2 MiB at 256 members.
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
