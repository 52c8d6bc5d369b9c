#include "node/cli/options/invite_link.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "crypto/base64url.h"
#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/base/foreign_text.h"
#include "node/protocol/ground/invite.h"
#include "node/wire/limits.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "ostraka invite 2";
constexpr const char* kUnchecked = "ostraka invite 1";

base::Status Bad(const std::string& what) {
  return base::InvalidArgument("the invite " + what + ": ask for the link again");
}

base::ByteView BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string TextOf(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string CheckOf(std::string_view text_without_it) {
  return crypto::Hash(crypto::kDomainLink, BytesOf(text_without_it)).Hex();
}

// A wrong digit anywhere is found before any field is believed. Fields stand in the order of their
// names, so a comma follows the check. Attack: to write a strange object anew, or to copy it, takes
// a stack as deep as the object.
bool IsAsChecked(std::string_view text) {
  constexpr std::string_view kName = "\"check\":\"";
  constexpr std::size_t kDigits = 64;
  const std::size_t at = text.find(kName);
  if (at == std::string_view::npos || text.size() - at < kName.size() + kDigits + 2) return false;
  std::string rest(text.substr(0, at));
  rest += text.substr(at + kName.size() + kDigits + 2);
  return text.substr(at + kName.size(), kDigits) == CheckOf(rest);
}

// The fields of an object, each taken once.
class Fields {
 public:
  explicit Fields(const json& object) : object_(object) {}

  // Empty if it is no text; then ok() is false.
  std::string Text(const char* name) {
    const auto field = object_.find(name);
    if (field == object_.end() || !field->is_string()) return Failed(name);
    return field->get<std::string>();
  }
  std::uint64_t Number(const char* name) {
    const auto field = object_.find(name);
    if (field != object_.end() && field->is_number_unsigned()) return field->get<std::uint64_t>();
    Failed(name);
    return 0;
  }
  base::PeerId Id(const char* name) {
    const auto id = base::PeerId::FromHexDigits(Text(name));
    if (!id) Failed(name);
    return id.value_or(base::PeerId{});
  }
  // A name that is wrong, empty if there is none.
  const std::string& failed() const { return failed_; }

 private:
  std::string Failed(const char* name) {
    if (failed_.empty()) failed_ = name;
    return "";
  }
  const json& object_;
  std::string failed_;
};

// Two ids' worth of digits: the halves of a signature.
std::optional<crypto::Signature> SignatureOf(const std::string& digits) {
  constexpr std::size_t kHalf = 64;
  if (digits.size() != 2 * kHalf) return std::nullopt;
  crypto::Signature signature{};
  for (std::size_t half = 0; half < 2; ++half) {
    const auto part = base::PeerId::FromHexDigits(digits.substr(half * kHalf, kHalf));
    if (!part) return std::nullopt;
    std::copy(part->bytes.begin(), part->bytes.end(),
              signature.bytes.begin() + static_cast<std::ptrdiff_t>(half * part->bytes.size()));
  }
  return signature;
}

base::StatusOr<std::map<base::PeerId, std::string>> AddressesOf(const json& object) {
  std::map<base::PeerId, std::string> addresses;
  const auto field = object.find("addresses");
  if (field == object.end() || !field->is_object()) return Bad("is damaged at its addresses");
  if (field->size() > wire::kMaxPeers) return Bad("names too many addresses");
  for (const auto& [id, address] : field->items()) {
    const auto peer = base::PeerId::FromHexDigits(id);
    if (!peer || !address.is_string()) return Bad("is damaged at its addresses");
    addresses[*peer] = address.get<std::string>();
  }
  return addresses;
}

// A block as a member of the run could have, by what can be seen without those before it.
base::StatusOr<std::shared_ptr<const wire::Block>> AnchorOf(const base::Bytes& bytes,
                                                            const protocol::Manifest& manifest) {
  if (bytes.empty()) return nullptr;
  auto block = wire::DecodeBlock(bytes);
  if (!block.ok()) return Bad("is damaged at its block");
  const bool has_number =
      block->genesis ? block->step == 0 : block->step < std::numeric_limits<std::uint64_t>::max();
  const bool fits = has_number && !block->decision.is_zero() && block->members.size() >= 3 &&
                    block->thresholds == protocol::ThresholdsIn(manifest, block->members.size());
  if (!fits) return Bad("has a block that is none of its run");
  return std::make_shared<const wire::Block>(*std::move(block));
}

// A link without what mail and chats put around it, and without the lines into which they break it.
// Of any other text, a file's, only what editors of other systems add goes, and what follows its
// first line if that is blank. proofs/verifier/links.py reads links in the same way.
std::string Tidied(std::string_view text) {
  constexpr std::string_view kAround = " \t\r\n\"'<>";
  std::string_view inner = text;
  if (inner.starts_with(base::kByteOrderMark)) inner.remove_prefix(base::kByteOrderMark.size());
  inner.remove_prefix(std::min(inner.find_first_not_of(kAround), inner.size()));
  if (!inner.starts_with(kInviteScheme)) {
    std::string file = base::WithoutForeignMarks(text);
    const std::size_t end = file.find_last_not_of(" \t\n") + 1;
    if (end < file.size()) file.replace(end, std::string::npos, "\n");
    return file;
  }
  std::string tidy(inner.substr(0, inner.find_last_not_of(kAround) + 1));
  std::erase_if(tidy, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
  return tidy;
}

// Why `path` cannot be read. An argument may be a damaged link: it holds a secret, and is not
// shown.
base::Status Unreadable(const std::string& path, bool is_folder) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    return base::Unavailable("cannot read the invite " + path + ": this user may not read it");
  }
  if (path.find(kInviteScheme) != std::string::npos || error) {
    return base::InvalidArgument("the invite is damaged: a link begins with " +
                                 std::string(kInviteScheme) + " and has nothing before it");
  }
  if (is_folder) {
    return base::NotFound("this node did not come by an invite: " + path +
                          " is not there; give a link, or start it with `ostraka node`");
  }
  return base::NotFound("cannot read the invite " + path + ": give a link that begins with " +
                        std::string(kInviteScheme) +
                        ", or the file that `ostraka invite new --file` wrote");
}

