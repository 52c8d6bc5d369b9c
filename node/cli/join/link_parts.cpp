#include "node/cli/join/link_parts.h"

#include <cstdio>
#include <fstream>
#include <utility>

#include "crypto/key_file.h"
#include "node/store/ledger_reader.h"
#include "node/train/exact/constants_file.h"

namespace ostraka::cli {
namespace {

// Longer arguments are refused by Linux.
constexpr std::size_t kLongestArgument = 128 << 10;

}  // namespace

base::StatusOr<std::string> TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxInviteBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return base::Unavailable("cannot read " + path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

base::StatusOr<train::GraphFiles> GraphOfRun(const std::string& path) {
  train::GraphFiles files;
  if (path.empty()) return files;
  ASSIGN_OR_RETURN(files.text, train::ReadGraphFile(path));
  ASSIGN_OR_RETURN(const exact::Graph graph, train::GraphOf(files.text));
  ASSIGN_OR_RETURN(files.constants, train::ReadConstants(path, graph));
  return files;
}

base::StatusOr<std::shared_ptr<const wire::Block>> AnchorFrom(const std::string& data_dir,
                                                              const base::Digest& run_id) {
  if (data_dir.empty()) return nullptr;
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::Open(data_dir));
  ASSIGN_OR_RETURN(const store::LedgerSummary summary, ledger.Summary());
  if (summary.run_id != run_id) {
    return base::InvalidArgument(data_dir + " belongs to run " + summary.run_id.Short() +
                                 ", and the manifest is of run " + run_id.Short());
  }
  ASSIGN_OR_RETURN(wire::Block block, ledger.LastBlock());
  return std::make_shared<const wire::Block>(std::move(block));
}

base::Status PassOn(const InviteText& text, const std::string& file) {
  const std::string written = WriteInvite(text);
  // What this program writes, it must read.
  RETURN_IF_ERROR(ParseInvite(written).status());
  if (!file.empty()) return crypto::WriteKeyFile(file, written);
  const std::string link = LinkOf(written);
  if (link.size() >= kLongestArgument) {
    return base::InvalidArgument("the invite is too long for a link: write it with --file");
  }
  std::printf("%s\n", link.c_str());
  return base::OkStatus();
}

}  // namespace ostraka::cli
