#include "node/train/tokens/token_finder.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"

namespace ostraka::train {

TokenFinder::TokenFinder(std::vector<LiteralToken> tokens) : tokens_(std::move(tokens)) {
  std::sort(tokens_.begin(), tokens_.end(),
            [](const LiteralToken& a, const LiteralToken& b) { return a.text < b.text; });
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    OSTRAKA_CHECK(!tokens_[i].text.empty() && (i == 0 || tokens_[i - 1].text != tokens_[i].text));
    begins_[static_cast<std::uint8_t>(tokens_[i].text.front())] = true;
  }
}

std::optional<TokenFinder::Found> TokenFinder::FindIn(std::string_view text) const {
  if (tokens_.empty()) return {};
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!begins_[static_cast<std::uint8_t>(text[at])]) continue;
    if (const LiteralToken* found = Longest(text.substr(at))) {
      return Found{.begin = at, .bytes = found->text.size(), .id = found->id};
    }
  }
  return {};
}

const LiteralToken* TokenFinder::Longest(std::string_view text) const {
  const LiteralToken* longest = nullptr;
  auto begin = tokens_.begin();
  auto end = tokens_.end();
  // Those that agree with `text` so far; the shortest of them stands first.
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    const auto byte_of = [i](const LiteralToken& token) {
      return token.text.size() > i ? static_cast<std::uint8_t>(token.text[i]) : -1;
    };
    begin =
        std::partition_point(begin, end, [&](const auto& each) { return byte_of(each) < byte; });
    end = std::partition_point(begin, end, [&](const auto& each) { return byte_of(each) <= byte; });
    if (begin == end) break;
    if (begin->text.size() == i + 1) longest = &*begin;
  }
  return longest;
}

}  // namespace ostraka::train