base::Status CheckSigned(const InviteText& text) {
  if (!text.pass) return base::OkStatus();
  const wire::Invite& invite = text.pass->invite;
  const base::Digest& run_id = text.manifest.run_id;
  if (!protocol::IsModerator(text.manifest, invite.moderator)) {
    return Bad("is signed by " + invite.moderator.Short() + ", which is no moderator of its run");
  }
  crypto::PlainVerifier verifier;
  if (verifier.Verify(invite.moderator, protocol::InviteDigest(run_id, invite),
                      text.pass->by_moderator)) {
    return base::OkStatus();
  }
  return Bad("is not as its moderator signed it, so it was damaged or altered");
}

// The fields of a pass; all of them are missing in a link without one.
base::StatusOr<std::optional<InvitePass>> TakePass(const json& object) {
  if (!object.contains("moderator")) return std::optional<InvitePass>();
  Fields fields(object);
  wire::Invite invite;
  invite.moderator = fields.Id("moderator");
  const std::uint64_t uses = fields.Number("uses");
  invite.ends_step = fields.Number("until");
  const auto signature = SignatureOf(fields.Text("by_moderator"));
  const base::PeerId seed = fields.Id("holder_seed");
  if (!fields.failed().empty()) return Bad("is damaged at its field " + fields.failed());
  if (!signature) return Bad("is damaged");
  if (uses < 1 || uses > wire::kMaxInviteUses) return Bad("has an impossible number of uses");
  invite.uses = static_cast<std::uint32_t>(uses);
  crypto::SigningKey holder = crypto::SigningKey::FromSeed(seed.view());
  invite.holder = holder.id();
  return InvitePass{invite, *signature, std::move(holder)};
}

base::StatusOr<InviteText> Take(const json& object, config::Versions versions) {
  Fields fields(object);
  std::string manifest_text = fields.Text("manifest");
  train::GraphFiles graph;
  graph.text = fields.Text("graph");
  const auto constants = crypto::FromBase64Url(fields.Text("constants"));
  const auto anchor_bytes = crypto::FromBase64Url(fields.Text("anchor"));
  if (!fields.failed().empty()) return Bad("is damaged at its field " + fields.failed());
  if (!constants.ok() || !anchor_bytes.ok()) return Bad("is damaged");
  ASSIGN_OR_RETURN(auto pass, TakePass(object));
  graph.constants.assign(constants->begin(), constants->end());
  auto manifest = config::ParseManifest(manifest_text, versions);
  if (!manifest.ok()) {
    return base::InvalidArgument("the invite's " + base::MessageOf(manifest.status()));
  }
  ASSIGN_OR_RETURN(auto addresses, AddressesOf(object));
  ASSIGN_OR_RETURN(auto anchor, AnchorOf(*anchor_bytes, *manifest));
  if (pass) pass->invite.anchor = SignedAnchor(*manifest, anchor);
  return InviteText{std::move(manifest_text), *std::move(manifest), std::move(pass),
                    std::move(addresses),     std::move(graph),     std::move(anchor)};
}

