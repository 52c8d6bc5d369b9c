// The invites that a moderator has made, noted beside its key: what lists and revokes them later.
// No secret is in it.
//
//   file  `<key file>.invites`, one invite a line: {"anchor": digest, "holder": ID,
//         "moderator": ID, "run": ID, "until": step, "uses": number}; no anchor: the genesis
//
// Thread safety: any thread and process.
#pragma once

#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/wire/messages.h"

namespace ostraka::cli {

struct IssuedInvite {
  base::Digest run_id;
  wire::Invite invite;
};

// Errors of os::AddLine.
base::Status NoteInvite(const std::string& key_file, const IssuedInvite& issued);

struct IssuedInvites {
  std::vector<wire::Invite> invites;
  std::string complaint;  // about the first line that is no invite; empty: there is none
};
// Those of the run, in the order in which they were made; none if there is no file. Errors of
// os::ReadLines.
base::StatusOr<IssuedInvites> IssuedBy(const std::string& key_file, const base::Digest& run_id);

// The only one whose name (protocol::InviteDigest) begins with those hexadecimal digits.
// InvalidArgument: fewer than eight digits, or several invites. NotFound: none.
base::StatusOr<wire::Invite> InviteNamed(const std::string& digits,
                                         const std::vector<wire::Invite>& invites,
                                         const base::Digest& run_id);

}  // namespace ostraka::cli
