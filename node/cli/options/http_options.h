// --http and --http-remote: where people and monitors watch a run.
//
// Thread safety: AddHttpOptions before parsing; CheckHttp is a pure function.
#pragma once

#include <string>

#include "node/base/status.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct HttpOptions {
  std::string address;  // HOST:PORT; empty: nowhere
  bool remote = false;  // other machines may reach it
};

void AddHttpOptions(CLI::App& command, HttpOptions& options);

// InvalidArgument: no address, or one that other machines would reach without --http-remote.
base::Status CheckHttp(const HttpOptions& options);

}  // namespace ostraka::cli
