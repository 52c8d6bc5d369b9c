// The file `revocations` of a data folder: what moderators took back, for the folder's node to pass
// on in its COMMITs. One revocation a line, in base64url (TextOf).
//
// `ostraka invite revoke` adds to it while the node runs. Whoever can write the folder can write
// the file: a line that no moderator of the run signed is refused, and the others count.
//
// Thread safety: RevocationFile: one owner. Free functions: two writers of one folder must not
// overlap.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/wire/messages.h"

namespace ostraka::store {

inline constexpr char kRevocationFileName[] = "revocations";
inline constexpr std::size_t kMaxRevocations = 1024;  // a file

// As people pass it on. InvalidArgument: `text` is not exactly TextOf of a revocation.
std::string TextOf(const wire::Revocation& revocation);
base::StatusOr<wire::Revocation> RevocationOf(std::string_view text);

class RevocationFile {
 public:
  // For the run of that id, whose moderators are `moderators`.
  RevocationFile(const std::string& data_dir, const base::Digest& run_id,
                 std::vector<base::PeerId> moderators);

  // Reads the file if it has changed. A missing file holds nothing. InvalidArgument: a line is no
  // revocation of the run; the good ones count, and the same file is not complained of again.
  // Unavailable: it cannot be read.
  base::Status Refresh();
  const std::vector<wire::Revocation>& held() const { return held_; }

 private:
  base::StatusOr<wire::Revocation> Checked(std::string_view line) const;

  std::string path_;
  base::Digest run_id_;
  std::vector<base::PeerId> moderators_;
  std::string seen_;  // the content that `held_` is from
  std::vector<wire::Revocation> held_;
};

// Adds a line, durably; nothing if the file has it. Unavailable: it cannot be written.
// FailedPrecondition: the file is full.
base::Status AddRevocation(const std::string& data_dir, const wire::Revocation& revocation);

}  // namespace ostraka::store
