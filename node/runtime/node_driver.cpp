#include "node/runtime/node_driver.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <exception>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "crypto/sign.h"
#include "node/base/check.h"
#include "node/runtime/steady_clock.h"
#include "node/runtime/timer_queue.h"

namespace ostraka::runtime {
namespace {

using protocol::Action;
using protocol::Input;
using protocol::Observation;

NodeEnd EndOf(protocol::Halted::Why why) {
  using Why = protocol::Halted::Why;
  switch (why) {
    case Why::kFinished:
      return NodeEnd::kFinished;
    case Why::kBanned:
      return NodeEnd::kBanned;
    case Why::kStalled:
      return NodeEnd::kStalled;
    case Why::kDiverged:
      return NodeEnd::kDiverged;
    case Why::kFailed:
      return NodeEnd::kFailed;
    case Why::kForked:
      return NodeEnd::kForked;
  }
  return NodeEnd::kFailed;
}

// Between two lines on how far a node has caught up.
constexpr base::Duration kTellEvery = base::Seconds(1);

}  // namespace

class NodeDriver::Impl {
 public:
  Impl(NodeOptions options, NodeEvents& events);

  base::Status Bind();
  void RecordFrame(const base::Bytes& frame);
  std::uint16_t port() const { return port_; }
  std::uint16_t http_port() const { return http_port_; }
  NodeReport Run();
  void Stop();

 private:
  // Since this driver was made.
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
  void Feed(const Input& input);
  void Perform(Action& action);
  void On(protocol::Send& action);
  void On(const protocol::SetTimer& action);
  void On(const protocol::CancelTimer& action);
  void On(protocol::StartJob& action);
  void On(protocol::Store& action);
  void On(const protocol::Observe& action);

  // --- what it observes ---
  void See(const protocol::StepStarted& seen);
  void See(const protocol::Sealed&) {}
  void See(const protocol::SlowSeal& seen);
  void See(const protocol::Away& seen);
  void See(const protocol::Barred& seen);
  void See(const protocol::CatchingUp& seen);
  void See(const protocol::Back& seen);
  void See(const protocol::Resumed& seen);
  void See(const protocol::StepDone& seen);
  void See(const protocol::Suspicion& seen) { events_.OnSuspicion(seen); }
  void See(const protocol::StepTimes& seen);
  void See(const protocol::Halted& seen);
  void SeeRemoval(const wire::Removal& removal);
  void ForgetSoon(const PeerId& peer);

  // --- completions ---
  void LinkChanged(const PeerId& peer, bool up);
  void SayLastWordsTo(const PeerId& peer);
  void Evaluated(std::uint64_t step, const base::StatusOr<train::Evaluation>& result);
  void Evaluate(const protocol::StepDone& done);
  void EvaluateLastState();
  void Record(std::uint64_t step, const std::string& name, double value);

  NodeOptions options_;
  NodeEvents& events_;
  const PeerId self_;
  const base::Time origin_;

  boost::asio::io_context io_{1};
  // Jobs and stores in flight are work, which an io_context does not see.
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  boost::asio::signal_set signals_{io_};
  TimerQueue timers_;
  std::map<PeerId, Timer> forgetting_;
  std::unique_ptr<Transport> transport_;  // until Run has ended
  std::ofstream record_;
  std::uint16_t port_ = 0;
  NodeMonitor monitor_;
  std::vector<std::unique_ptr<HttpServer>> http_;
  std::uint16_t http_port_ = 0;
  std::unique_ptr<JobPool> jobs_;

