#include "sim/report/peer_names.h"

#include <cstddef>

namespace ostraka::sim {
namespace {

constexpr std::size_t kShortDigits = 16;  // of Id32::Short

// The number of hexadecimal digits of `text` from `at` on.
std::size_t DigitsFrom(const std::string& text, std::size_t at) {
  const std::size_t end = text.find_first_not_of("0123456789abcdef", at);
  return (end == std::string::npos ? text.size() : end) - at;
}

// "peer N"; `digits` unchanged if no peer has this id.
std::string NumberOf(const std::string& digits, const Roster& roster) {
  for (std::size_t peer = 0; peer < roster.ids.size(); ++peer) {
    if (roster.ids[peer].Hex().starts_with(digits)) return "peer " + std::to_string(peer);
  }
  return digits;
}

}  // namespace

std::string WithPeerNumbers(const std::string& text, const Roster& roster) {
  std::string named;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t digits = DigitsFrom(text, at);
    if (digits < kShortDigits) {
      named += text.substr(at, digits + 1);
      at += digits + 1;
      continue;
    }
    const std::string name = NumberOf(text.substr(at, digits), roster);
    at += digits;
    // Named(roster, peer) gives the number and then the id.
    const std::string before = name + " (";
    if (named.ends_with(before) && at < text.size() && text[at] == ')') {
      named.resize(named.size() - 2);
      ++at;
    } else {
      named += name;
    }
  }
  return named;
}

}  // namespace ostraka::sim
