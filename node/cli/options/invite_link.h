// An invite as people pass it on: everything that a machine needs to come into a run. A link
// without an invite has all but the pass: it is for keys that the run lets in anyway.
//
//   file  one line of JSON: {"addresses": {ID: "HOST:PORT", ...},
//         "anchor": base64url of a block, or empty, "by_moderator": 128 hexadecimal digits,
//         "check": hash of the same text without this field, in 64 digits,
//         "constants": base64url, "format": "ostraka invite 2", "graph": text,
//         "holder_seed": 64 digits, "manifest": text, "moderator": ID, "until": step,
//         "uses": number}
//         without a pass the fields by_moderator, holder_seed, moderator, until and uses are
//         missing
//   link  "ostraka:" and the file in base64url, without its newline
//
// Texts of format "ostraka invite 1" have no check, and are read still.
//
// Whoever has a pass can use it: it holds the secret of the invite's own key. It vouches for
// nothing but itself: a volunteer that takes one from a stranger trains whatever that manifest
// says.
//
// What an attacker can do here: texts come from strangers. Each invite has exactly one text, and
// all others are refused [a wrong digit in the block of a link was not noticed: who came by it
// found no run, and asked for a fresh link]; its length is limited, and it is one of the run that
// its manifest describes, and its pass is signed by a moderator that the manifest names.
//
// Thread safety: pure functions, except ReadInvite.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "crypto/sign.h"
#include "node/base/status.h"
#include "node/config/manifest_toml.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/exact/graph_file.h"
#include "node/wire/block.h"
#include "node/wire/messages.h"

namespace ostraka::cli {

inline constexpr std::size_t kMaxInviteBytes = 2 << 20;
inline constexpr std::string_view kInviteScheme = "ostraka:";

// What lets a key in that the manifest does not name.
struct InvitePass {
  wire::Invite invite;
  crypto::Signature by_moderator{};
  crypto::SigningKey holder;
};

struct InviteText {
  std::string manifest_text;
  protocol::Manifest manifest;
  std::optional<InvitePass> pass;
  std::map<base::PeerId, std::string> addresses;  // that replace those of the manifest
  train::GraphFiles graph;                        // empty texts: the run trains none
  // A block of the run from which on who comes follows it; null: the genesis. The moderator of the
  // pass has signed it, if there is one. It is believed as the manifest is: both come from who gave
  // the invite.
  std::shared_ptr<const wire::Block> anchor = nullptr;
};

// What the moderator of a pass signs of that block: nothing before protocol version 13. A text does
// not say it a second time.
std::optional<base::Digest> SignedAnchor(const protocol::Manifest& manifest,
                                         const std::shared_ptr<const wire::Block>& anchor);

// REQUIRES: a moderator of the manifest signed the pass, which is the holder's and of that anchor.
std::string WriteInvite(const InviteText& invite);  // the file
std::string LinkOf(const std::string& file);

// InvalidArgument, in one line that begins with "the invite": any other text than WriteInvite's or
// the same in the older format, with or without its newline, or LinkOf's. Any bytes are safe. Of
// earlier versions of the protocol only who judges evidence wants links.
base::StatusOr<InviteText> ParseInvite(std::string_view text,
                                       config::Versions versions = config::Versions::kThis);

// Its name in the folder of a node that came by it.
inline constexpr const char* kInviteFileName = "invite.json";
// A link, the path of a file that holds one or an invite, or a folder with a file of that name.
// Blanks and quotes around a link are forgiven, line breaks in it, and in a file what editors of
// other systems add. NotFound: no such
// file. Unavailable: it cannot be read. Also the errors of ParseInvite. No error shows a secret.
base::StatusOr<InviteText> ReadInvite(const std::string& link_or_file,
                                      config::Versions versions = config::Versions::kThis);

}  // namespace ostraka::cli
