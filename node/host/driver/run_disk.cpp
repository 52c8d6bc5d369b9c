#include "node/host/driver/run_disk.h"

#include <utility>

#include "node/base/check.h"
#include "node/host/threads/thrown.h"

namespace ostraka::host {

RunDisk::RunDisk(const Inlet& inlet, std::unique_ptr<store::Ledger> ledger,
                 std::optional<store::CheckpointWriterOptions> states, RunDiskEvents events)
    : inlet_(inlet), events_(std::move(events)), ledger_(std::move(ledger)) {
  OSTRAKA_CHECK(ledger_ != nullptr && events_.stored && events_.failed);
  if (!states) return;
  OSTRAKA_CHECK(events_.checkpoint_failed != nullptr);
  states->failed = [this](const base::Status& why) {
    inlet_.Post([this, why] { events_.checkpoint_failed(why); });
  };
  states_ = std::make_unique<store::CheckpointWriter>(*std::move(states));
}

void RunDisk::Start() {
  ledger_->Start({
      .committed =
          [this](std::vector<protocol::StoreId> ids) {
            inlet_.Post([this, stored = std::move(ids)] { Stored(stored); });
          },
      .failed =
          [this](const base::Status& why) {
            inlet_.Post([this, why] {
              failed_ = true;
              events_.failed(why);
            });
          },
  });
}

base::Status RunDisk::Append(protocol::Store store) {
  const protocol::StoreId id = store.id;
  RETURN_IF_ERROR(ledger_->Append(std::move(store)));
  in_flight_.push_back(id);
  return base::OkStatus();
}

void RunDisk::Stored(const std::vector<protocol::StoreId>& ids) {
  OSTRAKA_CHECK(!failed_);  // D2
  if (reporting_) return;
  reporting_ = true;
  for (const protocol::StoreId id : ids) {
    OSTRAKA_CHECK(!in_flight_.empty() && in_flight_.front() == id);  // D1
    in_flight_.pop_front();
    events_.stored(id);
  }
  reporting_ = false;
}

// A failed ledger reports through its own callback.
void RunDisk::Metric(std::uint64_t step, const std::string& name, double value) {
  const base::Status heard_elsewhere = ledger_->AppendMetric(step, name, value);
  (void)heard_elsewhere;
}

void RunDisk::Offer(const protocol::StepDone& done) {
  if (states_) states_->Offer(done);
}

void RunDisk::Keep(const protocol::FalseGradient& seen) {
  if (states_) states_->Keep(seen);
}

base::Status RunDisk::CloseLedger(const std::string& outcome) {
  base::Status closed;
  const base::Status ran = Attempt([&] { closed = ledger_->Close(outcome); });
  return ran.ok() ? closed : ran;
}

base::StatusOr<std::string> RunDisk::Free() {
  base::StatusOr<std::string> last = base::NotFound("no states are kept");
  if (states_) {
    const base::Status ran = Attempt([&] { last = states_->Finish(); });
    if (!ran.ok()) last = ran;
  }
  states_.reset();
  ledger_.reset();  // after the states: it holds the lock of their folder
  return last;
}

}  // namespace ostraka::host