  std::set<PeerId> others_;  // members still in the run, without this node
  std::set<PeerId> linked_;
  std::uint64_t step_ = 0;             // in progress
  bool met_ = false;                   // a block was sealed or a step begun
  std::optional<NodeOutcome> halted_;  // by the machine or a failure, during a Feed
  bool feeding_ = false;
  bool ending_ = false;
  bool parting_ = false;              // ending, and peers may need what the machine said last
  std::size_t stores_in_flight_ = 0;  // of the machine
  base::Time told_of_way_;            // when people last heard how far it has caught up
  bool flushed_ = false;
  std::optional<std::uint64_t> asked_evaluation_;     // the last step whose state was asked for
  std::optional<std::uint64_t> answered_evaluation_;  // and answered, well or badly
  bool awaits_evaluation_ = false;                    // while ending: the last one asked for
  NodeReport report_;
};

NodeDriver::Impl::Impl(NodeOptions options, NodeEvents& events)
    : options_(std::move(options)),
      events_(events),
      self_(options_.transport.key->id()),
      origin_(SteadyNow()),
      timers_(
          io_, [this] { return Now(); },
          [this](TimerQueue::Id id) { Feed(protocol::TimerFired{id}); }),
      monitor_(Now()) {
  for (const TransportMember& member : options_.transport.members) {
    if (member.id != self_) others_.insert(member.id);
  }
}

void NodeDriver::Impl::RecordFrame(const base::Bytes& frame) {
  const auto size = static_cast<std::uint32_t>(frame.size());
  char length[sizeof size];
  for (std::size_t i = 0; i < sizeof size; ++i) length[i] = static_cast<char>(size >> (8 * i));
  record_.write(length, sizeof length);
  record_.write(reinterpret_cast<const char*>(frame.data()), size);
}

base::Status NodeDriver::Impl::Bind() {
  if (!options_.record_file.empty()) {
    record_.open(options_.record_file, std::ios::binary | std::ios::app);
    if (!record_.is_open()) return base::Unavailable("cannot write " + options_.record_file);
  }
  TransportEvents events;
  events.message = [this](const PeerId& from, SharedBytes frame, SharedBlob blob) {
    if (record_.is_open()) RecordFrame(*frame);
    Feed(protocol::MessageReceived{from, std::move(frame), std::move(blob)});
  };
  events.link = [this](const PeerId& peer, bool up) { LinkChanged(peer, up); };
  events.notice = [this](NoticeLevel level, const std::string& line) {
    events_.OnNotice(level, line);
  };
  ASSIGN_OR_RETURN(transport_, Transport::Make(io_, options_.transport, std::move(events)));
  port_ = transport_->port();
  return ServeStatus();
}

base::Status NodeDriver::Impl::ServeStatus() {
  for (const HttpPlace& place : options_.http) {
    const auto answer = [this](std::string_view path) {
      return options_.http_answer(path, Status());
    };
    ASSIGN_OR_RETURN(http_.emplace_back(), HttpServer::Make(io_, place, answer));
    if (http_.back()->port() != 0) http_port_ = http_.back()->port();
  }
  return base::OkStatus();
}

base::Time NodeDriver::Impl::Now() const { return base::Time{} + (SteadyNow() - origin_); }

NodeStatus NodeDriver::Impl::Status() const {
  NodeStatus status = monitor_.StatusAt(Now());
  status.self = self_;
  status.run_id = options_.transport.run_id;
  if (ending_) status.outcome = report_.outcome;
  status.progress = options_.machine->progress();
  status.others.assign(others_.begin(), others_.end());
  status.linked.assign(linked_.begin(), linked_.end());
  status.traffic = transport_->counters();
  if (jobs_) status.jobs = jobs_->stats();
  status.ledger = options_.ledger->stats();
  status.process = ReadProcessStats();
  return status;
}

// --- starting and ending ------------------------------------------------------------------------

NodeReport NodeDriver::Impl::Run() {
  const base::Time begin = Now();
  std::optional<std::string> thrown;
  try {
    Start();
    io_.run();
  } catch (const std::exception& error) {
    thrown = error.what();
  }
  Finish(thrown);
  report_.wall = Now() - begin;
  return std::move(report_);
}

void NodeDriver::Impl::Start() {
  if (options_.handle_signals) {
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    AwaitSignal();
  }
  const auto post = [this](auto handler) { boost::asio::post(io_, std::move(handler)); };
  options_.ledger->Start({
      .committed =
          [this, post](std::vector<protocol::StoreId> ids) {
            post([this, stored = std::move(ids)] {
              for (const protocol::StoreId id : stored) {
                --stores_in_flight_;
                Feed(protocol::Stored{id});
              }
            });
          },
      .failed = [this, post](base::Status why) { post([this, why] { Fail(why); }); },
  });
  jobs_ = std::make_unique<JobPool>(
      options_.trainer, options_.jobs,
      JobPoolCallbacks{
          .job_done =
              [this, post](protocol::JobId id, std::shared_ptr<const protocol::JobResult> result) {
                post([this, id, done = std::move(result)] { Feed(protocol::JobDone{id, done}); });
              },
          .evaluated =
              [this, post](std::uint64_t step, base::StatusOr<train::Evaluation> result) {
                post([this, step, done = std::move(result)] { Evaluated(step, done); });
              },
      });
  events_.OnStarted(port_, http_port_);
  events_.OnLinks(0, others_.size());
  const protocol::Started started{options_.coin_seed, std::move(options_.restored)};
  transport_->Start();  // before the machine's first word, which may be its last
  Feed(started);
}

void NodeDriver::Impl::AwaitSignal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;  // cancelled
    // The system's own handling is back from here on: the next signal ends the process at once.
    boost::system::error_code ignored;
    signals_.clear(ignored);
    Interrupt(signal == SIGINT ? "Ctrl-C" : "SIGTERM");
  });
}

