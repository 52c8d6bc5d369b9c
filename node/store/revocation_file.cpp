#include "node/store/revocation_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "crypto/base64url.h"
#include "crypto/sign.h"
#include "node/os/durable_file.h"
#include "node/protocol/ground/invite.h"
#include "node/wire/codec.h"

namespace ostraka::store {
namespace {

constexpr std::size_t kLongestLine = 512;

std::string PathIn(const std::string& data_dir) { return data_dir + "/" + kRevocationFileName; }

// Empty if there is no file.
base::StatusOr<std::string> ContentOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::string content(kMaxRevocations * kLongestLine, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (error || file.bad() || !file.is_open()) return base::Unavailable("cannot read " + path);
  content.resize(static_cast<std::size_t>(file.gcount()));
  return content;
}

std::vector<std::string_view> LinesOf(std::string_view content) {
  std::vector<std::string_view> lines;
  while (!content.empty()) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    if (end > 0) lines.push_back(content.substr(0, end));
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return lines;
}

}  // namespace

std::string TextOf(const wire::Revocation& revocation) {
  return crypto::ToBase64Url(wire::Encode(revocation));
}

base::StatusOr<wire::Revocation> RevocationOf(std::string_view text) {
  const auto bytes =
      text.size() > kLongestLine ? base::InvalidArgument("too long") : crypto::FromBase64Url(text);
  if (bytes.ok()) {
    auto revocation = wire::DecodeRevocation(*bytes);
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

base::Status RevocationFile::Refresh() {
  ASSIGN_OR_RETURN(std::string content, ContentOf(path_));
  if (content == seen_) return base::OkStatus();
  seen_ = std::move(content);
  held_.clear();
  std::string bad;
  for (std::size_t number = 1; const std::string_view line : LinesOf(seen_)) {
    auto revocation = Checked(line);
    if (revocation.ok()) {
      held_.push_back(std::move(revocation).value());
    } else if (bad.empty()) {
      bad = path_ + ": line " + std::to_string(number) +
            " is not passed on: " + base::MessageOf(revocation.status());
    }
    ++number;
  }
  return bad.empty() ? base::OkStatus() : base::InvalidArgument(bad + "; delete it");
}

base::Status AddRevocation(const std::string& data_dir, const wire::Revocation& revocation) {
  const std::string path = PathIn(data_dir);
  ASSIGN_OR_RETURN(std::string content, ContentOf(path));
  const auto lines = LinesOf(content);
  const std::string text = TextOf(revocation);
  if (std::find(lines.begin(), lines.end(), text) != lines.end()) return base::OkStatus();
  if (lines.size() >= kMaxRevocations) {
    return base::FailedPrecondition(path + " is full: delete lines of invites that have ended");
  }
  if (!content.empty() && content.back() != '\n') content += '\n';
  content += text + "\n";
  const base::ByteView bytes(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
  return os::WriteDurably(path, std::vector<base::ByteView>{bytes}, os::IfExists::kReplace);
}

}  // namespace ostraka::store
