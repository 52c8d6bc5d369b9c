// The implementation of NodeDriver: one class in two files.
//   node_driver.cpp          construction, start, end, the report
//   node_driver_machine.cpp  the machine's inputs, actions and observations
// It connects the parts, which do the work: seat (machine, time), disk, jobs, transport, known
// keys, reporter, stop sequence. A part calls back here and never another part.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "node/host/driver/evaluations.h"
#include "node/host/driver/known_keys.h"
#include "node/host/driver/machine_seat.h"
#include "node/host/driver/member_finder.h"
#include "node/host/driver/node_driver.h"
#include "node/host/driver/pledge.h"
#include "node/host/driver/run_disk.h"
#include "node/host/driver/status_server.h"
#include "node/host/driver/stop_sequence.h"
#include "node/host/driver/stop_wait.h"
#include "node/host/report/reporter.h"
#include "node/host/threads/background_task.h"
#include "node/host/threads/inlet.h"
#include "node/net/lend/chunk_exchange.h"
#include "node/os/descriptor.h"
#include "node/os/timer.h"

namespace ostraka::host {

class NodeDriver::Impl {
 public:
  Impl(boost::asio::io_context& io, NodeOptions options, NodeEvents& events);
  ~Impl() { CloseExchange(); }

  // Takes over `listen_socket`, if there is one.
  base::Status Bind(boost::asio::io_context& io, os::Descriptor listen_socket);
  std::uint16_t port() const { return plan_.port; }
  std::uint16_t http_port() const { return plan_.http_port; }
  void Start(Ended ended);
  enum class How : std::uint8_t { kAtOnce, kSafely, kLeaving };
  void Stop(const std::string& by, How how);
  void Break(const std::string& what);

 private:
  // The options that no part owns.
  struct Plan {
    explicit Plan(NodeOptions& options);  // takes what it needs
    base::PeerId self;
    base::Digest run_id;
    net::TransportOptions transport;  // until Bind
    FinderOptions finder;             // until Bind
    std::shared_ptr<net::ChunkExchange> exchange;
    StatusService status;
    std::shared_ptr<store::RecordingFile> recording;
    base::Duration flush_timeout;
    protocol::Started started;  // until Start
    std::shared_ptr<const wire::Block> genesis;
    std::function<bool(const wire::Block&)> may_leave;
    std::function<std::uint32_t(const wire::Block&)> borne_without;
    protocol::Told wishes;
    // The step in progress when this node asked to leave, and who made it ask.
    std::optional<std::uint64_t> leave_asked_in;
    std::string leave_asked_by;
    std::function<StepWaits(const wire::Block&)> waits;
    std::shared_ptr<store::RevocationFile> revocations;
    std::uint16_t port = 0;  // from Bind on
    std::uint16_t http_port = 0;
    base::Time begun;
  };
  // What the closing thread leaves.
  struct Closed {
    net::TransportCounters traffic;
    std::optional<net::ExchangeCounts> lending;
    base::Status ledger;
    base::Time at;
    store::LedgerStats stats;
    base::StatusOr<std::string> state = base::NotFound("no states are kept");
  };
  RunDiskEvents DiskEvents();
  JobPoolCallbacks JobEvents();
  NodeStatus Status() const;
  // Status without what costs system calls; `brief`: nor what grows with the run
  // (Reporter::BriefAt).
  NodeStatus Seen(bool brief = false) const;
  // Once a second while the machine runs.
  void Look();
  bool AskToLeave(const std::string& by);
  // A node that asked to leave and was not let go stops as one that cannot leave.
  void StopUnlessLetGo(const wire::Block& block);
  void TellOfRecording();
  void TellOfTrainer();
  void OpenExchange();
  // The trainer's threads may ask until they end.
  void CloseExchange() {
    if (plan_.exchange != nullptr) plan_.exchange->Close();
  }

  // --- the machine ---
  void Feed(const protocol::Input& input);
  void On(protocol::Send& action);
  void On(protocol::StartJob& action);
  void On(const protocol::StopJob& action) { jobs_.Stop(action.id); }
  void On(protocol::Store& action);
  void On(const protocol::Observe& action);
  // MachineSeat performs SetTimer and CancelTimer itself.
  template <typename Timer>
  requires(std::is_same_v<Timer, protocol::SetTimer> ||
           std::is_same_v<Timer, protocol::CancelTimer>) void On(const Timer&) {}
  void LinkChanged(const base::PeerId& peer, bool up);
  // Something that the machine asked for was refused.
  void Refused(const base::Status& status);

  // --- observations that ask something of the driver ---
  void See(const protocol::Resumed& seen);
  void See(const protocol::StepDone& seen);
  void See(const protocol::FalseGradient& seen);
  void See(const protocol::StepTimes& seen);
  void See(const protocol::Halted& seen);
  template <typename T>
  void See(const T&) {}
  // The newest block: keys that have come since, and those that are about to.
  void Meet(const wire::Block& block);
  void Ban(const base::PeerId& peer);

  // --- evaluations ---
  void Evaluate(std::uint64_t step, const protocol::SharedVector& parameters);
  void EvaluateLastState();
  void Evaluated(std::uint64_t step, const base::StatusOr<train::Evaluation>& result);

  // --- the end ---
  // `why` follows where; empty: nothing but that somebody asked.
  void StopNow(const std::string& by, const std::string& why = "");
  void Fail(const base::Status& status);
  void BeginFlush();
  void CloseIfDone();
  void BeginClose();
  void StopTimers();
  void Close();
  void Finish(const Closed& closed, const base::Status& ran);
  void EndUnclosed(const std::string& what);

  // Members are destroyed from the last to the first: whatever calls back is destroyed before what
  // it calls.
  Plan plan_;
  const Inlet inlet_;
  StopSequence stop_;
  Pledge pledge_;
  StopWait stop_wait_;
  MachineSeat<protocol::MemberKind> seat_;
  Reporter reporter_;
  KnownKeys known_keys_;
  os::Timer look_timer_;
  Evaluations evaluations_;
  RunDisk disk_;
  JobPool jobs_;
  std::unique_ptr<net::Transport> transport_;  // until the run closes
  bool open_ = false;                          // the transport has started
  std::optional<MemberFinder> finder_;         // until the run closes
  std::optional<StatusServer> http_;           // until the run closes
  Ended ended_;
  BackgroundTask closing_;  // waits for disk and jobs
};

}  // namespace ostraka::host
