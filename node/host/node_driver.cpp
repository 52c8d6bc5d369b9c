#include "node/host/node_driver.h"

#include <boost/asio/post.hpp>
#include <csignal>
#include <exception>
#include <utility>

#include "crypto/sign.h"
#include "node/base/check.h"
#include "node/host/node_driver_impl.h"
#include "node/os/steady_clock.h"

namespace ostraka::host {

NodeDriver::Impl::Impl(NodeOptions options, NodeEvents& events)
    : options_(std::move(options)),
      events_(events),
      self_(options_.transport.key->id()),
      origin_(os::SteadyNow()),
      timers_(
          io_, [this] { return Now(); },
          [this](TimerQueue::Id id) { Feed(protocol::TimerFired{id}); }),
      monitor_(Now()) {
  for (const net::TransportMember& member : options_.transport.members) {
    if (member.id != self_) others_.insert(member.id);
  }
}

base::Status NodeDriver::Impl::Bind() {
  if (!options_.record_file.empty()) {
    ASSIGN_OR_RETURN(frames_, store::FrameLog::Open(options_.record_file));
  }
  net::TransportEvents events;
  events.message = [this](const base::PeerId& from, base::SharedBytes frame,
                          crypto::SharedBlob blob) {
    if (frames_) Record(*frame);
    Feed(protocol::MessageReceived{from, std::move(frame), std::move(blob)});
  };
  events.link = [this](const base::PeerId& peer, bool up) { LinkChanged(peer, up); };
  events.notice = [this](net::NoticeLevel level, const std::string& line) {
    events_.OnNotice(level, line);
  };
  ASSIGN_OR_RETURN(transport_, net::Transport::Make(io_, options_.transport, std::move(events)));
  port_ = transport_->port();
  return ServeStatus();
}

base::Status NodeDriver::Impl::ServeStatus() {
  for (const http::HttpPlace& place : options_.http) {
    const auto answer = [this](std::string_view path) {
      return options_.http_answer(path, Status());
    };
    ASSIGN_OR_RETURN(http_.emplace_back(), http::HttpServer::Make(io_, place, answer));
    if (http_.back()->port() != 0) http_port_ = http_.back()->port();
  }
  return base::OkStatus();
}

base::Time NodeDriver::Impl::Now() const { return base::Time{} + (os::SteadyNow() - origin_); }

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
  status.process = os::ReadProcessStats();
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
  const protocol::Started started{options_.coin_seed, crypto::RandomSeed(),
                                  std::move(options_.restored)};
  transport_->Start();  // before the machine's first message, which may be its last
  Feed(started);
}

void NodeDriver::Impl::AwaitSignal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;  // cancelled
    // Restores the default handlers: the next signal ends the process at once.
    boost::system::error_code ignored;
    signals_.clear(ignored);
    Interrupt(signal == SIGINT ? "Ctrl-C" : "SIGTERM");
  });
}

void NodeDriver::Impl::Stop() {
  boost::asio::post(io_, [this] { Interrupt("request"); });
}

void NodeDriver::Impl::Interrupt(const std::string& by) {
  // An interrupt while ending skips the last evaluation and the wait for slow peers.
  if (ending_) return io_.stop();
  const std::string where = met_ ? "in step " + std::to_string(step_)
                                 : "before the first step, with " + std::to_string(linked_.size()) +
                                       " of " + std::to_string(others_.size()) + " members linked";
  End({NodeEnd::kInterrupted, step_, "stopped by " + by + " " + where});
}

void NodeDriver::Impl::Fail(const base::Status& status) {
  if (!halted_) halted_ = NodeOutcome{NodeEnd::kFailed, step_, base::MessageOf(status)};
  // Within Feed the input's remaining actions are performed first: they do not depend on the
  // failure.
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
  report_.peak_rss_bytes = os::ReadProcessStats().peak_rss_bytes;
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

}  // namespace ostraka::host
