// Ends a mesh: sends what members may still need, then closes everything (node/net/mesh/mesh.h).
#include <utility>

#include "node/base/check.h"
#include "node/net/mesh/mesh.h"

namespace ostraka::net {

void Mesh::Part(Duration deadline, std::function<void()> done) {
  ending_.Begin(
      true, deadline, [this] { OnEndDeadline(); }, std::move(done));
  const bool can_be_dialed = options_.listen_fd >= 0 || !options_.listen.empty();
  for (auto& [id, member] : member_table_.members()) {
    if (member.choice.link() != nullptr) {
      member.choice.link()->CloseWhenFlushed(kLeavingReason);
    } else if (!can_be_dialed && member_table_.book().Of(id).empty()) {
      // Neither side can dial the other: only members that carry can tell it our last messages.
      member.parted = true;
    } else {
      // The member may have been away for long: reset its back-off to short waits.
      member.dialing.ResetBackoff();
      Dial(member);
    }
  }
  StopOncePartedFromAll();
}

void Mesh::Shutdown(Duration deadline, std::function<void()> done) {
  ending_.Begin(
      false, deadline, [this] { OnEndDeadline(); }, std::move(done));
  Stop();
}

void Mesh::OnEndDeadline() {
  for (const auto& [id, member] : member_table_.members()) {
    if (!ending_.parting() || member.forgotten || member.parted) continue;
    if (member.choice.link() == nullptr) tally_.MayLackMessages(id.Short());
  }
  Stop();
  for (const std::shared_ptr<Connection>& connection : pool_.All()) {
    connection->Abort({Closing::Why::kLocal, "took too long to close"});
  }
}

void Mesh::StopOncePartedFromAll() {
  if (!ending_.parting() || ending_.stopping()) return;
  if (member_table_.HasPartedFromAll()) Stop();
}

void Mesh::Stop() {
  if (!ending_.Stop()) return;
  reception_.CloseLobby();
  look_timer_.Cancel();
  for (auto& [id, member] : member_table_.members()) member.dialing.Cancel();
  for (const std::shared_ptr<Connection>& connection : pool_.All()) {
    connection->CloseWhenFlushed(kLeavingReason);
  }
  // With no open connection no OnGone will come, and `done` must not be called within this call.
  if (pool_.empty()) ending_.FinishSoon();
}

}  // namespace ostraka::net
