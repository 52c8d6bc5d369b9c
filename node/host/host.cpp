#include "node/host/host.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <iterator>
#include <utility>

#include "node/base/check.h"

namespace ostraka::host {

Host::Host() : io_(std::make_unique<boost::asio::io_context>(1)) {}

Host::~Host() {
  for (const std::shared_ptr<Run>& run : open_) run->Abandon();
}

base::StatusOr<std::shared_ptr<Run>> Host::Open(RunOptions options, NodeEvents& events,
                                                Ended ended) {
  ASSIGN_OR_RETURN(PreparedRun prepared, Prepare(std::move(options)));
  return Open(std::move(prepared), events, std::move(ended));
}

base::StatusOr<std::shared_ptr<Run>> Host::Open(PreparedRun prepared, NodeEvents& events,
                                                Ended ended) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Run> run, Run::Open(*io_, std::move(prepared), events));
  open_.push_back(run);
  CheckInvariants();
  boost::asio::post(*io_, [this, run, tell = std::move(ended)] {
    run->Start([this, tell](Run& which) {
      OnEnded(which);
      if (tell) tell(which);
    });
  });
  return run;
}

void Host::RunToTheEnd() {
  OSTRAKA_CHECK(!std::exchange(running_, true));
  // Jobs and stores are in flight that the io_context does not know of.
  const auto work = boost::asio::make_work_guard(*io_);
  while (!open_.empty()) {
    try {
      // It also stops when all work is done, as at the end of an earlier call.
      if (io_->run_one() == 0) io_->restart();
    } catch (const std::exception& error) {
      // It came from no run's own functions, so it may have damaged any of them.
      const std::vector<std::shared_ptr<Run>> all = open_;
      for (const std::shared_ptr<Run>& run : all) run->BreakNow(error.what());
    }
  }
  running_ = false;
}

void Host::Stop(const std::string& by) {
  Post([this, by] {
    const std::vector<std::shared_ptr<Run>> all = open_;
    for (const std::shared_ptr<Run>& run : all) run->StopNow(by);
  });
}

void Host::Post(std::function<void()> function) { boost::asio::post(*io_, std::move(function)); }

void Host::OnEnded(Run& run) {
  const auto removed =
      std::erase_if(open_, [&run](const std::shared_ptr<Run>& each) { return each.get() == &run; });
  OSTRAKA_CHECK(removed == 1);
  CheckInvariants();
}

void Host::CheckInvariants() const {
  for (auto run = open_.begin(); run != open_.end(); ++run) {
    OSTRAKA_CHECK((*run)->driver_ != nullptr);
    OSTRAKA_CHECK(std::find(std::next(run), open_.end(), *run) == open_.end());
  }
}

}  // namespace ostraka::host
