// The invites that a moderator has made, noted beside its key: what lists and revokes them later.
// No secret is in it.
//
//   file  `<key file>.invites`, one invite a line: {"holder": ID, "moderator": ID, "run": ID,
//         "until": step, "uses": number}
//
// Thread safety: two writers of one file must not overlap.
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

// Unavailable: it cannot be written.
base::Status NoteInvite(const std::string& key_file, const IssuedInvite& issued);

// Those of the run, in the order in which they were made; none if there is no file.
// InvalidArgument: a line is no invite. Unavailable: it cannot be read.
base::StatusOr<std::vector<wire::Invite>> IssuedBy(const std::string& key_file,
                                                   const base::Digest& run_id);

// The only one whose name (protocol::InviteDigest) begins with those hexadecimal digits.
// InvalidArgument: fewer than eight digits, or several invites. NotFound: none.
base::StatusOr<wire::Invite> InviteNamed(const std::string& digits,
                                         const std::vector<wire::Invite>& invites,
                                         const base::Digest& run_id);

}  // namespace ostraka::cli
