// What a running node answers over HTTP: its page (node/cli/page), and the paths for programs
// (node/cli/views/node_answers.h).
//
// Thread safety: ServePage before the run is opened; ServeLastPage after its end, blocks.
#pragma once

#include <memory>
#include <string>

#include "node/base/status.h"
#include "node/cli/page/run_page.h"
#include "node/host/run_options.h"

namespace ostraka::cli {

// Answers at the places of `run`. The page outlives the run.
std::shared_ptr<RunPage> ServePage(host::RunOptions& run);

// If somebody looked at the page shortly before the run ended: serves its last state at `address`
// ("host:port") for a few seconds, so that an open page shows how the run ended.
// HttpServer::Make's errors.
base::Status ServeLastPage(const RunPage& page, const std::string& address);

}  // namespace ostraka::cli