std::string Write(const InviteText& invite, const std::string& format) {
  json addresses = json::object();
  for (const auto& [peer, address] : invite.addresses) addresses[peer.Hex()] = address;
  json object = {
      {"format", format},
      {"manifest", invite.manifest_text},
      {"addresses", addresses},
      {"graph", invite.graph.text},
      {"anchor", invite.anchor == nullptr ? std::string()
                                          : crypto::ToBase64Url(wire::EncodeBlock(*invite.anchor))},
      {"constants", crypto::ToBase64Url(BytesOf(invite.graph.constants))}};
  if (invite.pass) {
    const InvitePass& pass = *invite.pass;
    object["moderator"] = pass.invite.moderator.Hex();
    object["uses"] = pass.invite.uses;
    object["until"] = pass.invite.ends_step;
    object["by_moderator"] = base::ToHex(pass.by_moderator.bytes);
    object["holder_seed"] = base::ToHex(pass.holder.seed());
  }
  if (format == kFormat) object["check"] = CheckOf(TextOf(object));
  return TextOf(object) + "\n";
}

base::StatusOr<InviteText> ParseFile(std::string_view text, config::Versions versions) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object())
    return Bad("is cut short or damaged, or `ostraka invite new` did not make it");
  const std::string format = Fields(object).Text("format");
  if (format != kFormat && format != kUnchecked) {
    return base::InvalidArgument("the invite is of another version of ostraka");
  }
  if (format == kFormat && !IsAsChecked(text)) return Bad("is damaged");
  ASSIGN_OR_RETURN(InviteText invite, Take(object, versions));
  // One text for each invite: unknown and repeated fields differ from it, too.
  if (Write(invite, format) != std::string(text) + "\n") return Bad("is damaged");
  RETURN_IF_ERROR(CheckSigned(invite));
  return invite;
}

}  // namespace

std::optional<base::Digest> SignedAnchor(const protocol::Manifest& manifest,
                                         const std::shared_ptr<const wire::Block>& anchor) {
  constexpr std::uint32_t kSince = 13;
  if (anchor == nullptr || manifest.protocol_version < kSince) return std::nullopt;
  return wire::BlockDigest(*anchor);
}

std::string WriteInvite(const InviteText& invite) { return Write(invite, kFormat); }

std::string LinkOf(const std::string& file) {
  OSTRAKA_CHECK(file.ends_with('\n'));
  return std::string(kInviteScheme) +
         crypto::ToBase64Url(BytesOf(std::string_view(file).substr(0, file.size() - 1)));
}

base::StatusOr<InviteText> ParseInvite(std::string_view text, config::Versions versions) {
  if (text.size() > kMaxInviteBytes) return Bad("is longer than 2 MiB");
  if (!text.starts_with(kInviteScheme)) return ParseFile(text, versions);
  if (text.ends_with('\n')) text.remove_suffix(1);
  const auto bytes = crypto::FromBase64Url(text.substr(kInviteScheme.size()));
  if (!bytes.ok()) return Bad("is cut short or damaged");
  const std::string file(bytes->begin(), bytes->end());
  if (file.ends_with('\n')) return Bad("is damaged");
  return ParseFile(file, versions);
}

base::StatusOr<InviteText> ReadInvite(const std::string& link_or_file, config::Versions versions) {
  const std::string link = Tidied(link_or_file);
  if (link.starts_with(kInviteScheme)) return ParseInvite(link, versions);
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(link_or_file, error);
  const std::string path = is_folder ? link_or_file + "/" + kInviteFileName : link_or_file;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Unreadable(path, is_folder);
  std::string text(kMaxInviteBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return base::Unavailable("cannot read the invite " + path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxInviteBytes) return ParseInvite(text, versions);  // says so
  if (base::IsUtf16(text)) {
    return base::InvalidArgument("the invite " + path + " is text in UTF-16: save it as UTF-8");
  }
  return ParseInvite(Tidied(text), versions);
}

}  // namespace ostraka::cli
