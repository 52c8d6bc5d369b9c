// Ends a mesh: sends what members may still need, then closes everything (node/net/mesh/mesh.h).
#include <utility>

#include "node/base/check.h"
#include "node/net/mesh/mesh.h"

namespace ostraka::net {

void Mesh::Part(Duration deadline, std::function<void()> done) {
  parting_ = true;
  BeginEnd(deadline, std::move(done));
  for (auto& [id, member] : members_) {
    if (member.link != nullptr) {
      member.link->CloseWhenFlushed(kLeavingReason);
    } else {
      // The member may have been away for long: reset its back-off to short waits.
      member.backoff = Backoff(options_.backoff);
      Dial(member);
    }
  }
  StopOncePartedFromAll();
}

void Mesh::Shutdown(Duration deadline, std::function<void()> done) {
  BeginEnd(deadline, std::move(done));
  Stop();
}

void Mesh::BeginEnd(Duration deadline, std::function<void()> done) {
  OSTRAKA_CHECK(!done_ && !stopping_);
  done_ = std::move(done);
  end_timer_.Start(deadline, [this] { OnEndDeadline(); });
}

void Mesh::OnEndDeadline() {
  for (const auto& [id, member] : members_) {
    if (!parting_ || member.forgotten || member.parted || member.link != nullptr) continue;
    notices_.Say(NoticeLevel::kWarning,
                 id.Short() + " may lack our last messages: its link was down until the end");
  }
  Stop();
  for (const auto& [key, connection] : connections_) {
    connection->Abort({Closing::Why::kLocal, "took too long to close"});
  }
}

void Mesh::StopOncePartedFromAll() {
  if (!parting_ || stopping_) return;
  for (const auto& [id, member] : members_) {
    if (!member.forgotten && !member.parted) return;
  }
  Stop();
}

void Mesh::Stop() {
  if (stopping_) return;
  stopping_ = true;
  lobby_.Clear();
  look_timer_.Cancel();
  for (auto& [id, member] : members_) member.dial_timer.Cancel();
  for (const auto& [key, connection] : connections_) connection->CloseWhenFlushed(kLeavingReason);
  // With no open connection no OnGone will come, and `done` must not be called within this call.
  if (connections_.empty()) end_timer_.Start(Duration{}, [this] { FinishShutdown(); });
}

void Mesh::FinishShutdown() {
  end_timer_.Cancel();
  const std::function<void()> done = std::exchange(done_, nullptr);
  if (done) done();
}

}  // namespace ostraka::net
