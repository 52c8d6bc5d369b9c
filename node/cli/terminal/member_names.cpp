#include "node/cli/terminal/member_names.h"

#include <iterator>

namespace ostraka::cli {
namespace {

constexpr std::size_t kDigitsBesideName = 8;
constexpr std::size_t kShortId = 16;
constexpr std::size_t kWholeId = 2 * base::PeerId::kSize;

// Of a word, which ids are: by hand, because the locale must not matter.
bool IsWordByte(char c) {
  return ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
}

std::string Named(const MemberNames::Map::value_type& member) {
  return member.second + " (" + member.first.Hex().substr(0, kDigitsBesideName) + ")";
}

}  // namespace

std::string MemberNames::Of(const base::PeerId& peer) const {
  const auto found = names_.find(peer);
  return found == names_.end() ? "" : found->second;
}

std::string MemberNames::Shown(const base::PeerId& peer, std::size_t digits) const {
  const auto found = names_.find(peer);
  return found == names_.end() ? peer.Hex().substr(0, digits) : Named(*found);
}

const MemberNames::Map::value_type* MemberNames::Find(std::string_view digits) const {
  if (digits.size() != kShortId && digits.size() != kWholeId) return nullptr;
  const auto least =
      base::PeerId::FromHexDigits(std::string(digits) + std::string(kWholeId - digits.size(), '0'));
  if (!least) return nullptr;
  const auto found = names_.lower_bound(*least);
  const auto begins = [&](Map::const_iterator it) {
    return it != names_.end() && it->first.Hex().starts_with(digits);
  };
  return begins(found) && !begins(std::next(found)) ? &*found : nullptr;
}

std::string MemberNames::In(std::string_view text) const {
  if (names_.empty()) return std::string(text);
  std::string shown;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && IsWordByte(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i);
    const auto* member = Find(word);
    shown += member == nullptr ? std::string(word) : Named(*member);
    if (end < text.size()) shown += text[end++];
    i = end;
  }
  return shown;
}

}  // namespace ostraka::cli
