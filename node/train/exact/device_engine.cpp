#include "node/train/exact/device_engine.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "exact/device/conformance_program.h"
#include "exact/device/device_plan.h"
#include "exact/device/device_runner.h"
#include "node/base/check.h"

namespace ostraka::train {
namespace {

// Of a gradient: beyond it the processor's time is estimated, by what one thread with AVX-512
// reached here.
constexpr std::uint64_t kMostTrialOperations = 500'000'000'000;
constexpr double kThreadOperations = 50e9;  // a second

constexpr std::uint64_t kMostGradients = 4096;  // from one check or audit to the next
constexpr std::uint64_t kFirstRetry = 8;        // gradients after a device is lost; then twice that
constexpr std::uint64_t kMostDoublings = 6;
constexpr std::size_t kMostNotices = 64;

double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string Milliseconds(double seconds) {
  return seconds < 0.01 ? std::to_string(std::lround(seconds * 1e6)) + " us"
                        : std::to_string(std::lround(seconds * 1e3)) + " ms";
}

std::string Speed(std::uint64_t operations, double seconds) {
  return std::to_string(std::lround(static_cast<double>(operations) / seconds / 1e9)) + " GFLOP/s";
}

// After how many gradients what takes `seconds` may come again to take that share of the time.
std::uint64_t EveryFor(double seconds, double gradient_seconds, double share) {
  const double every = std::ceil(seconds / std::max(gradient_seconds, 1e-6) / share);
  return static_cast<std::uint64_t>(std::clamp(every, 1.0, static_cast<double>(kMostGradients)));
}

base::Status CheckProgram(exact::Device& device) {
  ASSIGN_OR_RETURN(const base::Digest digest, exact::ProgramDigest(device));
  if (digest.Hex() == exact::kProgramDigest) return base::OkStatus();
  RETURN_IF_ERROR(exact::CheckDevice(device));  // says which case differs
  return base::FailedPrecondition(device.traits().name +
                                  " computes other bits at one time than at another");
}

bool SameBits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// The gradient of one micro-batch.
struct Trial {
  std::vector<float> gradient;
  float loss = 0;
  double seconds = 0;

  bool IsSame(const Trial& other) const {
    return std::bit_cast<std::uint32_t>(loss) == std::bit_cast<std::uint32_t>(other.loss) &&
           SameBits(gradient, other.gradient);
  }
};

// An open device that has passed the conformance program.
struct OpenDevice {
  std::unique_ptr<exact::Device> device;
  std::unique_ptr<exact::DeviceRunner> runner;  // of `device`
  double check_seconds = 0;                     // of the conformance program
  bool has_room = true;                         // for moments of local steps

  base::StatusOr<Trial> Gradient(std::span<const float> parameters,
                                 std::span<const exact::InputValues> inputs,
                                 const std::function<double()>& now) const {
    const double begin = now();
    Trial trial{.gradient = std::vector<float>(parameters.size())};
    RETURN_IF_ERROR(runner->SetParameters(parameters));
    ASSIGN_OR_RETURN(trial.loss, runner->AddGradient(inputs));
    RETURN_IF_ERROR(runner->TakeMean(trial.gradient));
    trial.seconds = now() - begin;
    return trial;
  }
};

class DeviceEngine final : public GraphEngine {
 public:
  DeviceEngine(std::unique_ptr<RunnerEngine> cpu, std::shared_ptr<exact::DeviceSource> devices,
               DeviceHooks hooks)
      : cpu_(std::move(cpu)), devices_(std::move(devices)), hooks_(std::move(hooks)) {
    if (!hooks_.check) hooks_.check = CheckProgram;
    if (!hooks_.now) hooks_.now = SteadySeconds;
  }

