#include "node/store/checkpoint_writer.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "node/base/check.h"

namespace ostraka::store {
namespace {

bool SameBits(const protocol::SharedVector& a, const protocol::SharedVector& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->size() != b->size()) return false;
  return std::memcmp(a->data(), b->data(), a->size() * sizeof(float)) == 0;
}

bool SameBits(const protocol::ModelState& a, const protocol::ModelState& b) {
  return SameBits(a.parameters, b.parameters) &&
         std::equal(a.slots.begin(), a.slots.end(), b.slots.begin(), b.slots.end(),
                    [](const auto& one, const auto& other) {
                      return one.name == other.name && SameBits(one.values, other.values);
                    });
}

}  // namespace

CheckpointWriter::CheckpointWriter(CheckpointWriterOptions options) : options_(std::move(options)) {
  OSTRAKA_CHECK(options_.keep > 0 && options_.failed);
  const base::Status removed = RemoveUnfinished(options_.data_dir);
  if (!removed.ok()) options_.failed(removed);
  thread_ = std::thread([this] { WriterLoop(); });
}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// The state after a step that closes the run is that after the last step that trained.
void CheckpointWriter::Offer(const protocol::StepDone& done) {
  if (done.block->genesis) return;
  const std::uint64_t step = wire::TrainedSteps(*done.block) - 1;
  if (last_ && last_->step == step && SameBits(last_->state, done.state)) return;
  last_ = State{step, done.state, last_ ? last_->number + 1 : 0};
  if (options_.every == 0 || (step + 1) % options_.every != 0) return;
  {
    const std::lock_guard lock(mutex_);
    waiting_ = *last_;
  }
  wake_.notify_one();
}

void CheckpointWriter::Keep(const protocol::FalseGradient& seen) {
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    full = kept_.size() >= kKeptParameters;
    if (!full) {
      kept_.push_back({.step = seen.step,
                       .layout = options_.layout,
                       .state = {seen.parameters, {}},
                       .metadata = options_.metadata});
    }
  }
  wake_.notify_one();
  if (!full) return;
  options_.failed(base::Unavailable("the disk is too slow to keep the parameters of step " +
                                    std::to_string(seen.step) + " beside the evidence"));
}

base::StatusOr<std::string> CheckpointWriter::Finish() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    waiting_.reset();  // `last_` is at least as new
  }
  wake_.notify_one();
  thread_.join();
  if (!last_) return base::NotFound("no step was done: there is no state to keep");
  if (written_ != last_->number) RETURN_IF_ERROR(Write(*last_));
  return CheckpointPath(options_.data_dir, last_->step);
}

void CheckpointWriter::WriterLoop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return waiting_ || !kept_.empty() || closing_; });
    if (!kept_.empty()) {
      WriteKept(lock);
      continue;
    }
    if (!waiting_) return;
    const State state = *std::exchange(waiting_, std::nullopt);
    lock.unlock();
    const base::Status status = Write(state);
    if (!status.ok()) options_.failed(status);
    lock.lock();
    if (status.ok()) written_ = state.number;
  }
}

void CheckpointWriter::WriteKept(std::unique_lock<std::mutex>& lock) {
  const Checkpoint kept = std::move(kept_.front());
  kept_.pop_front();
  lock.unlock();
  const base::Status status = WriteParameters(options_.data_dir, kept);
  if (!status.ok()) options_.failed(status);
  lock.lock();
}

base::Status CheckpointWriter::Write(const State& state) const {
  RETURN_IF_ERROR(WriteCheckpoint(options_.data_dir, {.step = state.step,
                                                      .layout = options_.layout,
                                                      .state = state.state,
                                                      .metadata = options_.metadata}));
  return Prune();
}

base::Status CheckpointWriter::Prune() const {
  const std::vector<CheckpointFile> files = ListCheckpoints(options_.data_dir);
  for (std::size_t i = 0; i + options_.keep < files.size(); ++i) {
    std::error_code error;
    std::filesystem::remove(files[i].path, error);
    if (error) {
      return base::Unavailable("cannot remove " + files[i].path + ": " + error.message());
    }
  }
  return base::OkStatus();
}

}  // namespace ostraka::store
