#include "node/protocol/ground/transcript.h"

#include <array>
#include <span>
#include <variant>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace

void Transcript::Put(std::uint64_t value) {
  std::array<std::uint8_t, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
}

void Transcript::Put(base::ByteView bytes) {
  Put(bytes.size());
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
}

void Transcript::Fold() {
  chain_ = crypto::Hasher(crypto::kDomainTrace).Update(chain_).UpdateSized(pending_).Finish();
  pending_.clear();
}

base::Digest Transcript::digest() const {
  return crypto::Hasher(crypto::kDomainTrace).Update(chain_).UpdateSized(pending_).Finish();
}

const base::Digest& Transcript::DigestOf(const base::SharedBytes& frame) {
  if (frame != last_frame_.frame) {
    last_frame_ = {frame, crypto::Hash(crypto::kDomainTrace, *frame)};
  }
  return last_frame_.digest;
}

const base::Digest& Transcript::DigestOf(const SharedVector& vector) {
  if (vector != last_vector_.vector) {
    const auto bytes = base::AsBytes(std::span<const float>(*vector));
    last_vector_ = {vector, crypto::Hash(crypto::kDomainTrace, bytes)};
  }
  return last_vector_.digest;
}

void Transcript::PutInput(const Input& input) {
  Put(input.index());
  std::visit(Overloaded{
                 [this](const Started& started) { Put(started.private_seed.view()); },
                 [](const MessageReceived&) {},  // by sequence number
                 [this](const LinkChanged& link) {
                   Put(link.peer.view());
                   Put(std::uint64_t{link.up});
                 },
                 [this](const TimerFired& timer) { Put(timer.id); },
                 [this](const JobDone& job) {
                   Put(job.id);
                   Put(job.result->index());
                 },
                 [this](const Stored& stored) { Put(stored.id); },
                 [](const Told&) {},  // what it does shows in COMMITs
             },
             input);
}

void Transcript::PutObservation(const Observation& what) {
  Put(what.index());
  std::visit(Overloaded{
                 [this](const StepStarted& started) {
                   Put(started.step);
                   Put(started.batches.randomness.view());
                   for (const base::PeerId& owner : started.roles.owners) Put(owner.view());
                 },
                 [this](const Sealed& sealed) {
                   Put(sealed.step);
                   Put(std::uint64_t{sealed.phase});
                   Put(sealed.decision.view());
                   Put(std::uint64_t{sealed.draw});
                   Put(std::uint64_t{sealed.iteration});
                 },
                 [this](const SlowSeal& slow) {
                   Put(slow.step);
                   Put(std::uint64_t{slow.phase});
                   Put(std::uint64_t{slow.iteration});
                   Put(base::AsBytes(slow.reason));
                 },
                 [this](const Away& away) {
                   Put(away.step);
                   Put(base::AsBytes(away.reason));
                 },
                 [this](const Barred& barred) {
                   Put(barred.step);
                   Put(barred.until);
                 },
                 [this](const Unconfirmed& unconfirmed) {
                   Put(unconfirmed.since);
                   Put(static_cast<std::uint64_t>(unconfirmed.at_most.ns));
                 },
                 [this](const CatchingUp& way) {
                   Put(way.height);
                   Put(way.head);
                   Put(base::AsBytes(way.detail));
                 },
                 [this](const Back& back) { Put(back.step); },
                 [this](const Resumed& resumed) {
                   Put(wire::EncodeBlock(*resumed.block));
                   if (resumed.state.parameters) Put(DigestOf(resumed.state.parameters).view());
                 },
                 [this](const StepDone& done) {
                   Put(wire::EncodeBlock(*done.block));
                   if (done.state.parameters) Put(DigestOf(done.state.parameters).view());
                 },
                 [this](const Suspicion& suspicion) {
                   Put(suspicion.step);
                   Put(suspicion.peer.view());
                   Put(base::AsBytes(suspicion.check));
                   Put(base::AsBytes(suspicion.reason));
                 },
                 [this](const StepTimes& times) {
                   Put(times.step);
                   Put(static_cast<std::uint64_t>(times.compute_ns));
                   Put(static_cast<std::uint64_t>(times.aggregate_ns));
                   Put(static_cast<std::uint64_t>(times.agree_ns));
                 },
                 [this](const Slow& slow) {
                   Put(slow.step);
                   Put(slow.used_ms);
                   Put(slow.allowed_ms);
                 },
                 [this](const Staying& staying) {
                   Put(staying.step);
                   Put(staying.others.size());
                   for (const base::PeerId& peer : staying.others) Put(peer.view());
                   Put(static_cast<std::uint64_t>(staying.at_most.ns));
                 },
                 [this](const FalseGradient& seen) {
                   Put(seen.step);
                   Put(seen.worker.view());
                 },
                 [this](const Halted& halted) {
                   Put(static_cast<std::uint64_t>(halted.why));
                   Put(halted.step);
                   Put(base::AsBytes(halted.reason));
                 },
             },
             what);
}