  base::Status Prepare(std::span<const float> parameters, const MicroBatches& batches) override {
    RETURN_IF_ERROR(cpu_->Prepare(parameters, batches));
    const auto names = devices_->Candidates();
    if (!names.ok()) {
      Tell("no device is used: " + base::MessageOf(names.status()), /*is_trouble=*/true);
      return base::OkStatus();
    }
    if (names->empty()) return base::OkStatus();
    RETURN_IF_ERROR(TimeProcessor(parameters, batches));
    for (const std::string& name : *names) {
      const base::Status tried = Try(name, parameters, batches);
      if (tried.ok()) continue;
      if (devices_->is_named()) return tried;
      Tell(base::MessageOf(tried) + ": it is not used", /*is_trouble=*/true);
    }
    if (!open_) return base::OkStatus();
    const std::string speeds = name_ + " takes " + Milliseconds(device_seconds_) + " (" +
                               Speed(Plan().operations, device_seconds_) +
                               ") for a gradient, the processor " + (reference_ ? "" : "about ") +
                               Milliseconds(cpu_seconds_);
    if (!devices_->is_named() && cpu_seconds_ <= device_seconds_) {
      Tell(speeds + ": the processor computes");
      open_.reset();
      return base::OkStatus();
    }
    audit_every_ = cpu_seconds_ <= kLongestAudit && reference_
                       ? EveryFor(cpu_seconds_, device_seconds_, kAuditShare)
                       : 0;
    check_every_ = EveryFor(open_->check_seconds, device_seconds_, kCheckShare);
    Tell(speeds + "; " +
         (audit_every_ == 0 ? "too slow to audit the device"
                            : "which audits one in " + std::to_string(audit_every_)));
    Now(open_->device->traits().name);
    reference_.reset();
    return base::OkStatus();
  }

  base::StatusOr<double> Mean(std::span<const float> parameters, const MicroBatches& batches,
                              std::span<float> mean) override {
    ++gradients_;
    if (IsReady()) {
      auto loss = MeanOnDevice(parameters, batches, mean);
      if (loss.ok() || IsOfTheCall(loss.status())) return loss;
      if (!is_barred_) Lose(loss.status());
    }
    return cpu_->Mean(parameters, batches, mean);
  }

  base::StatusOr<std::optional<Descended>> Descend(std::span<const float> parameters,
                                                   const LocalWork& work) override {
    if (!IsReady() || !open_->has_room) return std::nullopt;
    auto descended = DescendOnDevice(parameters, work);
    if (descended.ok() || IsOfTheCall(descended.status())) return descended;
    if (!is_barred_) Lose(descended.status());
    return std::nullopt;
  }

  base::Status Losses(std::span<const float> parameters, const MicroBatches& batches,
                      const EachLoss& each) override {
    std::size_t done = 0;
    if (IsReady()) {
      const base::Status status = LossesOnDevice(parameters, batches, each, done);
      if (status.ok() || IsOfTheCall(status)) return status;
      Lose(status);
    }
    const MicroBatches rest{.count = batches.count - done,
                            .inputs = [&](std::size_t i) { return batches.inputs(done + i); },
                            .check_wanted = batches.check_wanted};
    return rest.count == 0 ? base::OkStatus() : cpu_->Losses(parameters, rest, each);
  }

  std::optional<std::uint64_t> WorkingBytes() const override { return cpu_->WorkingBytes(); }
  // A second computation is the processor's in any case: it shares nothing with the device.
  std::unique_ptr<GraphEngine> Other() const override { return cpu_->Other(); }

  void Abandon() override {
    *abandoned_ = true;
    cpu_->Abandon();
  }

  base::Status AfterGradient() override { return cpu_->AfterGradient(); }

  std::string ComputesOn() const override {
    const std::lock_guard lock(mutex_);
    return computes_on_;
  }

  std::vector<TrainerNotice> TakeNotices() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(notices_, {});
  }

 private:
  void Tell(const std::string& line, bool is_trouble = false) {
    const std::lock_guard lock(mutex_);
    // Nobody may take them.
    if (notices_.size() < kMostNotices) notices_.push_back({line, is_trouble});
  }

  const exact::PlannedProgram& Plan() const { return cpu_->runner().plan(); }

  void Now(const std::string& computes_on) {
    const std::lock_guard lock(mutex_);
    computes_on_ = computes_on;
  }

  // Errors that the processor would give as well.
  bool IsOfTheCall(const base::Status& status) const {
    return status.code() == absl::StatusCode::kCancelled ||
           status.code() == absl::StatusCode::kInvalidArgument || abandoned_->load();
  }