void NodeDriver::Impl::Stop() {
  boost::asio::post(io_, [this] { Interrupt("request"); });
}

void NodeDriver::Impl::Interrupt(const std::string& by) {
  // A node that ends already is told not to wait for its last evaluation or slow peers.
  if (ending_) return io_.stop();
  const std::string where = met_ ? "in step " + std::to_string(step_)
                                 : "before the first step, with " + std::to_string(linked_.size()) +
                                       " of " + std::to_string(others_.size()) + " members linked";
  End({NodeEnd::kInterrupted, step_, "stopped by " + by + " " + where});
}

void NodeDriver::Impl::Fail(const base::Status& status) {
  if (!halted_) halted_ = NodeOutcome{NodeEnd::kFailed, step_, base::MessageOf(status)};
  // Within a Feed the input's other actions come first: they owe nothing to what failed.
  if (!feeding_ && !ending_) End(*halted_);
}

void NodeDriver::Impl::End(NodeOutcome outcome) {
  OSTRAKA_CHECK(!ending_);
  ending_ = true;
  report_.outcome = std::move(outcome);
  timers_.Clear();
  forgetting_.clear();
  events_.OnHalted(report_.outcome);
  if (report_.outcome.end != NodeEnd::kInterrupted) EvaluateLastState();
  parting_ = report_.outcome.end == NodeEnd::kFinished || report_.outcome.end == NodeEnd::kBanned;
  const auto flushed = [this] {
    flushed_ = true;
    StopWhenDone();
  };
  if (parting_) {
    transport_->Part(options_.flush_timeout, flushed);
  } else {
    transport_->Shutdown(options_.flush_timeout, flushed);
  }
}

void NodeDriver::Impl::StopWhenDone() {
  if (ending_ && flushed_ && !awaits_evaluation_) io_.stop();
}

void NodeDriver::Impl::Finish(const std::optional<std::string>& thrown) {
  if (thrown) {
    report_.outcome = {NodeEnd::kFailed, step_, "a library failed: " + *thrown};
    if (!ending_) events_.OnHalted(report_.outcome);
    ending_ = true;
  }
  OSTRAKA_CHECK(ending_);
  if (jobs_) {
    jobs_->Shutdown();
    report_.jobs = jobs_->stats();
  }
  report_.traffic = transport_->counters();
  http_.clear();
  transport_.reset();
  const base::Status closed = options_.ledger->Close(report_.outcome.reason);
  if (!closed.ok() && report_.outcome.end != NodeEnd::kFailed) {
    report_.outcome.end = NodeEnd::kFailed;
    report_.outcome.reason = base::MessageOf(closed);
  }
  report_.ledger = options_.ledger->stats();
  report_.peak_rss_bytes = ReadProcessStats().peak_rss_bytes;
}

// --- the machine --------------------------------------------------------------------------------

void NodeDriver::Impl::Feed(const Input& input) {
  if (ending_) return;
  OSTRAKA_CHECK(!feeding_);
  feeding_ = true;
  protocol::Outbox out;
  options_.machine->Step(Now(), input, out);
  for (Action& action : out.actions()) Perform(action);
  feeding_ = false;
  // Its last words are said once the record of them is on disk.
  const bool in_peace =
      halted_ && (halted_->end == NodeEnd::kFinished || halted_->end == NodeEnd::kBanned);
  if (halted_ && !ending_ && !(in_peace && stores_in_flight_ > 0)) End(*halted_);
}

void NodeDriver::Impl::Perform(Action& action) {
  std::visit([this](auto& what) { On(what); }, action);
}

