// Any text as an invite: it is refused in one line, or it is the one text of an invite that its
// moderator signed. An input is a text, or (first byte 1) values for fields of a good invite, which
// a moderator signs again: what a hostile moderator can write.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "crypto/base64url.h"
#include "crypto/sign.h"
#include "node/base/check.h"
#include "node/cli/options/invite_link.h"
#include "node/config/manifest_toml.h"
#include "node/protocol/ground/invite.h"
#include "tests/fuzz/byte_source.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

crypto::SigningKey KeyOf(std::uint8_t fill) {
  return crypto::SigningKey::FromSeed(base::Bytes(crypto::SigningKey::kSeedSize, fill));
}

std::string GoodManifest() {
  protocol::Manifest manifest;
  manifest.training.model = manifest.training.data = "toy";
  for (std::uint8_t fill = 1; fill <= 3; ++fill) {
    manifest.members.push_back({KeyOf(fill).id(), "127.0.0.1:7000"});
  }
  std::sort(manifest.members.begin(), manifest.members.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  manifest.join = {protocol::JoinPolicy::kInvite, {}, {KeyOf(9).id()}, 4, 7};
  return config::WriteManifest(manifest, base::Digest{});
}

// As earlier versions wrote it.
std::string Unchecked(const std::string& file) {
  json object = json::parse(file);
  object.erase("check");
  object["format"] = "ostraka invite 1";
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

bool IsTextOf(const std::string& file, std::string_view text) {
  if (text.starts_with(kInviteScheme)) return LinkOf(file) == text.substr(0, text.find('\n'));
  return file == text || file == std::string(text) + "\n";
}

void RunOne(std::string_view text) {
  const auto invite = ParseInvite(text);
  if (!invite.ok()) {
    OSTRAKA_CHECK(invite.status().code() == absl::StatusCode::kInvalidArgument);
    const std::string line = base::MessageOf(invite.status());
    OSTRAKA_CHECK(line.starts_with("the invite"));
    return;
  }
  const std::string file = WriteInvite(*invite);
  OSTRAKA_CHECK(IsTextOf(file, text) || IsTextOf(Unchecked(file), text));
  if (invite->pass) {
    OSTRAKA_CHECK(invite->pass->holder.id() == invite->pass->invite.holder);
    OSTRAKA_CHECK(protocol::IsModerator(invite->manifest, invite->pass->invite.moderator));
  }
  // The link of a good file reads as that file.
  if (file.size() > kMaxInviteBytes / 2) return;
  const auto again = ParseInvite(LinkOf(file));
  OSTRAKA_CHECK(again.ok() && WriteInvite(*again) == file);
}

// Values for some fields of a good invite.
void RunSigned(fuzz::ByteSource& source) {
  static const std::string manifest_text = GoodManifest();
  static const auto manifest = config::ParseManifest(manifest_text);
  OSTRAKA_CHECK(manifest.ok());
  const wire::Invite invite{KeyOf(9).id(), KeyOf(8).id(),
                            static_cast<std::uint32_t>(source.Below(300)), source.Below(100)};
  const crypto::Signature signature = protocol::SignInvite(manifest->run_id, invite, KeyOf(9));
  json object = {{"format", "ostraka invite 1"},
                 {"manifest", manifest_text},
                 {"moderator", invite.moderator.Hex()},
                 {"uses", invite.uses},
                 {"until", invite.ends_step},
                 {"by_moderator", base::ToHex(signature.bytes)},
                 {"holder_seed", base::ToHex(KeyOf(8).seed())},
                 {"addresses", json::object()},
                 {"graph", ""},
                 {"anchor", ""},
                 {"constants", ""}};
  constexpr const char* kNames[] = {"addresses", "graph",       "anchor", "constants",
                                    "manifest",  "holder_seed", "uses",   "unknown"};
  const char* const name = kNames[source.Below(std::size(kNames))];
  const base::ByteView rest = source.Take(kMaxInviteBytes);
  const std::string text(rest.begin(), rest.end());
  if (name == std::string_view("anchor") || name == std::string_view("constants")) {
    object[name] = crypto::ToBase64Url(rest);
  } else if (name == std::string_view("addresses")) {
    object[name] = {{KeyOf(1).id().Hex(), text}};
  } else {
    object[name] = text;
  }
  RunOne(object.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace
}  // namespace ostraka::cli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool initialized = ostraka::crypto::Initialize().ok();
  OSTRAKA_CHECK(initialized);
  if (size > 0 && data[0] == 1) {
    ostraka::fuzz::ByteSource source({data + 1, size - 1});
    ostraka::cli::RunSigned(source);
  } else {
    ostraka::cli::RunOne({reinterpret_cast<const char*>(data), size});
  }
  return 0;
}
