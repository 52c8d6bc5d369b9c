// One open run of a Host: a member that trains, until it ends or is stopped.
//
// Promises:
//   U1  `report()` is null until the run has ended. From then on the run holds no file, lock, port
//       or thread, so that the same run can be opened again.
//   U2  A run shares with other runs of its host only the protocol thread.
//
// May not know: other runs, signals, commands.
// Memory: what its driver needs; after the end, the report with the last state.
// What an attacker can do here: node_driver.h.
//
// Thread safety: Stop, StopSafely and Leave from any thread; the rest on the protocol thread, or on
// any one thread while the host does not run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "node/base/ids.h"
#include "node/base/tensor_layout.h"
#include "node/host/prepared_run.h"
#include "node/host/report/node_events.h"

namespace ostraka::host {

class Run : public std::enable_shared_from_this<Run> {
 public:
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const base::Digest& run_id() const { return run_id_; }
  const base::PeerId& self() const { return self_; }
  const base::TensorLayout& layout() const { return layout_; }
  std::uint16_t port() const { return port_; }            // 0 if it only dials
  std::uint16_t http_port() const { return http_port_; }  // 0 if it has none

  // Ends the run soon. `by` completes "stopped by ...". REQUIRES: the host still exists.
  void Stop(const std::string& by = "request");

  // The same once the others need nothing more of it (NodeDriver::StopSafely). `by` and REQUIRES as
  // for Stop.
  void StopSafely(const std::string& by = "request");

  // Leaves the run (NodeDriver::Leave). `by` and REQUIRES as for Stop.
  void Leave(const std::string& by = "request");

  // U1.
  const NodeReport* report() const { return report_ ? &*report_ : nullptr; }

  // U1, in both directions; also at the end of each mutation.
  void CheckInvariants() const;

 private:
  friend class Host;

  // The errors of NodeDriver::Make.
  static base::StatusOr<std::shared_ptr<Run>> Open(boost::asio::io_context& io,
                                                   PreparedRun prepared, NodeEvents& events,
                                                   std::function<void(Run&)> ended);
  Run(boost::asio::io_context& io, const PreparedRun& prepared, std::function<void(Run&)> ended);

  void Start();
  // True once the driver has ended. The host then calls Free, not from a function of the driver.
  bool HasEnded() const { return ended_report_.has_value(); }
  // Gives back everything that the run holds, and tells `ended`. REQUIRES: HasEnded.
  void Free();
  // On the protocol thread, also before Start.
  void StopNow(const std::string& by);
  // One of NodeDriver's ways to end.
  void EndBy(void (NodeDriver::*way)(const std::string&), const std::string& by);
  // A library failed outside of any run's functions.
  void BreakNow(const std::string& what);
  // The host is destroyed: ends at once, without a report.
  void Abandon();

  boost::asio::io_context& io_;
  const base::Digest run_id_;
  const base::PeerId self_;
  const base::TensorLayout layout_;
  std::uint16_t port_ = 0;
  std::uint16_t http_port_ = 0;
  std::optional<store::KeyLock> key_lock_;  // until the end
  std::unique_ptr<NodeDriver> driver_;      // until the end
  bool started_ = false;
  std::optional<std::string> stop_at_start_;  // the `by` of a Stop that came before Start
  std::function<void(Run&)> ended_;           // until the end
  std::optional<NodeReport> ended_report_;    // from the driver's end until Free
  std::optional<NodeReport> report_;
  bool abandoned_ = false;
};

}  // namespace ostraka::host
