#include "node/store/revocation_file.h"

#include <algorithm>
#include <utility>

#include "crypto/base64url.h"
#include "crypto/sign.h"
#include "node/os/line_file.h"
#include "node/protocol/ground/invite.h"
#include "node/wire/codec.h"

namespace ostraka::store {
namespace {

constexpr std::size_t kLongestLine = 512;
constexpr std::size_t kLongestFile = 1024 * kLongestLine;

std::string PathIn(const std::string& data_dir) { return data_dir + "/" + kRevocationFileName; }

}  // namespace

std::string TextOf(const wire::Revocation& revocation) {
  return crypto::ToBase64Url(wire::Encode(revocation));
}

base::StatusOr<wire::Revocation> RevocationOf(std::string_view text) {
  const auto bytes =
      text.size() > kLongestLine ? base::InvalidArgument("too long") : crypto::FromBase64Url(text);
  if (bytes.ok()) {
    auto revocation = wire::Decode<wire::Revocation>(*bytes);
    if (revocation.ok()) return revocation;
  }
  return base::InvalidArgument(
      "it is no revocation: take the whole line that `ostraka invite revoke` printed");
}

RevocationFile::RevocationFile(const std::string& data_dir, const base::Digest& run_id,
                               std::vector<base::PeerId> moderators)
    : path_(PathIn(data_dir)), run_id_(run_id), moderators_(std::move(moderators)) {}

base::StatusOr<wire::Revocation> RevocationFile::Checked(std::string_view line) const {
  ASSIGN_OR_RETURN(wire::Revocation revocation, RevocationOf(line));
  crypto::PlainVerifier verifier;
  const bool is_moderator =
      std::find(moderators_.begin(), moderators_.end(), revocation.moderator) != moderators_.end();
  if (is_moderator && protocol::IsSigned(run_id_, revocation, verifier)) return revocation;
  return base::InvalidArgument("no moderator of the run has signed it");
}

base::Status RevocationFile::Read() {
  ASSIGN_OR_RETURN(std::vector<std::string> lines, os::ReadLines(path_, kLongestFile));
  if (lines == seen_)
    return complaint_.empty() ? base::OkStatus() : base::InvalidArgument(complaint_);
  seen_ = std::move(lines);
  held_.clear();
  complaint_.clear();
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    auto revocation = Checked(seen_[i]);
    if (revocation.ok()) {
      held_.push_back(std::move(revocation).value());
    } else if (complaint_.empty()) {
      complaint_ = path_ + ": line " + std::to_string(i + 1) +
                   " is not passed on: " + base::MessageOf(revocation.status()) + "; delete it";
    }
  }
  return complaint_.empty() ? base::OkStatus() : base::InvalidArgument(complaint_);
}

base::Status RevocationFile::Refresh() {
  const base::Status read = Read();
  const std::string problem = read.ok() ? "" : base::MessageOf(read);
  if (std::exchange(said_, problem) == problem) return base::OkStatus();
  return read;
}

base::Status AddRevocation(const std::string& data_dir, const wire::Revocation& revocation) {
  return os::AddLine(PathIn(data_dir), TextOf(revocation), kLongestFile);
}

}  // namespace ostraka::store
