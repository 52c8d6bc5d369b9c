// A run of four members seen by the first, for tests of its status and its page.
#pragma once

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "node/cli/views/status_json.h"
#include "node/host/report/figures.h"

namespace ostraka::cli {

inline base::PeerId PeerOf(std::uint8_t n) {
  base::PeerId id;
  id.bytes.fill(n);
  return id;
}

inline constexpr std::uint64_t kBatch = 32;

struct StatusScene {
  StatusScene() : manifest(std::make_shared<protocol::Manifest>()) {
    manifest->training.steps = 200;
    manifest->training.batch_size = kBatch;
    for (std::uint8_t n = 1; n <= 4; ++n) {
      manifest->members.push_back({PeerOf(n), ""});
      if (n > 1) status.others.push_back(PeerOf(n));
    }
    run.manifest = manifest;
    status.self = PeerOf(1);
    status.met = true;
    status.linked = status.others;
    status.progress.step = 12;
    status.progress.phase = "collect";
    status.recent_step = base::Milliseconds(340);
  }

  wire::Block BlockOf(std::uint64_t step) const {
    wire::Block block;
    block.step = step;
    for (std::uint8_t n = 1; n <= 4; ++n) block.members.push_back(PeerOf(n));
    return block;
  }
  void See(const protocol::Observation& what) { history.See(base::Time{}, what); }
  void Done(wire::Block block) {
    See(protocol::StepDone{std::make_shared<const wire::Block>(std::move(block)), {}});
  }
  // Workers 1 and 2, of whom the validators 3 and 4 recompute one each.
  void Begin(std::uint64_t step) {
    protocol::StepStarted started;
    started.step = step;
    started.roles.workers = {PeerOf(1), PeerOf(2)};
    started.roles.validators = {{PeerOf(3), PeerOf(1), step, {}}, {PeerOf(4), PeerOf(2), step, {}}};
    See(started);
  }
  // Members 1 to `workers` bring their gradients into the model.
  void Work(std::uint64_t step, std::uint8_t workers) {
    wire::Block block = BlockOf(step);
    block.columns = {wire::ColumnFate::kApplied};
    block.aggregated = {{PeerOf(1), {}}};
    for (std::uint8_t n = 1; n <= workers; ++n) {
      block.aggregated.front().senders.push_back(PeerOf(n));
      block.proven.push_back(PeerOf(n));
    }
    Done(block);
  }
  void Remove(std::uint8_t peer, wire::RemovalKind kind, std::uint64_t step,
              const std::string& reason) {
    wire::Block block = BlockOf(step);
    std::erase(block.members, PeerOf(peer));
    block.removals = {{PeerOf(peer), kind, step, {.old_text = reason}}};
    block.standings = {{PeerOf(peer), wire::IsBan(kind), 1, step, 0}};
    Done(block);
  }
  // As host::Reporter has it.
  host::NodeStatus Seen() const {
    host::NodeStatus seen = status;
    seen.block = history.block();
    seen.away = history.away();
    if (seen.removals.empty()) seen.removals = host::RemovalsAsOf(history, seen.block.get());
    return seen;
  }
  nlohmann::json Status() const { return StatusJson(run, Seen(), history); }
  // What the status says of a key.
  nlohmann::json Key(std::uint8_t n) const {
    const nlohmann::json seen = Status();
    for (const nlohmann::json& key : seen.at("keys")) {
      if (key.at("peer") == PeerOf(n).Hex()) return key;
    }
    std::abort();
  }

  std::shared_ptr<protocol::Manifest> manifest;
  StatusRun run;
  host::NodeStatus status;
  host::RunHistory history;
};

}  // namespace ostraka::cli
