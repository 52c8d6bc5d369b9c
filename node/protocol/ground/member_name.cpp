#include "node/protocol/ground/member_name.h"

#include <algorithm>

namespace ostraka::protocol {
namespace {

// Short forms of keys that people see have 8 digits or more.
constexpr std::size_t kShortestKey = 8;

bool IsDigit(char c) { return '0' <= c && c <= '9'; }
char Lower(char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool IsLetter(char c) { return 'a' <= Lower(c) && Lower(c) <= 'z'; }
bool IsHex(char c) { return IsDigit(c) || ('a' <= Lower(c) && Lower(c) <= 'f'); }
bool IsNameCharacter(char c) {
  return IsLetter(c) || IsDigit(c) || c == '-' || c == '_' || c == '.';
}

bool ReadsLikeAKey(std::string_view name) {
  return std::all_of(name.begin(), name.end(), IsHex) &&
         (name.size() >= kShortestKey || std::any_of(name.begin(), name.end(), IsDigit));
}

std::string Folded(std::string_view name) {
  std::string folded(name);
  std::transform(folded.begin(), folded.end(), folded.begin(), Lower);
  return folded;
}

}  // namespace

base::Status CheckMemberName(std::string_view name) {
  const auto refuse = [](const char* what) {
    return base::InvalidArgument(std::string("a member's name ") + what);
  };
  if (name.empty() || name.size() > kMaxNameBytes) return refuse("must have 1 to 24 characters");
  if (!std::all_of(name.begin(), name.end(), IsNameCharacter)) {
    return refuse("must consist of the letters a to z and A to Z, digits, '-', '_' and '.'");
  }
  if (!IsLetter(name.front())) return refuse("must begin with a letter");
  if (ReadsLikeAKey(name)) return refuse("must not read like the digits of a key");
  return base::OkStatus();
}

base::Status CheckMemberNames(const std::map<base::PeerId, std::string>& names) {
  std::map<std::string, base::PeerId> taken;
  for (const auto& [peer, name] : names) {
    const base::Status good = CheckMemberName(name);
    if (!good.ok()) {
      return base::InvalidArgument("member " + peer.Short() + ": " + base::MessageOf(good));
    }
    const auto [other, is_new] = taken.emplace(Folded(name), peer);
    if (is_new) continue;
    return base::InvalidArgument("members " + other->second.Short() + " and " + peer.Short() +
                                 " have one name, " + name);
  }
  return base::OkStatus();
}

}  // namespace ostraka::protocol
