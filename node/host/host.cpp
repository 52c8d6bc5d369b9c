#include "node/host/host.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <iterator>
#include <utility>

#include "node/base/check.h"
#include "node/host/threads/thrown.h"

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
  ASSIGN_OR_RETURN(const std::shared_ptr<Run> run,
                   Run::Open(*io_, std::move(prepared), events, std::move(ended)));
  open_.reserve(open_.size() + 1);
  boost::asio::post(*io_, [run] { run->Start(); });
  open_.push_back(run);
  CheckInvariants();
  return run;
}

void Host::RunToTheEnd() {
  OSTRAKA_CHECK(!std::exchange(running_, true));
  // Jobs and stores are in flight that the io_context does not know of.
  const auto work = boost::asio::make_work_guard(*io_);
  while (!open_.empty()) {
    Turn();
    FreeEnded();
  }
  running_ = false;
  ++calls_;
}

void Host::Turn() {
  try {
    // It also stops when all work is done, as at the end of an earlier call.
    if (io_->run_one() == 0) io_->restart();
  } catch (...) {
    // It came from no run's own functions, so it may have damaged any of them.
    const std::string what = DescribeThrown(std::current_exception());
    const std::vector<std::shared_ptr<Run>> all = open_;  // an event may open another
    for (const std::shared_ptr<Run>& run : all) run->BreakNow(what);
  }
}

void Host::FreeEnded() {
  const auto ended = [](const std::shared_ptr<Run>& run) { return run->HasEnded(); };
  for (;;) {
    const auto next = std::find_if(open_.begin(), open_.end(), ended);
    if (next == open_.end()) return;
    const std::shared_ptr<Run> run = *next;
    open_.erase(next);
    CheckInvariants();
    run->Free();
  }
}

void Host::Stop(const std::string& by) {
  Post([this, by, calls = calls_.load()] {
    if (calls != calls_.load()) return;                   // it was meant for runs that have ended
    const std::vector<std::shared_ptr<Run>> all = open_;  // an event may open another
    for (const std::shared_ptr<Run>& run : all) run->StopNow(by);
  });
}

void Host::Post(std::function<void()> function) { boost::asio::post(*io_, std::move(function)); }

void Host::CheckInvariants() const {
  for (auto run = open_.begin(); run != open_.end(); ++run) {
    OSTRAKA_CHECK((*run)->driver_ != nullptr);
    OSTRAKA_CHECK(std::find(std::next(run), open_.end(), *run) == open_.end());
  }
}

}  // namespace ostraka::host
