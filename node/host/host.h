// The entry point of node/host: any number of runs in one process, on one io_context. Open a
// manifest, a key and a data folder, and get a running member
// (docs/decisions/0014-host-as-a-library.md).
//
//   host::Host host;
//   ASSIGN_OR_RETURN(const auto run, host.Open(std::move(options), events));
//   host.RunToTheEnd();
//   run->report()->outcome ...
//
// Promises:
//   H1  All events and callbacks come from the thread in RunToTheEnd, one at a time.
//   H2  A run that cannot be opened, fails, ends or is stopped changes nothing for the others,
//       unless it fails a CHECK: then the process ends.
//   H3  RunToTheEnd returns as soon as no run is open, and not earlier.
//   H4  One key of one run is open at most once on this computer, whatever the process
//       (key_lock.h).
//   H5  A host touches no signal, environment variable, standard stream or default folder.
//
// Not shared: trainers, worker threads, ledgers, ports. Shared: the protocol thread, so the Steps
// of all machines add up on it; and the computer. A node of the DHT belongs to its run, whose key
// and port it has (driver/member_finder.h).
//
// May not know: commands, files of keys and manifests (its caller reads them), attacks.
// Memory: that of its open runs.
// What an attacker can do here: what it can do in its own run (node_driver.h). The Steps that it
// causes delay the other runs, so a slow computer should not host many runs.
//
// Thread safety: Stop and Post from any thread; the rest on the thread in RunToTheEnd, or on any
// one thread while nothing is in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/host/prepared_run.h"
#include "node/host/run.h"
#include "node/host/run_options.h"

namespace ostraka::host {

class Host {
 public:
  // Called on the protocol thread when a run has ended; `run.report()` has the result. May open
  // another run. Must not throw; if it does, its run counts as failed.
  using Ended = std::function<void(Run& run)>;

  Host();
  // Ends open runs at once, without their reports.
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Opens a run, binds its ports, and starts it once RunToTheEnd runs. Prepare's and
  // NodeDriver::Make's errors. REQUIRES: `events` outlives the run; crypto::Initialize was called.
  base::StatusOr<std::shared_ptr<Run>> Open(RunOptions options, NodeEvents& events,
                                            Ended ended = nullptr);
  // The same after Prepare, which reads files and should run elsewhere while other runs go on.
  base::StatusOr<std::shared_ptr<Run>> Open(PreparedRun prepared, NodeEvents& events,
                                            Ended ended = nullptr);

  void RunToTheEnd();

  // Posts a request that ends every run that is open when the protocol thread handles it. Before
  // RunToTheEnd that is its beginning. Nothing happens if RunToTheEnd returns first. `by` completes
  // "stopped by ...".
  void Stop(const std::string& by = "request");

  // Runs `function` on the protocol thread while that is in RunToTheEnd, this time or the next. A
  // function that throws ends all runs that have started.
  void Post(std::function<void()> function);

  const std::vector<std::shared_ptr<Run>>& open() const { return open_; }
  // Every open run has a driver, and is listed once. Checked at the end of each mutation.
  void CheckInvariants() const;

  // For timers and signals of the caller. A handler that throws ends all runs that have
  // started.
  boost::asio::io_context& io() { return *io_; }

 private:
  // Runs one function of the io_context.
  void Turn();
  // Gives back what the runs that have ended hold, and tells their owners.
  void FreeEnded();

  const std::unique_ptr<boost::asio::io_context> io_;
  std::vector<std::shared_ptr<Run>> open_;
  bool running_ = false;
  std::atomic<std::uint64_t> calls_{0};  // of RunToTheEnd that have returned
};

}  // namespace ostraka::host