void NodeDriver::Impl::On(protocol::Send& action) {
  transport_->Send(action.to, std::move(action.frame), std::move(action.blob));
}

void NodeDriver::Impl::On(const protocol::SetTimer& action) { timers_.Set(action.id, action.at); }

void NodeDriver::Impl::On(const protocol::CancelTimer& action) { timers_.Cancel(action.id); }

void NodeDriver::Impl::On(protocol::StartJob& action) {
  const base::Status status = jobs_->Start(action.id, std::move(action.spec));
  if (!status.ok()) Fail(status);
}

void NodeDriver::Impl::On(protocol::Store& action) {
  const base::Status status = options_.ledger->Append(std::move(action));
  if (!status.ok()) return Fail(status);
  ++stores_in_flight_;
}

void NodeDriver::Impl::On(const protocol::Observe& action) {
  monitor_.See(Now(), action.what);
  std::visit([this](const auto& seen) { See(seen); }, action.what);
}

// --- what it observes ---------------------------------------------------------------------------

void NodeDriver::Impl::See(const protocol::StepStarted& seen) {
  step_ = seen.step;
  met_ = true;
}

// A run that was complete already ends here: what it came to is reported all the same.
void NodeDriver::Impl::See(const protocol::Resumed& seen) {
  report_.last_block = seen.block;
  report_.state = seen.state;
  if (!seen.block->genesis) report_.steps_done = seen.block->step + 1;
  if (options_.on_state) options_.on_state({seen.block, seen.state});
}

void NodeDriver::Impl::See(const protocol::StepDone& seen) {
  const wire::Block& block = *seen.block;
  met_ = true;
  report_.last_block = seen.block;
  report_.state = seen.state;
  if (options_.on_state) options_.on_state(seen);
  if (!block.genesis) {
    step_ = block.step;
    ++report_.steps_done;
    if (options_.evaluate_every > 0 && (block.step + 1) % options_.evaluate_every == 0) {
      Evaluate(seen);
    }
  }
  events_.OnStepDone(seen);
  for (const wire::Removal& removal : block.removals) SeeRemoval(removal);
  // Bans of blocks that this node skipped, or sealed before it was started again.
  for (const wire::Standing& standing : block.standings) {
    if (standing.banned) ForgetSoon(standing.peer);
  }
}

void NodeDriver::Impl::SeeRemoval(const wire::Removal& removal) {
  report_.removals.push_back(removal);
  events_.OnRemoval(removal);
  if (wire::IsBan(removal.kind)) ForgetSoon(removal.peer);  // a dropped one may come back
}

void NodeDriver::Impl::ForgetSoon(const PeerId& peer) {
  if (others_.erase(peer) == 0) return;
  linked_.erase(peer);
  events_.OnLinks(linked_.size(), others_.size());
  forgetting_.try_emplace(peer, io_).first->second.Start(
      options_.forget_after, [this, peer] { transport_->Forget(peer); });
}

void NodeDriver::Impl::See(const protocol::StepTimes& seen) {
  report_.step_times.step = seen.step;
  report_.step_times.compute_ns += seen.compute_ns;
  report_.step_times.aggregate_ns += seen.aggregate_ns;
  report_.step_times.agree_ns += seen.agree_ns;
  ++report_.timed_steps;
  Record(seen.step, "compute_seconds", base::Nanoseconds(seen.compute_ns).seconds());
  Record(seen.step, "aggregate_seconds", base::Nanoseconds(seen.aggregate_ns).seconds());
  Record(seen.step, "agree_seconds", base::Nanoseconds(seen.agree_ns).seconds());
  events_.OnStepTimes(seen);
}

void NodeDriver::Impl::See(const protocol::SlowSeal& seen) {
  events_.OnNotice(NoticeLevel::kWarning, "step " + std::to_string(seen.step) + ": " + seen.reason);
}

void NodeDriver::Impl::See(const protocol::Away& seen) {
  events_.OnNotice(NoticeLevel::kWarning, "out of the run since step " + std::to_string(seen.step) +
                                              ": " + seen.reason +
                                              "; it follows, and asks to come back");
}

