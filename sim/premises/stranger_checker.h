// Checker "strangers": what honest peers store convinces a reader who knows the manifest alone.
//
// All handovers lead on from the genesis, every file of judges is proven to who follows them, and
// at the end they lead to the members of the day, however many came and went.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "proofs/evidence/handover.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

class StrangerChecker final : public Checker {
 public:
  StrangerChecker(const Roster& roster, evidence::KnownRun genesis)
      : roster_(roster), genesis_(std::move(genesis)), members_(genesis_.members) {}
  std::string_view name() const override { return "strangers"; }
  base::Status OnAction(std::uint32_t peer, const protocol::Action& action) override;
  base::Status AtEnd() override;

 private:
  struct Stored {
    std::uint32_t peer = 0;
    base::Bytes file;
    bool operator<(const Stored& other) const { return file < other.file; }
  };
  void OnBlock(const wire::Block& block);
  base::Status CheckHandovers(const evidence::Views& views) const;
  base::Status CheckFiles(const evidence::Views& views) const;

  Roster roster_;
  evidence::KnownRun genesis_;
  std::set<Stored> handovers_;
  std::set<Stored> files_;  // sealed_ban and verdict
  std::vector<base::PeerId> members_;
  std::uint64_t height_ = 0;
  std::uint64_t changed_ = 0;  // height of the newest block that changed the members
};

}  // namespace ostraka::sim
