#include "sim/engine/trace.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/sim/engine/scripted_machine.h"

namespace ostraka::sim::trace_test {
namespace {

base::Digest SomeDigest() {
  base::Digest digest;
  digest.bytes.fill(9);
  return digest;
}

// One step with all its parts; tests change one part at a time.
struct AStep {
  base::Time now{5};
  std::uint64_t sequence = 7;
  std::uint32_t peer = 2;
  protocol::Input input = protocol::TimerFired{3};
  std::vector<protocol::Action> actions;
};

base::Digest DigestOf(const AStep& step) {
  Trace trace;
  trace.OnStep({step.now, step.sequence, step.peer, step.input, step.actions});
  return trace.digest();
}

protocol::Send ASend() {
  return {PeerNumber(4), std::make_shared<const base::Bytes>(100, std::uint8_t{1}),
          std::make_shared<const crypto::Blob>(crypto::Blob{base::Bytes(8), SomeDigest()})};
}

TEST(Trace, EveryPartOfAStepCounts) {
  const std::vector<std::function<void(AStep&)>> changes = {
      [](AStep& s) { s.now.ns = 6; },
      [](AStep& s) { s.sequence = 8; },
      [](AStep& s) { s.peer = 3; },
      [](AStep& s) { s.input = protocol::TimerFired{4}; },
      [](AStep& s) { s.input = protocol::Stored{3}; },
      [](AStep& s) {
        s.input = protocol::LinkChanged{PeerNumber(1), true};
      },
      [](AStep& s) {
        s.input = protocol::LinkChanged{PeerNumber(1), false};
      },
      [](AStep& s) { s.actions.emplace_back(ASend()); },
      [](AStep& s) {
        protocol::Send send = ASend();
        send.blob = nullptr;
        s.actions.emplace_back(send);
      },
      [](AStep& s) {
        protocol::Send send = ASend();
        send.frame = std::make_shared<const base::Bytes>(100, std::uint8_t{2});
        s.actions.emplace_back(send);
      },
      [](AStep& s) {
        protocol::Send send = ASend();
        send.to = PeerNumber(5);
        s.actions.emplace_back(send);
      },
      [](AStep& s) {
        s.actions.emplace_back(protocol::SetTimer{1, {9}});
      },
      [](AStep& s) {
        s.actions.emplace_back(protocol::SetTimer{1, {10}});
      },
      [](AStep& s) { s.actions.emplace_back(protocol::CancelTimer{1}); },
      [](AStep& s) {
        s.actions.emplace_back(
            protocol::StartJob{1, std::make_shared<const protocol::JobSpec>(protocol::PackSpec{})});
      },
      [](AStep& s) {
        s.actions.emplace_back(protocol::Store{1, {{protocol::RecordKind::kSlot, {1}, {2}}}});
      },
      [](AStep& s) {
        s.actions.emplace_back(protocol::Store{1, {{protocol::RecordKind::kSlot, {1}, {3}}}});
      },
      [](AStep& s) { s.actions.emplace_back(protocol::Observe{protocol::Halted{}}); },
      [](AStep& s) {
        s.actions.emplace_back(protocol::Observe{protocol::Suspicion{1, PeerNumber(1), "V1", ""}});
      },
      [](AStep& s) {
        s.actions.emplace_back(protocol::Observe{protocol::Suspicion{1, PeerNumber(1), "V2", ""}});
      },
  };
  std::vector<base::Digest> digests = {DigestOf(AStep{})};
  for (const auto& change : changes) {
    AStep step;
    change(step);
    digests.push_back(DigestOf(step));
  }
  for (std::size_t i = 0; i < digests.size(); ++i) {
    for (std::size_t j = i + 1; j < digests.size(); ++j) {
      EXPECT_NE(digests[i], digests[j]) << i << " and " << j;
    }
  }
}

TEST(Trace, DependsOnContentsAndNotOnAddresses) {
  AStep once;
  once.actions.emplace_back(ASend());
  once.actions.emplace_back(ASend());  // another object with the same bytes
  AStep shared;
  const protocol::Send send = ASend();
  shared.actions.emplace_back(send);
  shared.actions.emplace_back(send);
  EXPECT_EQ(DigestOf(once), DigestOf(shared));
}

TEST(Trace, FingerprintsAndOrderCount) {
  Trace a;
  a.OnFingerprint(1, SomeDigest());
  Trace b;
  b.OnFingerprint(2, SomeDigest());
  EXPECT_NE(a.digest(), b.digest());
  a.OnFingerprint(2, SomeDigest());
  b.OnFingerprint(1, SomeDigest());
  EXPECT_NE(a.digest(), b.digest());
}

TEST(Trace, AskingForTheDigestDoesNotChangeIt) {
  Trace asked;
  Trace unasked;
  AStep step;
  step.actions.emplace_back(protocol::Store{
      1, {{protocol::RecordKind::kSlot, base::Bytes(40'000), base::Bytes(40'000)}}});
  for (std::uint64_t i = 0; i < 5; ++i) {  // past several folds
    step.sequence = i;
    for (Trace* trace : {&asked, &unasked}) {
      trace->OnStep({step.now, step.sequence, step.peer, step.input, step.actions});
    }
    (void)asked.digest();
  }
  EXPECT_EQ(asked.digest(), unasked.digest());
}

TEST(Describe, DescribesAnEventInOneLine) {
  AStep step;
  step.now = {base::Milliseconds(12'345).ns};
  step.actions.emplace_back(ASend());
  step.actions.emplace_back(ASend());
  step.actions.emplace_back(protocol::CancelTimer{1});
  EXPECT_EQ(Describe({step.now, 1, 2, step.input, step.actions}),
            "12.345000000 s peer 2 timer 3 -> 2 sends, 1 timers cancelled");
}

}  // namespace
}  // namespace ostraka::sim::trace_test
