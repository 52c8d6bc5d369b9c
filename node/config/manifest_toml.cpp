#include "node/config/manifest_toml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <vector>

// On some texts (such as "[[[") toml++ 3.3 asserts a condition that its next lines check and
// refuse; with NDEBUG the compiler may assume the condition. We need the refusal.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/foreign_text.h"
#include "node/base/suggest.h"
#include "node/base/toml_text.h"
#include "node/config/data_places.h"
#include "node/os/endpoint.h"
#include "node/protocol/ground/member_name.h"
#include "node/protocol/ground/setting.h"

namespace ostraka::config {
namespace {

using base::InvalidArgument;
using base::Status;
using protocol::Manifest;
using protocol::Setting;
namespace setting = protocol::setting;

constexpr std::size_t kMaxManifestBytes = 1 << 20;
// The earliest version whose manifests evidence can be judged by. Its keys are those of version 6.
constexpr std::uint32_t kEarliestVersion = 5;

std::string FormatDouble(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  // TOML requires a point or an exponent in a float.
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// A TOML basic string on one line. toml++ would write a text with line feeds as a multi-line
// string, which loses its first line feed when it is read.
std::string Quoted(const std::string& text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted.append({'\\', c});
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted.append("\\u00").append({kDigits[byte >> 4], kDigits[byte & 15]});
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

// One key of the manifest: its place, its meaning, and the conversion of its value in both
// directions.
struct Field {
  Setting of;
  std::function<Status(const toml::node&)> read;  // the error message states what the value must be
  std::function<std::string()> write;
};

Field TextField(const Setting& of, std::string& value) {
  return {of,
          [&value](const toml::node& node) -> Status {
            const auto text = node.value_exact<std::string>();
            if (!text) return InvalidArgument("must be a string");
            value = *text;
            return base::OkStatus();
          },
          [&value] { return Quoted(value); }};
}

template <typename Integer>
Field CountField(const Setting& of, Integer& value) {
  return {of,
          [&value](const toml::node& node) -> Status {
            const auto number = node.value_exact<std::int64_t>();
            if (!number || *number < 0 ||
                static_cast<std::uint64_t>(*number) > std::numeric_limits<Integer>::max()) {
              return InvalidArgument("must be a whole number of at least 0");
            }
            value = static_cast<Integer>(*number);
            return base::OkStatus();
          },
          [&value] { return std::to_string(value); }};
}

Field RealField(const Setting& of, double& value) {
  return {of,
          [&value](const toml::node& node) -> Status {
            const auto number = node.value<double>();
            if (!number || node.is_boolean()) return InvalidArgument("must be a number");
            value = *number;
            return base::OkStatus();
          },
          [&value] { return FormatDouble(value); }};
}

Field MillisecondsField(const Setting& of, base::Duration& value) {
  return {of,
          [&value, of](const toml::node& node) -> Status {
            const auto number = node.value_exact<std::int64_t>();
            if (!number || *number < 0 || static_cast<std::uint64_t>(*number) < of.least ||
                static_cast<std::uint64_t>(*number) > of.most) {
              return InvalidArgument("must be a number of milliseconds from " +
                                     std::to_string(of.least) + " to " + std::to_string(of.most));
            }
            value = base::Milliseconds(*number);
            return base::OkStatus();
          },
          [&value] { return std::to_string(value.ns / 1'000'000); }};
}

Field SwitchField(const Setting& of, bool& value) {
  return {of,
          [&value](const toml::node& node) -> Status {
            const auto given = node.value_exact<bool>();
            if (!given) return InvalidArgument("must be true or false");
            value = *given;
            return base::OkStatus();
          },
          [&value] { return std::string(value ? "true" : "false"); }};
}

Field DigestField(const Setting& of, base::Digest& value) {
  return {of,
          [&value](const toml::node& node) -> Status {
            const auto text = node.value_exact<std::string>();
            const auto digest = text ? base::Digest::FromHexDigits(*text) : std::nullopt;
            if (!digest) return InvalidArgument("must be a string of 64 hexadecimal digits");
            value = *digest;
            return base::OkStatus();
          },
          [&value] { return Quoted(value.Hex()); }};
}

// A list of keys, which is kept sorted.
Field KeysField(const Setting& of, std::vector<base::PeerId>& value) {
  return {of,
          [&value](const toml::node& node) -> Status {
            const toml::array* array = node.as_array();
            if (array == nullptr)
              return InvalidArgument("must be a list of keys, each of 64 hexadecimal digits");
            for (const toml::node& element : *array) {
              const auto id = base::PeerId::FromHexDigits(element.value_or(std::string()));
              if (!id)
                return InvalidArgument("must be a list of keys, each of 64 hexadecimal digits");
              value.push_back(*id);
            }
            std::sort(value.begin(), value.end());
            return base::OkStatus();
          },
          [&value] {
            std::string text;
            for (const base::PeerId& id : value)
              text += (text.empty() ? "" : ", ") + Quoted(id.Hex());
            return "[" + text + "]";
          }};
}

Field TextsField(const Setting& of, std::vector<std::string>& value) {
  return {of,
          [&value](const toml::node& node) -> Status {
            const toml::array* array = node.as_array();
            if (array == nullptr || array->empty()) {
              return InvalidArgument("must be a list of strings, one at least");
            }
            value.clear();
            for (const toml::node& element : *array) {
              const auto text = element.value_exact<std::string>();
              if (!text) return InvalidArgument("must be a list of strings, one at least");
              value.push_back(*text);
            }
            return base::OkStatus();
          },
          [&value] {
            std::string text;
            for (const std::string& each : value) text += (text.empty() ? "" : ", ") + Quoted(each);
            return "[" + text + "]";
          }};
}

// A word of a list. `find` knows a value by its name, `name_of` is its inverse.
template <typename Value, typename Values>
Field WordField(const Setting& of, Value& value, std::optional<Value> (*find)(std::string_view),
                std::string_view (*name_of)(Value), const Values& all) {
  std::string names;
  for (const Value each : all) names += (names.empty() ? "" : ", ") + std::string(name_of(each));
  return {of,
          [&value, find, names](const toml::node& node) -> Status {
            const auto found = find(node.value_or(std::string()));
            if (!found) return InvalidArgument("must be one of " + names);
            value = *found;
            return base::OkStatus();
          },
          [&value, name_of] { return Quoted(std::string(name_of(value))); }};
}

Field ModeField(protocol::Mode& value) {
  return {
      setting::kMode,
      [&value](const toml::node& node) -> Status {
        auto mode = protocol::ParseMode(node.value_or(std::string()));
        if (!mode.ok())
          return InvalidArgument("must be \"majority\", \"balanced\", \"third\" or \"checked\"");
        value = *mode;
        return base::OkStatus();
      },
      [&value] { return Quoted(protocol::ModeName(value)); }};
}

Field RuleField(bool& clip) {
  return {setting::kRule,
          [&clip](const toml::node& node) -> Status {
            const std::string name = node.value_or(std::string());
            if (name != "centered_clip" && name != "mean") {
              return InvalidArgument("must be \"centered_clip\" or \"mean\"");
            }
            clip = name == "centered_clip";
            return base::OkStatus();
          },
          [&clip] { return Quoted(clip ? "centered_clip" : "mean"); }};
}

Field TauField(double& tau) {
  return {setting::kTau,
          [&tau](const toml::node& node) -> Status {
            if (node.value_exact<std::string>() == "auto") {
              tau = 0;
              return base::OkStatus();
            }
            const auto number = node.value<double>();
            if (!number || !(*number > 0)) {
              return InvalidArgument("must be \"auto\" or a positive number");
            }
            tau = *number;
            return base::OkStatus();
          },
          [&tau] { return tau == 0 ? Quoted("auto") : FormatDouble(tau); }};
}

constexpr Setting kAllow = {"join",        "allow", "keys that may come without an invite", "", 0,
                            setting::kAny, 9};
constexpr Setting kModerators = {
    "join", "moderators", "keys that sign invites", "", 0, setting::kAny, 9};
constexpr Setting kOriginRun = {"origin", "run", "the earlier run that this one continues"};
constexpr Setting kOriginStep = {"origin", "step",
                                 "the last step of the earlier run that the state includes"};
constexpr Setting kOriginRoot = {"origin", "state_root",
                                 "root of that state, which nodes load with --origin"};
constexpr Setting kWeightsRoot = {
    "weights",
    "state_root",
    "root of the trained weights that nodes load with --origin, slots 0",
    "",
    0,
    setting::kAny,
    13};
constexpr Setting kPlaces = {"sources", "places",
                             "where the data can be fetched, by nodes with --sources yes"};
constexpr Setting kOriginUpdates = {
    "origin", "updates", "steps that the state had seen before this run", "", 0, setting::kAny, 7};

// All keys except the members, bound to `m`, in the order of the file.
std::vector<Field> FieldsOf(Manifest& m, base::Digest& nonce) {
  auto& t = m.training;
  std::vector<Field> fields = {
      TextField(setting::kName, m.name),
      DigestField(setting::kNonce, nonce),
      CountField(setting::kVersion, m.protocol_version),
      CountField(setting::kDraft, m.protocol_draft),
      ModeField(m.mode),
      TextField(setting::kProfile, m.compute_profile),
      TextField(setting::kModel, t.model),
      TextField(setting::kData, t.data),
      CountField(setting::kDataSeed, t.data_seed),
      CountField(setting::kHidden, t.hidden),
      CountField(setting::kBatchSize, t.batch_size),
      CountField(setting::kBatches, t.batches),
      CountField(setting::kMostBatches, t.most_batches),
      CountField(setting::kSteps, t.steps),
      CountField(setting::kStepsAfterBan, t.steps_after_ban),
      CountField(setting::kSettleSteps, t.settle_steps),
      WordField(setting::kOptimizer, t.optimizer, aggregation::FindOptimizer,
                aggregation::OptimizerName, aggregation::AllOptimizers()),
      RealField(setting::kLearningRate, t.learning_rate),
      CountField(setting::kWarmup, t.warmup_steps),
      WordField(setting::kSchedule, t.schedule, protocol::FindSchedule, protocol::ScheduleName,
                protocol::kAllSchedules),
      CountField(setting::kDecaySteps, t.decay_steps),
      RealField(setting::kMomentum, t.momentum),
      RealField(setting::kWeightDecay, t.weight_decay),
      RealField(setting::kClipNorm, t.clip_norm),
      RealField(setting::kBeta1, t.beta1),
      RealField(setting::kBeta2, t.beta2),
      RealField(setting::kEpsilon, t.epsilon),
      CountField(setting::kInnerSteps, t.inner.steps),
      RealField(setting::kInnerRate, t.inner.learning_rate),
      CountField(setting::kInnerWarmup, t.inner.warmup_steps),
      RealField(setting::kInnerBeta1, t.inner.beta1),
      RealField(setting::kInnerBeta2, t.inner.beta2),
      RealField(setting::kInnerEpsilon, t.inner.epsilon),
      RealField(setting::kInnerDecay, t.inner.weight_decay),
      RealField(setting::kInnerClip, t.inner.clip_norm),
      RuleField(m.clip),
      WordField(setting::kPartCodec, m.codecs.parts, protocol::FindCodec, protocol::CodecName,
                protocol::kPartCodecs),
      WordField(setting::kResultCodec, m.codecs.results, protocol::FindCodec, protocol::CodecName,
                protocol::kResultCodecs),
      TauField(m.tau),
      RealField(setting::kTauMultiple, m.tau_multiple),
      RealField(setting::kTauInitial, m.tau_initial),
      RealField(setting::kEps, m.eps),
      CountField(setting::kValidators, m.validators),
      CountField(setting::kAlarmValidators, m.alarm_validators),
      CountField(setting::kAlarmSteps, m.alarm_steps),
      RealField(setting::kEpsG, m.eps_g),
      RealField(setting::kDeltaMax, m.delta_max),
      CountField(setting::kStateRootEvery, m.state_root_every),
      CountField(setting::kProbation, m.probation),
      MillisecondsField(setting::kDelta, m.delta),
      MillisecondsField(setting::kDeltaCeiling, m.delta_ceiling),
      MillisecondsField(setting::kPartTimeout, m.part_timeout),
      SwitchField(setting::kAdaptive, m.adaptive),
      MillisecondsField(setting::kPartFloor, m.part_floor),
      MillisecondsField(setting::kSealTimeout, m.seal_timeout),
      MillisecondsField(setting::kPatience, m.patience),
      MillisecondsField(setting::kWork, m.work),
      WordField(setting::kJoinPolicy, m.join.policy, protocol::FindJoinPolicy,
                protocol::JoinPolicyName, protocol::kAllJoinPolicies),
      KeysField(kAllow, m.join.allow),
      KeysField(kModerators, m.join.moderators),
      CountField(setting::kQuota, m.join.quota),
      CountField(setting::kSeats, m.join.seats),
  };
  if (!t.data_places.empty()) fields.push_back(TextsField(kPlaces, t.data_places));
  if (m.origin && m.origin->weights) {
    fields.push_back(DigestField(kWeightsRoot, m.origin->state_root));
  } else if (m.origin) {
    fields.push_back(DigestField(kOriginRun, m.origin->run_id));
    fields.push_back(CountField(kOriginStep, m.origin->step));
    fields.push_back(DigestField(kOriginRoot, m.origin->state_root));
    fields.push_back(CountField(kOriginUpdates, t.earlier_updates));
  }
  return fields;
}

Status At(const toml::node& node, const std::string& message) {
  return InvalidArgument("manifest line " + std::to_string(node.source().begin.line) + ": " +
                         message);
}

Status RefuseUnknown(const toml::table& table, const std::string& section,
                     const std::vector<std::string>& known) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string where = section.empty() ? "" : " in [" + section + "]";
    return At(node, "unknown key '" + name + "'" + where + base::SuggestionFor(name, known));
  }
  return base::OkStatus();
}

Status ReadAddress(const toml::node& address, protocol::Member& member) {
  if (!address.is_string()) return At(address, "address must be a string");
  member.address = address.value_or(std::string());
  const auto parsed = os::ParseHostPort(member.address);
  if (!parsed.ok()) return At(address, "address " + base::MessageOf(parsed.status()));
  if (parsed->port == 0) return At(address, "address \"" + member.address + "\" has port 0");
  return base::OkStatus();
}

Status ReadName(const toml::node& name, protocol::Member& member) {
  if (!name.is_string()) return At(name, "name must be a string");
  member.name = name.value_or(std::string());
  const Status good = protocol::CheckMemberName(member.name);
  return good.ok() ? good : At(name, base::MessageOf(good));
}

Status ReadMember(const toml::node& node, protocol::Member& member) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return At(node, "each of [[members]] must be a table");
  RETURN_IF_ERROR(RefuseUnknown(*table, "members", {"id", "name", "address", "reachable"}));
  const toml::node* id = table->get("id");
  const std::string text = id == nullptr ? "" : id->value_or(std::string());
  const auto peer = base::PeerId::FromHexDigits(text);
  if (!peer) return At(node, "a member needs id = \"<64 hexadecimal digits>\"");
  member.id = *peer;
  const toml::node* name = table->get("name");
  if (name != nullptr) RETURN_IF_ERROR(ReadName(*name, member));
  const toml::node* reachable = table->get("reachable");
  if (reachable != nullptr && !reachable->is_boolean()) {
    return At(*reachable, "reachable must be true or false");
  }
  member.only_dials = reachable != nullptr && !reachable->value_or(true);
  const toml::node* address = table->get("address");
  if (address == nullptr) return base::OkStatus();
  return ReadAddress(*address, member);
}

Status ReadMembers(const toml::table& root, Manifest& manifest) {
  const toml::node* node = root.get("members");
  const toml::array* array = node == nullptr ? nullptr : node->as_array();
  if (array == nullptr) return InvalidArgument("manifest: no [[members]]");
  for (const toml::node& element : *array) {
    RETURN_IF_ERROR(ReadMember(element, manifest.members.emplace_back()));
  }
  std::sort(manifest.members.begin(), manifest.members.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  return base::OkStatus();
}

// `version`: of the file; of an earlier draft of ours, the version before.
Status ReadSections(const toml::table& root, const std::vector<Field>& fields,
                    std::uint32_t version) {
  std::vector<std::string> sections = {"members", "origin", "sources", "weights"};
  std::map<std::string, std::vector<std::string>> keys;
  for (const Field& field : fields) {
    const std::string section(field.of.section);
    if (keys[section].empty()) sections.push_back(section);
    keys[section].emplace_back(field.of.key);
  }
  RETURN_IF_ERROR(RefuseUnknown(root, "", sections));
  for (const Field& field : fields) {
    const std::string name(field.of.section);
    const std::string key(field.of.key);
    const toml::node* section = root.get(name);
    const toml::table* table = section == nullptr ? nullptr : section->as_table();
    if (table == nullptr && field.of.since > version) continue;
    if (table == nullptr) return InvalidArgument("manifest: no section [" + name + "]");
    RETURN_IF_ERROR(RefuseUnknown(*table, name, keys[name]));
    const toml::node* node = table->get(key);
    if (node == nullptr && field.of.since > version) continue;  // the default is what it meant
    if (node == nullptr) return InvalidArgument("manifest: [" + name + "] lacks '" + key + "'");
    const Status status = field.read(*node);
    if (!status.ok()) return At(*node, name + "." + key + " " + base::MessageOf(status));
  }
  return base::OkStatus();
}

// A number of the run's section. Nullopt: another error names what is wrong with it.
std::optional<std::uint32_t> NumberOf(const toml::table& root, std::string_view key) {
  const auto version = root["run"][key].value_exact<std::int64_t>();
  if (!version || *version < 0 || *version > std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*version);
}

}  // namespace

base::StatusOr<Manifest> ParseManifest(std::string_view text, Versions versions) {
  if (text.size() > kMaxManifestBytes) return InvalidArgument("manifest: larger than 1 MiB");
  const auto ascii = base::AsciiToml(text);
  if (!ascii.ok()) return InvalidArgument("manifest " + base::MessageOf(ascii.status()));
  const toml::parse_result parsed = toml::parse(*ascii);
  if (!parsed) {
    const auto& error = parsed.error();
    return InvalidArgument("manifest line " + std::to_string(error.source().begin.line) + ": " +
                           std::string(error.description()));
  }
  // The version first: keys come and go with versions, and would be named instead.
  const auto version = NumberOf(parsed.table(), "protocol_version");
  const auto draft = NumberOf(parsed.table(), "protocol_draft").value_or(wire::kProtocolDraft);
  const bool earlier = versions == Versions::kEarlierToo && version &&
                       *version >= kEarliestVersion &&
                       (*version < wire::kProtocolVersion ||
                        (*version == wire::kProtocolVersion && draft < wire::kProtocolDraft));
  if (version && !earlier) {
    const Status ours = protocol::CheckProtocolVersion(*version, draft);
    if (!ours.ok()) return InvalidArgument("manifest: " + base::MessageOf(ours));
  }
  Manifest manifest;
  base::Digest nonce;
  if (parsed.table().contains("origin") && parsed.table().contains("weights")) {
    return InvalidArgument("manifest: a run begins with [weights] or with an [origin], not both");
  }
  if (parsed.table().contains("origin") || parsed.table().contains("weights")) {
    manifest.origin.emplace();
    manifest.origin->weights = parsed.table().contains("weights");
  }
  if (parsed.table().contains(kPlaces.section)) manifest.training.data_places.emplace_back();
  const std::uint32_t has_keys_of =
      earlier && *version == wire::kProtocolVersion ? *version - 1 : version.value_or(0);
  RETURN_IF_ERROR(ReadSections(parsed.table(), FieldsOf(manifest, nonce), has_keys_of));
  RETURN_IF_ERROR(ReadMembers(parsed.table(), manifest));
  manifest.run_id = crypto::Hash(crypto::kDomainManifest, base::AsBytes(text));
  Status valid = earlier ? protocol::ValidateOfAnyVersion(manifest) : protocol::Validate(manifest);
  if (valid.ok()) valid = CheckDataPlaces(manifest.training);
  if (!valid.ok()) return InvalidArgument("manifest: " + base::MessageOf(valid));
  return manifest;
}

base::StatusOr<std::string> ReadManifestText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return base::NotFound("cannot read manifest " + path +
                          ": give the file that `ostraka run init` wrote");
  }
  std::string text(kMaxManifestBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad())
    return base::Unavailable("cannot read manifest " + path + ": give a readable file");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

