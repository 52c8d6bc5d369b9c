// ostraka ledger show|explain: the record of a run in a node's data folder, without the node.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/cli/node/commands.h"
#include "node/cli/terminal/member_names.h"
#include "node/cli/views/node_answers.h"
#include "node/cli/views/node_json.h"
#include "node/host/report/arrivals.h"
#include "node/store/ledger_reader.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

struct LedgerCommandOptions {
  std::string data_dir;
  std::string peer;
  bool json = false;
};

std::string ListOf(const std::vector<base::PeerId>& peers) {
  std::string list;
  for (const base::PeerId& peer : peers) list += (list.empty() ? "" : " ") + peer.Short();
  return list;
}

// Steps whose blocks a node skipped: it was away, and took a later state from the others.
struct Gap {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::string Text() const {
    return "the blocks of steps " + std::to_string(from) + " to " + std::to_string(to) +
           " are not here: this node was away, and took a later state";
  }
};

// Finds the gaps in blocks that it is shown in order.
class GapFinder {
 public:
  // Below `pruned_below` a missing block says nothing.
  explicit GapFinder(std::uint64_t pruned_below) : pruned_below_(pruned_below) {}

  // The gap before `block`, if there is one.
  std::optional<Gap> Before(const wire::Block& block) {
    const std::uint64_t expected = std::max(next_, pruned_below_);
    const bool skips = !block.genesis && block.step > expected;
    next_ = HeightOf(block);
    if (!skips) return std::nullopt;
    return Gap{expected, block.step - 1};
  }

 private:
  const std::uint64_t pruned_below_;
  std::uint64_t next_ = 0;  // step of the block that should follow
};

std::string EventsOf(const wire::Block& block) {
  std::string events;
  for (const auto& removal : block.removals) {
    events += (wire::IsBan(removal.kind) ? "banned " : "dropped ") + removal.peer.Short() + " ";
  }
  for (const auto& peer : block.leaving) events += "leaving: " + peer.Short() + " ";
  for (const auto& peer : block.left) events += "left: " + peer.Short() + " ";
  for (const auto& peer : block.joined) {
    events += (host::CameWith(block, peer) ? "came: " : "returned ") + peer.Short() + " ";
  }
  for (const auto& open : block.cases) {
    if (open.opened_step == block.step) events += CaseText(JsonOf(open.id)) + " ";
  }
  if (wire::RunIsOver(block)) events += "the run is closed ";
  if (block.state_root) events += "state root " + block.state_root->Short();
  return events;
}

base::Status ShowText(store::LedgerReader& ledger, const store::LedgerSummary& summary) {
  const MemberNames names(summary.names);
  std::printf("run   %s\nnode  %s  %s\nsince %s\n", summary.run_id.Hex().c_str(),
              summary.peer.Hex().c_str(), names.Of(summary.peer).c_str(),
              summary.created_utc.c_str());
  std::printf("end   %s\n", summary.outcome.empty() ? "none recorded: it runs, or it was killed"
                                                    : summary.outcome.c_str());
  if (summary.pruned_below > 0) {
    std::printf("kept  below step %llu only blocks with removals or open cases\n",
                static_cast<unsigned long long>(summary.pruned_below));
  }
  std::printf("%-8s %-16s %8s %10s %10s  %s\n", "step", "decision", "members", "applied", "tau",
              "events");
  GapFinder gaps(summary.pruned_below);
  return ledger.ForEachBlock(0, [&](const wire::Block& block) {
    if (const auto gap = gaps.Before(block)) std::printf("...      %s\n", gap->Text().c_str());
    const auto applied =
        std::count(block.columns.begin(), block.columns.end(), wire::ColumnFate::kApplied);
    const std::string events = names.In(EventsOf(block));
    const std::string step = block.genesis ? "genesis" : std::to_string(block.step);
    const std::string columns =
        std::to_string(applied) + "/" + std::to_string(block.columns.size());
    std::printf("%-8s %-16s %8zu %10s %10.4g  %s\n", step.c_str(), block.decision.Short().c_str(),
                block.members.size(), columns.c_str(), block.tau, events.c_str());
    return true;
  });
}

base::Status Show(const LedgerCommandOptions& options) {
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::Open(options.data_dir));
  ASSIGN_OR_RETURN(const store::LedgerSummary summary, ledger.Summary());
  if (!options.json) return ShowText(ledger, summary);
  json blocks = json::array();
  RETURN_IF_ERROR(ledger.ForEachBlock(0, [&](const wire::Block& block) {
    json row = StepEvent(block);
    row.erase("event");
    row["decision"] = block.decision.Hex();
    row["removals"] = json::array();
    for (const auto& removal : block.removals) row["removals"].push_back(JsonOf(removal));
    row["columns"] = json::array();
    for (const auto fate : block.columns) row["columns"].push_back(wire::ColumnFateName(fate));
    for (const wire::Reach& reach : block.reach) {
      if (reach.only_dials) row["only_dial"].push_back(reach.peer.Hex());
    }
    for (const wire::BatchCount& count : block.batch_counts) {
      row["batches"].push_back({{"peer", count.peer.Hex()}, {"count", count.count}});
    }
    if (block.state_root) row["state_root"] = block.state_root->Hex();
    blocks.push_back(std::move(row));
    return true;
  }));
  json result = {{"run_id", summary.run_id.Hex()},
                 {"peer", summary.peer.Hex()},
                 {"outcome", summary.outcome},
                 {"slots", summary.slots},
                 {"evidence", summary.evidence},
                 {"pruned_below", summary.pruned_below},
                 {"blocks", blocks}};
  if (!summary.names.empty()) result["names"] = NamesJson(summary.names);
  PrintJson(result);
  return base::OkStatus();
}

