#include "node/host/run.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "node/base/check.h"

namespace ostraka::host {

Run::Run(boost::asio::io_context& io, const PreparedRun& prepared)
    : io_(io),
      run_id_(prepared.node.transport.run_id),
      self_(prepared.self),
      layout_(prepared.layout) {}

base::StatusOr<std::shared_ptr<Run>> Run::Open(boost::asio::io_context& io, PreparedRun prepared,
                                               NodeEvents& events) {
  std::shared_ptr<Run> run(new Run(io, prepared));
  run->key_lock_ = std::move(prepared.key_lock);
  prepared.node.transport.listen_fd = prepared.listen_socket.Release();
  ASSIGN_OR_RETURN(run->driver_, NodeDriver::Make(io, std::move(prepared.node), events));
  run->port_ = run->driver_->port();
  run->http_port_ = run->driver_->http_port();
  return run;
}

void Run::Start(std::function<void(Run&)> ended) {
  OSTRAKA_CHECK(!std::exchange(started_, true));
  driver_->Start([this, tell = std::move(ended)](NodeReport report) {
    report_ = std::move(report);
    // Later: the driver must not be destroyed by what it calls.
    boost::asio::post(io_, [run = shared_from_this(), tell] {
      run->driver_.reset();
      run->key_lock_.reset();
      run->CheckInvariants();
      tell(*run);
    });
  });
  if (stop_at_start_) driver_->Stop(*stop_at_start_);
}

void Run::Stop(const std::string& by) {
  boost::asio::post(io_, [weak = weak_from_this(), by] {
    const std::shared_ptr<Run> run = weak.lock();
    if (run != nullptr) run->StopNow(by);
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
}

void Run::CheckInvariants() const {
  OSTRAKA_CHECK((driver_ == nullptr) == !key_lock_.has_value());
  OSTRAKA_CHECK(driver_ != nullptr || report_.has_value());
}

}  // namespace ostraka::host