  base::Status TimeProcessor(std::span<const float> parameters, const MicroBatches& batches) {
    if (Plan().operations > kMostTrialOperations) {
      cpu_seconds_ = static_cast<double>(Plan().operations) / kThreadOperations /
                     static_cast<double>(Plan().threads);
      return base::OkStatus();
    }
    ASSIGN_OR_RETURN(reference_, ByProcessor(parameters, batches.inputs(0)));
    cpu_seconds_ = reference_->seconds;
    return base::OkStatus();
  }

  base::StatusOr<Trial> ByProcessor(std::span<const float> parameters,
                                    std::span<const exact::InputValues> inputs) {
    const double begin = hooks_.now();
    Trial trial{.gradient = std::vector<float>(parameters.size())};
    ASSIGN_OR_RETURN(trial.loss, cpu_->Gradient(parameters, inputs, trial.gradient));
    trial.seconds = hooks_.now() - begin;
    return trial;
  }

  // Keeps the device if none was as fast.
  base::Status Try(const std::string& name, std::span<const float> parameters,
                   const MicroBatches& batches) {
    ASSIGN_OR_RETURN(OpenDevice opened, Open(name));
    Trial trial;
    // The second one finds the kernels and the parameters where they will be.
    for (int i = 0; i < 2; ++i) {
      ASSIGN_OR_RETURN(trial, opened.Gradient(parameters, batches.inputs(0), hooks_.now));
    }
    if (reference_ && !reference_->IsSame(trial)) {
      return base::FailedPrecondition(opened.device->traits().name +
                                      " gives another gradient of this graph than the processor");
    }
    if (open_ && device_seconds_ <= trial.seconds) return base::OkStatus();
    open_ = std::move(opened);
    name_ = name;
    device_seconds_ = trial.seconds;
    return base::OkStatus();
  }

  base::StatusOr<OpenDevice> Open(const std::string& name) const {
    OpenDevice opened;
    ASSIGN_OR_RETURN(opened.device, devices_->Open(name));
    const double begin = hooks_.now();
    RETURN_IF_ERROR(hooks_.check(*opened.device));
    opened.check_seconds = hooks_.now() - begin;
    const exact::DeviceTraits& traits = opened.device->traits();
    const std::uint64_t limit = devices_->memory_limit();
    auto plan = exact::PlanDevice(Plan().program,
                                  {.memory_bytes = limit > 0 ? std::min(limit, traits.memory_bytes)
                                                             : traits.memory_bytes / 10 * 9,
                                   .buffer_bytes = traits.buffer_bytes});
    if (!plan.ok()) {
      return base::FailedPrecondition(traits.name + ": " + base::MessageOf(plan.status()));
    }
    ASSIGN_OR_RETURN(
        opened.runner,
        exact::DeviceRunner::Make(std::move(*plan), cpu_->runner().constants(), *opened.device));
    opened.runner->EndWhen(abandoned_);
    return opened;
  }

  // Whether the device can be asked; a lost one is opened again from time to time.
  bool IsReady() {
    if (open_ || is_barred_ || failures_ == 0 || gradients_ < retry_at_) return open_.has_value();
    auto opened = Open(name_);
    if (opened.ok()) {
      open_ = std::move(*opened);
      Tell(name_ + " is back");
      Now(open_->device->traits().name);
    } else if (opened.status().code() == absl::StatusCode::kFailedPrecondition) {
      Bar(opened.status());
    } else {
      Lose(opened.status());
    }
    return open_.has_value();
  }

  void Lose(const base::Status& status) {
    open_.reset();
    const std::uint64_t wait = kFirstRetry << std::min(failures_, kMostDoublings);
    ++failures_;
    retry_at_ = gradients_ + wait;
    Tell(base::MessageOf(status) + ": the processor computes, and after " + std::to_string(wait) +
             " gradients the device is tried again",
         /*is_trouble=*/true);
    Now("processor, since " + name_ + " failed");
  }