void Transcript::PutAction(const Action& action) {
  Put(action.index());
  std::visit(Overloaded{
                 [this](const Send& send) {
                   Put(send.to.view());
                   Put(DigestOf(send.frame).view());
                   if (!send.blob) return Put(std::uint64_t{0});
                   Put(send.blob->size());
                   Put(send.blob->root.view());
                 },
                 [this](const SetTimer& timer) {
                   Put(timer.id);
                   Put(static_cast<std::uint64_t>(timer.at.ns));
                 },
                 [this](const CancelTimer& timer) { Put(timer.id); },
                 [this](const StartJob& job) {
                   Put(job.id);
                   Put(job.spec->index());
                 },
                 [this](const StopJob& job) { Put(job.id); },
                 [this](const Store& store) {
                   Put(store.id);
                   Put(store.records.size());
                   for (const Record& record : store.records) {
                     Put(static_cast<std::uint64_t>(record.kind));
                     Put(record.key);
                     Put(record.value);
                     Put(record.blob ? record.blob->size() : 0);
                   }
                 },
                 [this](const Observe& observe) { PutObservation(observe.what); },
             },
             action);
}

Digest DigestOfActions(const std::vector<Action>& actions) {
  Transcript transcript;
  for (const Action& action : actions) transcript.PutAction(action);
  return transcript.digest();
}

namespace {

// "commit of step 3, phase a, by 0123456789abcdef, "; empty if it does not open.
std::string DescribeFrame(const base::SharedBytes& frame) {
  const auto opened = wire::Open(frame);
  if (!opened.ok()) return "";
  const wire::Slot& slot = opened->envelope.slot;
  return std::string(wire::MessageTypeName(slot.type)) + " of step " + std::to_string(slot.step) +
         ", phase " + wire::PhaseName(slot.phase) + ", by " + opened->envelope.sender.Short() +
         ", ";
}

// A short text for people; empty for actions that every step has.
std::string DescribeObservation(const Observation& what) {
  const auto phase = [](std::uint8_t number) {
    return std::string(wire::PhaseName(static_cast<wire::Phase>(number)));
  };
  return std::visit(
      Overloaded{
          [&](const Sealed& sealed) {
            return "sealed " + std::to_string(sealed.step) + phase(sealed.phase) + " as " +
                   sealed.decision.Hex().substr(0, 8) +
                   (sealed.iteration > 0 ? " in iteration " + std::to_string(sealed.iteration)
                                         : std::string());
          },
          [&](const SlowSeal& slow) {
            return "slow " + std::to_string(slow.step) + phase(slow.phase) + ", iteration " +
                   std::to_string(slow.iteration) + ": " + slow.reason;
          },
          [](const StepDone& done) {
            return (done.block->genesis ? "genesis" : "block " + std::to_string(done.block->step)) +
                   " with " + std::to_string(done.block->members.size()) + " members";
          },
          [](const Resumed& resumed) {
            return "resumes after " + (resumed.block->genesis
                                           ? std::string("genesis")
                                           : "block " + std::to_string(resumed.block->step));
          },
          [](const Away& away) { return "away: " + away.reason; },
          [](const Barred& barred) { return "barred until step " + std::to_string(barred.until); },
          [](const Unconfirmed& unconfirmed) {
            return "not confirmed since block " + std::to_string(unconfirmed.since);
          },
          [](const Back& back) { return "back in step " + std::to_string(back.step); },
          [](const CatchingUp& up) {
            return "has " + std::to_string(up.height) + " of " + std::to_string(up.head) +
                   " blocks";
          },
          [](const Suspicion& suspicion) {
            return "suspects " + suspicion.peer.Short() + ": " + suspicion.check + ", " +
                   suspicion.reason;
          },
          [](const Slow& slow) {
            return "has let the others wait " + std::to_string(slow.used_ms) + " of " +
                   std::to_string(slow.allowed_ms) + " ms that it may";
          },
          [](const Staying& staying) {
            return "stays for " + std::to_string(staying.others.size()) + " after its last step";
          },
          [](const Halted& halted) { return "halts: " + halted.reason; },
          [](const auto&) { return std::string(); },
      },
      what);
}

std::string DescribeInput(const Input& input) {
  return std::visit(
      Overloaded{
          [](const Started&) { return std::string("starts"); },
          [](const MessageReceived& message) {
            std::string line = "message from " + message.from.Short() + " (" +
                               DescribeFrame(message.frame) +
                               std::to_string(message.frame->size()) + " bytes";
            if (message.blob) line += " + blob of " + std::to_string(message.blob->data.size());
            return line + ")";
          },
          [](const LinkChanged& link) {
            return "link to " + link.peer.Short() + (link.up ? " up" : " down");
          },
          [](const TimerFired& timer) { return "timer " + std::to_string(timer.id); },
          [](const JobDone& job) { return "job " + std::to_string(job.id) + " done"; },
          [](const Stored& stored) { return "stored " + std::to_string(stored.id); },
          [](const Told&) { return std::string("told what its owner wants"); },
      },
      input);
}

}  // namespace

std::string DescribeTurn(const Input& input, const std::vector<Action>& actions) {
  static constexpr std::array<const char*, std::variant_size_v<Action>> kNames = {
      "sends", "timers set", "timers cancelled", "jobs", "jobs stopped", "stores", "observations"};
  std::array<std::size_t, kNames.size()> counts{};
  for (const Action& action : actions) ++counts[action.index()];
  std::string line = DescribeInput(input);
  const char* separator = " -> ";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    line += separator + std::to_string(counts[i]) + " " + kNames[i];
    separator = ", ";
  }
  for (const Action& action : actions) {
    const auto* observe = std::get_if<Observe>(&action);
    const std::string what = observe ? DescribeObservation(observe->what) : "";
    if (!what.empty()) line += "; " + what;
  }
  return line;
}

}  // namespace ostraka::protocol
