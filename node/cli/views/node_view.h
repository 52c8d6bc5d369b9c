// Shows a running node to a person (a progress line on a terminal, log lines for important events)
// or to a parent process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "node/cli/terminal/log.h"
#include "node/cli/terminal/member_names.h"
#include "node/host/report/node_events.h"
#include "node/host/report/node_status.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::cli {

// What a person is told at the start.
struct RunFacts {
  std::shared_ptr<const protocol::Manifest> manifest;  // REQUIRES: not null
  base::PeerId self;
  std::string data_dir;
  std::string http;  // HOST:PORT of the page; empty: none
};

// The line of the terminal. `evaluation`: EvaluationText of the last one, or empty.
std::string NodeLine(const host::NodeStatus& status, std::uint64_t steps,
                     const std::string& evaluation);

// Repeated suspicions with equal peer and check are shown once. REQUIRES: `log` outlives the view
// (also below).
std::unique_ptr<host::NodeEvents> MakePeopleView(RunFacts facts, Log& log);

LogLevel LevelOf(net::NoticeLevel level);

// One JSON object per line on stdout, flushed; notices go to the log, with the members' names.
// Repeated suspicions with equal peer and check are reported once per step.
std::unique_ptr<host::NodeEvents> MakeJsonView(MemberNames names, Log& log);

}  // namespace ostraka::cli
