#include "node/cli/join/issued_invites.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "node/os/durable_file.h"
#include "node/protocol/ground/invite.h"
#include "node/wire/limits.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kFewestDigits = 8;
constexpr std::size_t kLongestFile = 16 << 20;

std::string PathOf(const std::string& key_file) { return key_file + ".invites"; }

std::string LineOf(const IssuedInvite& issued) {
  return json{{"run", issued.run_id.Hex()},
              {"moderator", issued.invite.moderator.Hex()},
              {"holder", issued.invite.holder.Hex()},
              {"uses", issued.invite.uses},
              {"until", issued.invite.ends_step}}
      .dump();
}

// Nullopt: anything else than LineOf's text.
std::optional<IssuedInvite> IssuedOf(const std::string& line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object() || object.size() != 5) return std::nullopt;
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
  return IssuedInvite{*run, {*moderator, *holder, static_cast<std::uint32_t>(*uses), *until}};
}

base::StatusOr<std::string> ContentOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return std::string();
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file.is_open()) return base::Unavailable("cannot read " + path);
  if (size > kLongestFile)
    return base::InvalidArgument(path + " is too long for a list of invites");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

base::Status NoteInvite(const std::string& key_file, const IssuedInvite& issued) {
  const std::string path = PathOf(key_file);
  ASSIGN_OR_RETURN(std::string content, ContentOf(path));
  content += LineOf(issued) + "\n";
  const base::ByteView bytes(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
  return os::WriteDurably(path, std::vector<base::ByteView>{bytes}, os::IfExists::kReplace);
}

base::StatusOr<std::vector<wire::Invite>> IssuedBy(const std::string& key_file,
                                                   const base::Digest& run_id) {
  const std::string path = PathOf(key_file);
  ASSIGN_OR_RETURN(const std::string content, ContentOf(path));
  std::vector<wire::Invite> invites;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    const auto issued = IssuedOf(content.substr(begin, end - begin));
    ++number;
    if (!issued) {
      return base::InvalidArgument(path + ": line " + std::to_string(number) +
                                   " is no invite: delete it");
    }
    if (issued->run_id == run_id) invites.push_back(issued->invite);
    begin = end + 1;
  }
  return invites;
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