// The member of the run that `text` names: its name, its whole id or the id's first digits.
base::StatusOr<base::PeerId> FindPeer(store::LedgerReader& ledger, const MemberNames& names,
                                      const std::string& text) {
  std::vector<base::PeerId> members;
  RETURN_IF_ERROR(ledger.ForEachBlock(0, [&](const wire::Block& genesis) {
    members = genesis.members;
    return false;
  }));
  std::vector<base::PeerId> matches;
  for (const base::PeerId& member : members) {
    if (member.Hex().starts_with(text) || names.Of(member) == text) matches.push_back(member);
  }
  if (matches.size() == 1) return matches.front();
  return base::InvalidArgument("peer '" + text + "' " +
                               (matches.empty() ? "was no member of this run" : "is ambiguous") +
                               "; members: " + names.In(ListOf(members)));
}

const char* VerdictName(wire::Verdict verdict) {
  return verdict == wire::Verdict::kGuilty     ? "guilty"
         : verdict == wire::Verdict::kTwice    ? "guilty_twice"
         : verdict == wire::Verdict::kInnocent ? "innocent"
                                               : "abstain";
}

// The case that a verdict closed, from the block before the removal. The accuser of a cover case is
// already convicted.
base::StatusOr<std::optional<wire::Case>> CaseAgainst(store::LedgerReader& ledger,
                                                      const wire::Removal& removal) {
  std::optional<wire::Case> found;
  // Height of block `step` is step + 1, so the block before a removal has the removal's step.
  RETURN_IF_ERROR(ledger.ForEachBlock(removal.step, [&](const wire::Block& block) {
    for (const wire::Case& open : block.cases) {
      const bool accused_others =
          open.id.accuser == removal.peer && open.id.kind != wire::CaseKind::kCover;
      if (open.id.target != removal.peer && !accused_others) continue;
      // Two validators may have accused it in succession: the reason names the accuser.
      const bool named =
          wire::TextOf(removal.reason).find(open.id.accuser.Short()) != std::string::npos;
      if (!found || named) found = open;
    }
    return false;
  }));
  return found;
}

base::Status ExplainRemoval(store::LedgerReader& ledger, const wire::Removal& removal, json& list) {
  json entry = JsonOf(removal);
  if (removal.kind == wire::RemovalKind::kVerdict) {
    ASSIGN_OR_RETURN(const std::optional<wire::Case> open, CaseAgainst(ledger, removal));
    if (open) {
      entry.update(JsonOf(open->id));
      entry["case_opened_in_step"] = open->opened_step;
      for (const auto& ballot : open->ballots) {
        entry["earlier_ballots"].push_back(
            {{"voter", ballot.voter.Hex()}, {"verdict", VerdictName(ballot.verdict)}});
      }
    }
  }
  ASSIGN_OR_RETURN(const std::vector<store::EvidenceRow> evidence, ledger.Evidence(removal.peer));
  for (const auto& row : evidence) {
    entry["evidence"].push_back({{"id", row.digest.Hex()}, {"kind", row.kind}});
  }
  list.push_back(std::move(entry));
  return base::OkStatus();
}

// What the blocks say of members that were removed and came back.
struct Returns {
  std::map<base::PeerId, std::vector<std::uint64_t>> joined;  // steps, in order
  std::vector<base::PeerId> members;                          // of the newest block
  std::uint64_t newest = 0;                                   // its step
  std::vector<Gap> gaps;
};

base::StatusOr<Returns> ReadReturns(store::LedgerReader& ledger) {
  ASSIGN_OR_RETURN(const store::LedgerSummary summary, ledger.Summary());
  Returns returns;
  GapFinder gaps(summary.pruned_below);
  RETURN_IF_ERROR(ledger.ForEachBlock(0, [&](const wire::Block& block) {
    if (const auto gap = gaps.Before(block)) returns.gaps.push_back(*gap);
    for (const base::PeerId& peer : block.joined) returns.joined[peer].push_back(block.step);
    returns.members = block.members;
    returns.newest = block.step;
    return true;
  }));
  return returns;
}

