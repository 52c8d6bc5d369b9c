#include "node/host/run.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "node/base/check.h"
#include "node/host/threads/thrown.h"

namespace ostraka::host {

Run::Run(boost::asio::io_context& io, const PreparedRun& prepared, std::function<void(Run&)> ended)
    : io_(io),
      run_id_(prepared.node.transport.run_id),
      self_(prepared.self),
      layout_(prepared.layout),
      ended_(std::move(ended)) {}

base::StatusOr<std::shared_ptr<Run>> Run::Open(boost::asio::io_context& io, PreparedRun prepared,
                                               NodeEvents& events,
                                               std::function<void(Run&)> ended) {
  std::shared_ptr<Run> run(new Run(io, prepared, std::move(ended)));
  run->key_lock_ = std::move(prepared.key_lock);
  prepared.node.transport.listen_fd = prepared.listen_socket.Release();  // Make owns it
  ASSIGN_OR_RETURN(run->driver_, NodeDriver::Make(io, std::move(prepared.node), events));
  run->port_ = run->driver_->port();
  run->http_port_ = run->driver_->http_port();
  run->CheckInvariants();
  return run;
}

void Run::Start() {
  OSTRAKA_CHECK(!std::exchange(started_, true));
  driver_->Start([this](NodeReport report) { ended_report_ = std::move(report); });
  if (stop_at_start_) driver_->Stop(*stop_at_start_);
}

void Run::Free() {
  driver_.reset();
  key_lock_.reset();
  report_ = std::exchange(ended_report_, std::nullopt);
  CheckInvariants();
  const auto tell = std::exchange(ended_, nullptr);
  if (tell == nullptr) return;
  const base::Status told = Attempt([&] { tell(*this); });
  if (told.ok()) return;
  report_->outcome.end = NodeEnd::kFailed;
  report_->outcome.reason += "; then its owner's callback threw: " + base::MessageOf(told);
}

void Run::Stop(const std::string& by) { EndBy(&NodeDriver::Stop, by); }
void Run::StopSafely(const std::string& by) { EndBy(&NodeDriver::StopSafely, by); }
void Run::Leave(const std::string& by) { EndBy(&NodeDriver::Leave, by); }

void Run::EndBy(void (NodeDriver::*way)(const std::string&), const std::string& by) {
  boost::asio::post(io_, [weak = weak_from_this(), way, by] {
    const std::shared_ptr<Run> run = weak.lock();
    if (run == nullptr) return;
    if (!run->started_ || run->driver_ == nullptr) return run->StopNow(by);
    (run->driver_.get()->*way)(by);
  });
}

void Run::StopNow(const std::string& by) {
  if (!started_) {
    stop_at_start_ = by;
  } else if (driver_ != nullptr) {
    driver_->Stop(by);
  }
}

void Run::BreakNow(const std::string& what) {
  if (started_ && driver_ != nullptr) driver_->Break(what);
}

void Run::Abandon() {
  driver_.reset();
  key_lock_.reset();
  abandoned_ = true;
  CheckInvariants();
}

void Run::CheckInvariants() const {
  OSTRAKA_CHECK(key_lock_.has_value() == (driver_ != nullptr));
  OSTRAKA_CHECK((driver_ == nullptr) == (report_.has_value() || abandoned_));
  OSTRAKA_CHECK(!ended_report_ || started_);
}

}  // namespace ostraka::host
