#include "sim/engine/trace.h"

#include <array>
#include <cstdio>

namespace ostraka::sim {
namespace {

constexpr std::size_t kFoldBytes = 64 * 1024;

}  // namespace

void Trace::OnStep(const StepRecord& record) {
  transcript_.Put(static_cast<std::uint64_t>(record.now.ns));
  transcript_.Put(record.sequence);
  transcript_.Put(std::uint64_t{record.peer});
  transcript_.PutInput(record.input);
  transcript_.Put(record.actions.size());
  for (const protocol::Action& action : record.actions) transcript_.PutAction(action);
  if (transcript_.unfolded() >= kFoldBytes) transcript_.Fold();
}

void Trace::OnFingerprint(std::uint32_t peer, const base::Digest& fingerprint) {
  transcript_.Put(std::uint64_t{peer});
  transcript_.Put(fingerprint.view());
}

std::string Describe(const StepRecord& record) {
  std::array<char, 64> head;
  std::snprintf(head.data(), head.size(), "%lld.%09lld s peer %u ",
                static_cast<long long>(record.now.ns / 1'000'000'000),
                static_cast<long long>(record.now.ns % 1'000'000'000), record.peer);
  return head.data() + protocol::DescribeTurn(record.input, record.actions);
}

}  // namespace ostraka::sim