// `next`: the step of the member's next removal, or none.
void AddReturn(const Returns& returns, const wire::Removal& removal,
               std::optional<std::uint64_t> next, json& entry) {
  const auto joined = returns.joined.find(removal.peer);
  if (joined != returns.joined.end()) {
    for (const std::uint64_t step : joined->second) {
      if (step <= removal.step || (next && step > *next)) continue;
      entry["returned_in_step"] = step;
      return;
    }
  }
  // Its return is in a gap.
  const auto& members = returns.members;
  const bool is_member = std::find(members.begin(), members.end(), removal.peer) != members.end();
  if (!next && is_member) entry["member_in_step"] = returns.newest;
}

void PrintExplanation(const MemberNames& names, const json& entry) {
  const std::string kind = entry["kind"];
  const bool is_ban = kind == wire::RemovalKindName(wire::RemovalKind::kVerdict) ||
                      kind == wire::RemovalKindName(wire::RemovalKind::kEvidence);
  std::printf("%s was %s in step %llu (%s)\n",
              names.In(entry["peer"].get<std::string>().substr(0, 16)).c_str(),
              is_ban ? "banned" : "dropped", static_cast<unsigned long long>(entry["step"]),
              kind.c_str());
  std::printf("  why: %s\n", PrintableLine(names.In(entry["reason"].get<std::string>())).c_str());
  if (entry.contains("accuser")) {
    std::printf("  case: %s; sealed in step %llu\n", names.In(CaseText(entry)).c_str(),
                static_cast<unsigned long long>(entry["case_opened_in_step"]));
  }
  if (entry.contains("returned_in_step")) {
    std::printf("  a member again since step %llu\n",
                static_cast<unsigned long long>(entry["returned_in_step"]));
  } else if (entry.contains("member_in_step")) {
    std::printf("  a member again in step %llu\n",
                static_cast<unsigned long long>(entry["member_in_step"]));
  }
  if (!entry.contains("evidence")) return;
  for (const json& row : entry["evidence"]) {
    std::printf("  evidence: %s %s\n", row["kind"].get<std::string>().c_str(),
                row["id"].get<std::string>().c_str());
  }
}

base::Status Explain(const LedgerCommandOptions& options) {
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::Open(options.data_dir));
  ASSIGN_OR_RETURN(const store::LedgerSummary summary, ledger.Summary());
  const MemberNames names(summary.names);
  std::optional<base::PeerId> peer;
  if (!options.peer.empty()) {
    ASSIGN_OR_RETURN(peer, FindPeer(ledger, names, options.peer));
  }
  ASSIGN_OR_RETURN(const std::vector<wire::Removal> removals, ledger.Removals(peer));
  ASSIGN_OR_RETURN(const Returns returns, ReadReturns(ledger));
  json list = json::array();
  for (auto removal = removals.begin(); removal != removals.end(); ++removal) {
    RETURN_IF_ERROR(ExplainRemoval(ledger, *removal, list));
    const auto next =
        std::find_if(std::next(removal), removals.end(),
                     [&](const wire::Removal& later) { return later.peer == removal->peer; });
    AddReturn(returns, *removal, next == removals.end() ? std::nullopt : std::optional(next->step),
              list.back());
  }
  if (options.json) {
    json result = {{"removals", list}};
    if (!summary.names.empty()) result["names"] = NamesJson(summary.names);
    PrintJson(result);
  } else if (list.empty()) {
    std::printf("%s\n", peer ? (names.Shown(*peer) + " was not banned or dropped").c_str()
                             : "nobody was banned or dropped");
  }
  if (!options.json) {
    for (const json& entry : list) PrintExplanation(names, entry);
    for (const Gap& gap : returns.gaps) {
      std::printf("%s; bans, drops and returns in them are missing above\n", gap.Text().c_str());
    }
  }
  return base::OkStatus();
}

}  // namespace

void AddLedgerCommand(CLI::App& program, Invocation& invocation) {
  auto* command =
      program.add_subcommand("ledger", "read the record of a run in a node's data folder");
  command->require_subcommand(1);
  command->footer("Example: ostraka ledger explain out/node0");
  auto options = std::make_shared<LedgerCommandOptions>();
  const auto add = [&](const char* name, const char* description, const char* example,
                       base::Status (*body)(const LedgerCommandOptions&)) {
    auto* reader = command->add_subcommand(name, description);
    reader->add_option("dir", options->data_dir, "the node's data folder")->required();
    reader->add_flag("--json", options->json, "print one JSON object");
    reader->footer(example);
    reader->callback([options, &invocation, body] {
      invocation.body = [options, body] {
        const base::Status status = body(*options);
        return status.ok() ? kDone : Fail(status);
      };
    });
    return reader;
  };
  add("show", "print the sealed blocks, one per line", "Example: ostraka ledger show out/node0",
      Show);
  add("explain", "print why a member was banned or dropped, or every ban and drop",
      "Example: ostraka ledger explain out/node0 3f2a", Explain)
      ->add_option("peer", options->peer,
                   "name or id of a member, or its first digits (default: all that were banned or "
                   "dropped)");
}

}  // namespace ostraka::cli
