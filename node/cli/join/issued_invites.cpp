#include "node/cli/join/issued_invites.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "node/os/line_file.h"
#include "node/protocol/ground/invite.h"
#include "node/wire/limits.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kFewestDigits = 8;
constexpr std::size_t kLongestFile = 16 << 20;

std::string PathOf(const std::string& key_file) { return key_file + ".invites"; }

std::string LineOf(const IssuedInvite& issued) {
  json line = {{"run", issued.run_id.Hex()},
               {"moderator", issued.invite.moderator.Hex()},
               {"holder", issued.invite.holder.Hex()},
               {"uses", issued.invite.uses},
               {"until", issued.invite.ends_step}};
  if (issued.invite.anchor) line["anchor"] = issued.invite.anchor->Hex();
  return line.dump();
}

// Nullopt: anything else than LineOf's text.
std::optional<IssuedInvite> IssuedOf(const std::string& line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object() || object.size() != (object.contains("anchor") ? 6 : 5)) {
    return std::nullopt;
  }
  const auto digits = [&](const char* name) {
    const auto field = object.find(name);
    return field != object.end() && field->is_string() ? field->get<std::string>() : "";
  };
  const auto number = [&](const char* name) -> std::optional<std::uint64_t> {
    const auto field = object.find(name);
    if (field == object.end() || !field->is_number_unsigned()) return std::nullopt;
    return field->get<std::uint64_t>();
  };
  const auto run = base::Digest::FromHexDigits(digits("run"));
  const auto moderator = base::PeerId::FromHexDigits(digits("moderator"));
  const auto holder = base::PeerId::FromHexDigits(digits("holder"));
  const auto uses = number("uses");
  const auto until = number("until");
  if (!run || !moderator || !holder || !uses || !until) return std::nullopt;
  if (*uses == 0 || *uses > wire::kMaxInviteUses) return std::nullopt;
  IssuedInvite issued{*run, {*moderator, *holder, static_cast<std::uint32_t>(*uses), *until}};
  if (!object.contains("anchor")) return issued;
  issued.invite.anchor = base::Digest::FromHexDigits(digits("anchor"));
  return issued.invite.anchor ? std::optional(issued) : std::nullopt;
}

}  // namespace

base::Status NoteInvite(const std::string& key_file, const IssuedInvite& issued) {
  return os::AddLine(PathOf(key_file), LineOf(issued), kLongestFile);
}

base::StatusOr<IssuedInvites> IssuedBy(const std::string& key_file, const base::Digest& run_id) {
  const std::string path = PathOf(key_file);
  ASSIGN_OR_RETURN(const std::vector<std::string> lines, os::ReadLines(path, kLongestFile));
  IssuedInvites all;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto issued = IssuedOf(lines[i]);
    if (issued && issued->run_id == run_id) all.invites.push_back(issued->invite);
    if (!issued && all.complaint.empty()) {
      all.complaint =
          path + ": line " + std::to_string(i + 1) + " is no invite, and is left out: delete it";
    }
  }
  return all;
}

base::StatusOr<wire::Invite> InviteNamed(const std::string& digits,
                                         const std::vector<wire::Invite>& invites,
                                         const base::Digest& run_id) {
  if (digits.size() < kFewestDigits) {
    return base::InvalidArgument("'" + digits +
                                 "' is too short for an invite's id: give at least " +
                                 std::to_string(kFewestDigits) + " digits of it");
  }
  std::optional<wire::Invite> found;
  for (const wire::Invite& invite : invites) {
    if (!protocol::InviteDigest(run_id, invite).Hex().starts_with(digits)) continue;
    if (found) return base::InvalidArgument("several invites begin with " + digits);
    found = invite;
  }
  if (found) return *found;
  return base::NotFound("no invite of this key and run begins with " + digits +
                        ": see `ostraka invite list`, or give the link itself");
}

}  // namespace ostraka::cli
