// Members that left or were removed, and keys that may come in.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "node/cli/views/node_json.h"
#include "node/cli/views/status_sections.h"

namespace ostraka::cli {

using nlohmann::json;

namespace {

json FirstOf(const std::vector<base::PeerId>& voters) {
  json first = json::array();
  for (const base::PeerId& voter : voters) {
    if (first.size() == kVotersInStatus) break;
    first.push_back(voter.Hex());
  }
  return first;
}

json JsonOf(const host::PastVotes& votes) {
  return {{"voters", votes.voters},
          {"against", votes.against.size()},
          {"against_by", FirstOf(votes.against)},
          {"in_favour", votes.in_favour.size()},
          {"in_favour_by", FirstOf(votes.in_favour)}};
}

// Proofs convict, so they belong to the ban.
void AddEvidence(const wire::Removal& removal, const host::RunHistory& history, json& result) {
  if (!wire::IsBan(removal.kind)) return;
  json evidence = json::array();
  std::size_t more = 0;
  for (const host::KnownProof& proof : history.proofs()) {
    if (proof.accused != removal.peer) continue;
    if (evidence.size() == kProofsInStatus) {
      ++more;
      continue;
    }
    evidence.push_back({{"id", proof.id.Hex()},
                        {"kind", wire::EvidenceKindName(proof.kind)},
                        {"messages", proof.frames}});
  }
  if (!evidence.empty()) result["evidence"] = std::move(evidence);
  if (more > 0) result["evidence_more"] = more;
}

}  // namespace

json RemovalsJson(const host::NodeStatus& status, const host::RunHistory& history) {
  const std::size_t all = status.removals.size();
  json removals = json::array();
  for (std::size_t i = all - std::min(all, kRemovalsInStatus); i < all; ++i) {
    const host::PastRemoval& past = status.removals[i];
    json removal = JsonOf(past);
    if (past.votes) removal["votes"] = JsonOf(*past.votes);
    AddEvidence(past.removal, history, removal);
    removals.push_back(std::move(removal));
  }
  return removals;
}

json DoorJson(const StatusRun& run, const host::RunHistory& history) {
  const host::DoorReport door = host::DoorOf(*run.manifest, *history.block(), history.vouched());
  json result = {{"policy", protocol::JoinPolicyName(door.policy)},
                 {"seats", door.seats},
                 {"members", door.members},
                 {"kept", door.kept},
                 {"bears", door.bears},
                 {"moderators", json::array()},
                 {"asking", json::array()},
                 {"vouched", json::object()}};
  for (const host::DoorReport::Moderator& moderator : door.moderators) {
    result["moderators"].push_back({{"peer", moderator.peer.Hex()},
                                    {"admitted", moderator.admitted},
                                    {"quota", moderator.quota},
                                    {"revoked", moderator.revoked}});
  }
  for (const host::DoorReport::Asking& asking : door.asking) {
    if (result["asking"].size() == kAskingInStatus) break;
    json entry = {
        {"peer", asking.peer.Hex()}, {"blocks", asking.blocks}, {"needed", asking.needed}};
    if (asking.moderator) entry["moderator"] = asking.moderator->Hex();
    result["asking"].push_back(std::move(entry));
  }
  for (const auto& [peer, moderator] : door.vouched) {
    result["vouched"][peer.Hex()] = moderator.Hex();
  }
  const std::size_t more = door.asking.size() - result["asking"].size();
  if (more > 0) result["asking_more"] = more;
  return result;
}

}  // namespace ostraka::cli