  void Bar(const base::Status& status) {
    open_.reset();
    is_barred_ = true;
    Tell(base::MessageOf(status) + ": the processor computes from now on", /*is_trouble=*/true);
    Now("processor, since " + name_ + " computed other bits");
  }

  // The device is closed afterwards if it was wrong or failed in a check; its gradient is then
  // worth nothing.
  base::StatusOr<double> MeanOnDevice(std::span<const float> parameters,
                                      const MicroBatches& batches, std::span<float> mean) {
    if (IsAuditDue()) {
      RETURN_IF_ERROR(Audit(parameters, batches, gradients_ / audit_every_ % batches.count));
    }
    exact::DeviceRunner& runner = *open_->runner;
    RETURN_IF_ERROR(runner.SetParameters(parameters));
    double loss = 0;
    for (std::size_t i = 0; i < batches.count; ++i) {
      RETURN_IF_ERROR(batches.CheckWanted(i));
      ASSIGN_OR_RETURN(const float more, runner.AddGradient(batches.inputs(i)));
      loss += double{more};
    }
    RETURN_IF_ERROR(runner.TakeMean(mean));
    RETURN_IF_ERROR(CheckAgain(1));
    return loss / static_cast<double>(batches.count);
  }

  // After so many gradients: whether the conformance program is due, and passes.
  base::Status CheckAgain(std::uint64_t gradients) {
    if (gradients_ / check_every_ == (gradients_ - gradients) / check_every_) {
      return base::OkStatus();
    }
    const base::Status checked = hooks_.check(*open_->device);
    if (checked.code() == absl::StatusCode::kFailedPrecondition) Bar(checked);
    return checked;
  }

  bool IsAuditDue() const { return audit_every_ != 0 && gradients_ % audit_every_ == 0; }

  base::Status Audit(std::span<const float> parameters, const MicroBatches& batches,
                     std::size_t index) {
    ASSIGN_OR_RETURN(const Trial trial,
                     open_->Gradient(parameters, batches.inputs(index), hooks_.now));
    return Compare(trial, parameters, batches.inputs(index));
  }

  base::Status Compare(const Trial& trial, std::span<const float> parameters,
                       std::span<const exact::InputValues> inputs) {
    ASSIGN_OR_RETURN(const Trial wanted, ByProcessor(parameters, inputs));
    return trial.IsSame(wanted) ? base::OkStatus() : BarFor("gave another gradient");
  }

  base::Status BarFor(const std::string& what) {
    const base::Status differs = base::FailedPrecondition(open_->device->traits().name + " " +
                                                          what + " than the processor in an audit");
    Bar(differs);
    return differs;
  }

  base::StatusOr<std::optional<Descended>> DescendOnDevice(std::span<const float> parameters,
                                                           const LocalWork& work) {
    exact::DeviceRunner& runner = *open_->runner;
    RETURN_IF_ERROR(runner.SetParameters(parameters));
    const base::Status begun = runner.BeginDescent(work.batches);
    if (begun.code() == absl::StatusCode::kInvalidArgument) {
      Tell(base::MessageOf(begun) + ": the processor takes them, and the device their gradients");
      open_->has_room = false;
      return std::nullopt;
    }
    RETURN_IF_ERROR(begun);
    Descended descended;
    const std::uint64_t before = gradients_;
    for (std::uint64_t step = 0; step < work.plan.count; ++step) {
      bool is_audited = false;
      for (std::uint32_t batch = 0; batch < work.batches; ++batch) {
        ++gradients_;
        is_audited = is_audited || IsAuditDue();
        const auto batches = work.batch(step, batch);
        if (!batches.ok()) return batches.status();
        ASSIGN_OR_RETURN(const double loss, AddBatch(*batches, IsAuditDue()));
        if (step == 0 && batch == 0) descended.first_loss = loss;
      }
      RETURN_IF_ERROR(is_audited ? AuditedStep(work.plan, step)
                                 : runner.StepDescent(work.plan, step));
    }
    ASSIGN_OR_RETURN(descended.distance, runner.ReadParameters());
    aggregation::MakeDistance(parameters, descended.distance);
    RETURN_IF_ERROR(CheckAgain(gradients_ - before));
    return descended;
  }

