// What a node's ledger has kept of its run, for the page and the status of a node that starts
// again.
//
// Data flow: the ledger's removals, evidence, evaluations and newest blocks -> RunHistory.
//
// Thread safety: pure but for reading files; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "node/host/report/run_history.h"

namespace ostraka::host {

// Blocks of so many bytes are read at most, the newest, so that a node starts soon: some 15,000 of
// a run of four members. Removals and evidence are read whole: they are few.
inline constexpr std::uint64_t kRecalledBlockBytes = std::uint64_t{16} << 20;

// The history so far, from the ledger in `data_dir`. It is for people: if the ledger cannot be
// read, the history is empty and says so (RunHistory::unread).
RunHistory RecallHistory(const std::string& data_dir,
                         std::uint64_t block_bytes = kRecalledBlockBytes);

}  // namespace ostraka::host
