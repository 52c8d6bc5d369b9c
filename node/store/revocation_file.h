// The file `revocations` of a data folder: what moderators took back, for the folder's node to pass
// on in its COMMITs. One revocation a line, in base64url (TextOf).
//
// `ostraka invite revoke` adds to it while the node runs. Whoever can write the folder can write
// the file: a line that no moderator of the run signed is not passed on, and the others are.
//
// Thread safety: RevocationFile: one owner.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/wire/messages.h"

namespace ostraka::store {

inline constexpr char kRevocationFileName[] = "revocations";

// As people pass it on. InvalidArgument: `text` is not exactly TextOf of a revocation.
std::string TextOf(const wire::Revocation& revocation);
base::StatusOr<wire::Revocation> RevocationOf(std::string_view text);

class RevocationFile {
 public:
  // For the run of that id, whose moderators are `moderators`. Reads nothing yet.
  RevocationFile(const std::string& data_dir, const base::Digest& run_id,
                 std::vector<base::PeerId> moderators);

  // Reads the file anew. A missing file holds nothing, and one that cannot be read what it held
  // before. A complaint, in one line, if a line is no revocation of the run or the file cannot be
  // read; the same one is said once.
  base::Status Refresh();
  const std::vector<wire::Revocation>& held() const { return held_; }

 private:
  base::StatusOr<wire::Revocation> Checked(std::string_view line) const;
  // What is wrong with the file; takes in what is good.
  base::Status Read();

  std::string path_;
  base::Digest run_id_;
  std::vector<base::PeerId> moderators_;
  std::vector<std::string> seen_;  // the lines that `held_` is from
  std::string complaint_;          // what is wrong with them
  std::string said_;               // the last complaint that Refresh returned
  std::vector<wire::Revocation> held_;
};

// Adds a line, durably; nothing if the file has it. Errors of os::AddLine.
base::Status AddRevocation(const std::string& data_dir, const wire::Revocation& revocation);

}  // namespace ostraka::store
