#include "sim/adversary/registry.h"

#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "aggregation/attacks.h"
#include "sim/adversary.h"
#include "sim/adversary/editors.h"
#include "sim/adversary/gradient.h"

namespace ostraka::sim {
namespace {

using Outcome = KnownAttack::Outcome;

struct Entry {
  KnownAttack attack;
  std::function<std::unique_ptr<Editor>(const EditorOptions&)> make;
};

Entry GradientEntry(const aggregation::AttackInfo& info) {
  Entry entry{{std::string(info.name), std::string(info.summary), {}, Outcome::kRemoved},
              [&info](const EditorOptions& options) { return MakeGradientAttack(info, options); }};
  for (const aggregation::AttackParameter& parameter : info.parameters) {
    entry.attack.params.emplace(parameter.name, parameter.default_value);
  }
  return entry;
}

std::vector<Entry> MakeEntries() {
  std::vector<Entry> entries = {{{"none", "does nothing wrong", {}, Outcome::kContained},
                                 [](const EditorOptions&) { return std::make_unique<Editor>(); }}};
  for (const aggregation::AttackInfo& info : aggregation::Attacks()) {
    entries.push_back(GradientEntry(info));
  }
  const std::vector<Entry> on_the_protocol = {
      {{"wrong_aggregate",
        "as an aggregator, shifts every coordinate by scale x root mean square",
        {{"scale", 1}},
        Outcome::kContained},
       MakeWrongAggregate},
      {{"false_proof", "turns the signs of its own projections", {}, Outcome::kContained},
       MakeFalseProof},
      {{"false_accuse", "accuses and convicts honest peers", {}, Outcome::kRemoved},
       MakeFalseAccuse},
      {{"selective_send", "withholds its part from one honest owner", {}, Outcome::kContained},
       MakeSelectiveSend},
      {{"equivocate",
        "two COMMITs for one slot, both to all; split = 1: one to each half",
        {{"split", 0}},
        Outcome::kRemoved},
       MakeEquivocate},
      {{"bad_reveal", "reveals a coin that it did not commit to", {}, Outcome::kRemoved},
       MakeBadReveal},
  };
  entries.insert(entries.end(), on_the_protocol.begin(), on_the_protocol.end());
  return entries;
}

const std::vector<Entry>& Entries() {
  static const std::vector<Entry> kEntries = MakeEntries();
  return kEntries;
}

std::string Listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

base::StatusOr<const Entry*> FindEntry(std::string_view name) {
  std::vector<std::string> known;
  for (const Entry& entry : Entries()) {
    if (entry.attack.name == name) return &entry;
    known.push_back(entry.attack.name);
  }
  return base::InvalidArgument("attack '" + std::string(name) + "' is not known: use one of " +
                               Listed(known));
}

}  // namespace

const std::vector<KnownAttack>& KnownAttacks() {
  static const std::vector<KnownAttack> kAttacks = [] {
    std::vector<KnownAttack> attacks;
    for (const Entry& entry : Entries()) attacks.push_back(entry.attack);
    return attacks;
  }();
  return kAttacks;
}

base::StatusOr<KnownAttack> FindAttack(std::string_view name) {
  ASSIGN_OR_RETURN(const Entry* entry, FindEntry(name));
  return entry->attack;
}

base::StatusOr<std::map<std::string, double>> CompleteParams(
    const KnownAttack& attack, const std::map<std::string, double>& given) {
  std::map<std::string, double> params;
  std::vector<std::string> names;
  for (const auto& [name, default_value] : attack.params) {
    names.push_back(name);
    if (default_value) params.emplace(name, *default_value);
  }
  for (const auto& [name, value] : given) {
    if (!attack.params.contains(name)) {
      return base::InvalidArgument("attack " + attack.name + " has no parameter '" + name +
                                   "'; it has: " + Listed(names));
    }
    if (!std::isfinite(value)) {
      return base::InvalidArgument("parameter '" + name + "' of attack " + attack.name +
                                   " must be a finite number");
    }
    params[name] = value;
  }
  return params;
}

base::StatusOr<std::unique_ptr<protocol::Machine>> MakeAdversary(
    AdversaryOptions options, std::unique_ptr<protocol::Machine> inside) {
  ASSIGN_OR_RETURN(const Entry* entry, FindEntry(options.name));
  EditorOptions editor;
  ASSIGN_OR_RETURN(editor.params, CompleteParams(entry->attack, options.params));
  editor.from_step = options.attack_from_step;
  editor.manifest = std::move(options.manifest);
  editor.key = options.key;
  editor.layout = std::move(options.layout);
  editor.coven_seed = options.coven->seed();
  return std::make_unique<AdversarialMachine>(options.key->id(), std::move(inside),
                                              entry->make(editor), options.coven);
}

}  // namespace ostraka::sim