base::StatusOr<Manifest> ReadManifestFile(const std::string& path, Versions versions) {
  ASSIGN_OR_RETURN(const std::string text, ReadManifestText(path));
  auto manifest = ParseManifest(text, versions);
  if (manifest.ok()) return manifest;
  return base::MakeStatus(manifest.status().code(),
                          path + ": " + base::MessageOf(manifest.status()));
}

std::string NoteOnForeignMarks(std::string_view text) {
  if (!base::HasForeignMarks(text)) return "";
  const auto run_of = [](std::string_view of) {
    return crypto::Hash(crypto::kDomainManifest, base::AsBytes(of)).Short();
  };
  const bool mark = text.starts_with(base::kByteOrderMark);
  return std::string("this copy of the manifest ") +
         (mark ? "begins with a byte order mark" : "has CRLF line ends") +
         ", which editors on Windows write, so its run is " + run_of(text) +
         "; without them it is " + run_of(base::WithoutForeignMarks(text)) +
         ": all members need the same bytes, so compare the run with the others'";
}

std::string WriteManifest(const Manifest& manifest, const base::Digest& nonce) {
  Manifest copy = manifest;
  base::Digest nonce_copy = nonce;
  std::string text =
      "# ostraka run manifest: its hash identifies the run, so every member needs an identical "
      "file.\n";
  std::string_view section;
  for (const Field& field : FieldsOf(copy, nonce_copy)) {
    const Setting& of = field.of;
    if (of.section != section) text += "\n[" + std::string(of.section) + "]\n";
    section = of.section;
    text += std::string(of.key) + " = " + field.write();
    text += of.help.empty() ? "\n" : "  # " + std::string(of.help) + "\n";
  }
  for (const protocol::Member& member : copy.members) {
    text += "\n[[members]]\n";
    if (!member.name.empty()) text += "name = " + Quoted(member.name) + "\n";
    text += "id = " + Quoted(member.id.Hex()) + "\n";
    if (!member.address.empty()) text += "address = " + Quoted(member.address) + "\n";
    if (member.only_dials) text += "reachable = false\n";
  }
  return text;
}

}  // namespace ostraka::config
