// The implementation of NodeDriver: one class in two files.
//   node_driver.cpp          construction, start, end, the report
//   node_driver_machine.cpp  the machine's inputs, actions and observations; completions
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/host/node_driver.h"
#include "node/host/observation_lines.h"
#include "node/host/timer_queue.h"
#include "node/store/frame_log.h"

namespace ostraka::host {

class NodeDriver::Impl {
 public:
  Impl(NodeOptions options, NodeEvents& events);

  base::Status Bind();
  std::uint16_t port() const { return port_; }
  std::uint16_t http_port() const { return http_port_; }
  NodeReport Run();
  void Stop();

 private:
  // Time since this driver was made.
  base::Time Now() const;
  NodeStatus Status() const;
  base::Status ServeStatus();

  // --- starting and ending ---
  void Start();
  void AwaitSignal();
  void Interrupt(const std::string& by);
  void End(NodeOutcome outcome);
  void Fail(const base::Status& status);
  void StopWhenDone();
  void Finish(const std::optional<std::string>& thrown);

  // --- the machine ---
  void Feed(const protocol::Input& input);
  void Perform(protocol::Action& action);
  void On(protocol::Send& action);
  void On(const protocol::SetTimer& action);
  void On(const protocol::CancelTimer& action);
  void On(protocol::StartJob& action);
  void On(protocol::Store& action);
  void On(const protocol::Observe& action);

  // --- observations ---
  void See(const protocol::StepStarted& seen);
  void See(const protocol::Sealed&) {}
  void See(const protocol::SlowSeal&) {}  // this and the next six: observation_lines.h
  void See(const protocol::Staying&) {}
  void See(const protocol::Slow&) {}
  void See(const protocol::Away&) {}
  void See(const protocol::Barred&) {}
  void See(const protocol::CatchingUp&) {}
  void See(const protocol::Back&) {}
  void See(const protocol::Resumed& seen);
  void See(const protocol::StepDone& seen);
  void See(const protocol::Suspicion& seen) { events_.OnSuspicion(seen); }
  void See(const protocol::StepTimes& seen);
  void See(const protocol::Halted& seen);
  void SeeRemoval(const wire::Removal& removal);
  void ForgetSoon(const base::PeerId& peer);

  // --- completions ---
  void LinkChanged(const base::PeerId& peer, bool up);
  void SayLastWordsTo(const base::PeerId& peer);
  void Evaluated(std::uint64_t step, const base::StatusOr<train::Evaluation>& result);
  void Evaluate(const protocol::StepDone& done);
  void EvaluateLastState();
  void Record(const base::Bytes& frame);
  void Record(std::uint64_t step, const std::string& name, double value);

  NodeOptions options_;
  NodeEvents& events_;
  const base::PeerId self_;
  const base::Time origin_;

  boost::asio::io_context io_{1};
  // Keeps io_ running while jobs and stores are in flight, which it does not know of.
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  boost::asio::signal_set signals_{io_};
  TimerQueue timers_;
  std::map<base::PeerId, os::Timer> forgetting_;
  std::unique_ptr<net::Transport> transport_;  // until Run has ended
  std::optional<store::FrameLog> frames_;
  std::uint16_t port_ = 0;
  NodeMonitor monitor_;
  ObservationLines lines_;
  std::vector<std::unique_ptr<http::HttpServer>> http_;
  std::uint16_t http_port_ = 0;
  std::unique_ptr<JobPool> jobs_;

  std::set<base::PeerId> others_;  // members still in the run, without this node
  std::set<base::PeerId> linked_;
  std::uint64_t step_ = 0;             // in progress
  bool met_ = false;                   // a block was sealed or a step began
  std::optional<NodeOutcome> halted_;  // by the machine or a failure, during a Feed
  bool feeding_ = false;
  bool ending_ = false;
  bool parting_ = false;              // ending, and peers may need the machine's last messages
  std::size_t stores_in_flight_ = 0;  // of the machine
  bool flushed_ = false;
  std::optional<std::uint64_t> asked_evaluation_;  // last step whose state was sent to evaluation
  std::optional<std::uint64_t> answered_evaluation_;  // last step whose evaluation succeeded or
                                                      // failed
  bool awaits_evaluation_ = false;  // while ending: waits for the last requested evaluation
  NodeReport report_;
};

}  // namespace ostraka::host