void NodeDriver::Impl::See(const protocol::Barred& seen) {
  events_.OnNotice(NoticeLevel::kWarning,
                   "dropped in step " + std::to_string(seen.step) +
                       ", after it had committed to a coin and before it showed it, or not for "
                       "the first time: it follows as an observer, and may ask to come back from "
                       "step " +
                       std::to_string(seen.until) + " on");
}

void NodeDriver::Impl::See(const protocol::CatchingUp& seen) {
  if (Now() - told_of_way_ < kTellEvery && seen.height < seen.head) return;
  told_of_way_ = Now();
  events_.OnNotice(NoticeLevel::kInfo, "catching up: " + seen.detail);
}

void NodeDriver::Impl::See(const protocol::Back& seen) {
  events_.OnNotice(NoticeLevel::kInfo,
                   "a member again, from step " + std::to_string(seen.step) + " on");
}

void NodeDriver::Impl::See(const protocol::Halted& seen) {
  if (!halted_) halted_ = NodeOutcome{EndOf(seen.why), seen.step, seen.reason};
}

// --- completions --------------------------------------------------------------------------------

void NodeDriver::Impl::LinkChanged(const PeerId& peer, bool up) {
  if (others_.contains(peer)) {
    if (up) {
      linked_.insert(peer);
    } else {
      linked_.erase(peer);
    }
    if (!ending_) events_.OnLinks(linked_.size(), others_.size());
  }
  if (parting_ && up) return SayLastWordsTo(peer);
  Feed(protocol::LinkChanged{peer, up});
}

// The machine has halted, and answers nothing but this (node/protocol/machine.h).
void NodeDriver::Impl::SayLastWordsTo(const PeerId& peer) {
  protocol::Outbox out;
  options_.machine->Step(Now(), protocol::LinkChanged{peer, true}, out);
  for (Action& action : out.actions()) {
    if (auto* send = std::get_if<protocol::Send>(&action)) On(*send);
  }
}

void NodeDriver::Impl::Evaluate(const protocol::StepDone& done) {
  asked_evaluation_ = done.block->step;
  jobs_->Evaluate(done.block->step, done.state.parameters);
}

void NodeDriver::Impl::EvaluateLastState() {
  if (report_.last_block == nullptr || report_.last_block->genesis) return;
  const std::uint64_t step = report_.last_block->step;
  if (asked_evaluation_ != step) Evaluate({report_.last_block, report_.state});
  awaits_evaluation_ = answered_evaluation_ != step;
}

void NodeDriver::Impl::Evaluated(std::uint64_t step,
                                 const base::StatusOr<train::Evaluation>& result) {
  answered_evaluation_ = step;
  if (result.ok()) {
    report_.evaluation = *result;
    report_.evaluated_step = step;
    monitor_.SeeEvaluation(step, *result);
    Record(step, result->metric, result->value);
    if (result->metric != "loss") Record(step, "loss", result->loss);
    events_.OnEvaluation(step, *result);
  } else {
    events_.OnNotice(NoticeLevel::kWarning,
                     "the state after step " + std::to_string(step) +
                         " could not be evaluated: " + base::MessageOf(result.status()));
  }
  if (step == asked_evaluation_) awaits_evaluation_ = false;
  StopWhenDone();
}

void NodeDriver::Impl::Record(std::uint64_t step, const std::string& name, double value) {
  const base::Status status = options_.ledger->AppendMetric(step, name, value);
  // A ledger that fails says so itself, through its own callback.
  (void)status;
}

// --- NodeDriver ---------------------------------------------------------------------------------

NodeDriver::NodeDriver(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NodeDriver::~NodeDriver() = default;

base::StatusOr<std::unique_ptr<NodeDriver>> NodeDriver::Make(NodeOptions options,
                                                             NodeEvents& events) {
  OSTRAKA_CHECK(options.machine && options.trainer && options.ledger && options.transport.key);
  OSTRAKA_CHECK(options.http.empty() || options.http_answer);
  auto impl = std::make_unique<Impl>(std::move(options), events);
  RETURN_IF_ERROR(impl->Bind());
  return std::unique_ptr<NodeDriver>(new NodeDriver(std::move(impl)));
}

std::uint16_t NodeDriver::port() const { return impl_->port(); }
std::uint16_t NodeDriver::http_port() const { return impl_->http_port(); }
NodeReport NodeDriver::Run() { return impl_->Run(); }
void NodeDriver::Stop() { impl_->Stop(); }

}  // namespace ostraka::runtime