  // One batch of a local step; the mean loss of its micro-batches. An audit recomputes the first
  // one's gradient.
  base::StatusOr<double> AddBatch(const MicroBatches& batches, bool is_audited) {
    exact::DeviceRunner& runner = *open_->runner;
    double loss = 0;
    for (std::size_t i = 0; i < batches.count; ++i) {
      if (batches.check_wanted) RETURN_IF_ERROR(batches.check_wanted());
      ASSIGN_OR_RETURN(const float more, runner.AddGradient(batches.inputs(i)));
      loss += double{more};
      if (i > 0 || !is_audited) continue;
      Trial trial{.loss = more};
      ASSIGN_OR_RETURN(trial.gradient, runner.ReadGradient());
      ASSIGN_OR_RETURN(const std::vector<float> y, runner.ReadParameters());
      RETURN_IF_ERROR(Compare(trial, y, batches.inputs(0)));
    }
    RETURN_IF_ERROR(runner.EndBatch());
    return loss / static_cast<double>(batches.count);
  }

  // A step from (y, m, v) and the mean gradient, by the device and by the processor.
  base::Status AuditedStep(const aggregation::LocalSteps& plan, std::uint64_t step) {
    exact::DeviceRunner& runner = *open_->runner;
    ASSIGN_OR_RETURN(exact::DeviceRunner::DescentState wanted, runner.ReadDescent());
    aggregation::TakeLocalStep(plan, step, wanted.gradient, wanted.y, wanted.first, wanted.second);
    RETURN_IF_ERROR(runner.StepDescent(plan, step));
    ASSIGN_OR_RETURN(const exact::DeviceRunner::DescentState got, runner.ReadDescent());
    const bool is_same = SameBits(got.y, wanted.y) && SameBits(got.first, wanted.first) &&
                         SameBits(got.second, wanted.second);
    return is_same ? base::OkStatus() : BarFor("took another local step");
  }

  base::Status LossesOnDevice(std::span<const float> parameters, const MicroBatches& batches,
                              const EachLoss& each, std::size_t& done) {
    exact::DeviceRunner& runner = *open_->runner;
    RETURN_IF_ERROR(runner.SetParameters(parameters));
    for (; done < batches.count; ++done) {
      RETURN_IF_ERROR(batches.CheckWanted(done));
      ASSIGN_OR_RETURN(const float loss, runner.Loss(batches.inputs(done)));
      ASSIGN_OR_RETURN(const std::vector<float> logits, runner.Logits());
      each(loss, logits);
    }
    return base::OkStatus();
  }

  const std::unique_ptr<RunnerEngine> cpu_;
  const std::shared_ptr<exact::DeviceSource> devices_;
  DeviceHooks hooks_;
  const std::shared_ptr<std::atomic<bool>> abandoned_ = std::make_shared<std::atomic<bool>>(false);

  std::string name_;                // of the device that was chosen; empty: none
  std::optional<OpenDevice> open_;  // none: the processor computes
  std::optional<Trial> reference_;  // by the processor, while a device is chosen
  double cpu_seconds_ = 0;          // of a micro-batch's gradient
  double device_seconds_ = 0;
  std::uint64_t audit_every_ = 0;  // gradients; 0: never
  std::uint64_t check_every_ = kMostGradients;
  std::uint64_t gradients_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t retry_at_ = 0;  // in gradients
  bool is_barred_ = false;

  mutable std::mutex mutex_;
  std::string computes_on_ = "processor";  // guarded by mutex_
  std::vector<TrainerNotice> notices_;     // guarded by mutex_
};

}  // namespace

std::unique_ptr<GraphEngine> MakeDeviceEngine(std::unique_ptr<RunnerEngine> cpu,
                                              std::shared_ptr<exact::DeviceSource> devices,
                                              DeviceHooks hooks) {
  OSTRAKA_CHECK(cpu != nullptr && devices != nullptr);
  return std::make_unique<DeviceEngine>(std::move(cpu), std::move(devices), std::move(hooks));
}

}  // namespace ostraka::train
