#include "node/net/fetch/answer_head.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "node/base/check.h"

namespace ostraka::net {
namespace {

constexpr std::string_view kSpaces = " \t";
constexpr int kPartialContent = 206;
constexpr int kWholeContent = 200;

// All of `digits`; no sign, no space.
std::optional<std::uint64_t> NumberOf(std::string_view digits) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (digits.empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

std::string_view WithoutLineEnd(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// ASCII alone, whatever the locale. `lower` has no capital.
bool IsWord(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
  });
}

template <typename T>
base::Status SetOnce(std::optional<T>& field, const std::optional<T>& value) {
  if (!value) return base::InvalidArgument("the server writes a malformed length or range");
  if (field && *field != *value) {
    return base::InvalidArgument("the server writes two lengths or two ranges for one answer");
  }
  field = value;
  return base::OkStatus();
}

}  // namespace

std::optional<ContentRange> ParseContentRange(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view span = text.substr(0, slash);
  const std::string_view total = text.substr(slash + 1);
  const std::size_t dash = span.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto begin = NumberOf(span.substr(0, dash));
  const auto last = NumberOf(span.substr(dash + 1));
  if (!begin || !last || *begin > *last) return std::nullopt;
  ContentRange range{*begin, *last, std::nullopt};
  if (total == "*") return range;
  range.total = NumberOf(total);
  if (!range.total || *range.total <= range.last) return std::nullopt;
  return range;
}

base::Status AnswerHead::Feed(std::string_view line) {
  if (line.size() > most_ - bytes_) {  // H1
    complete_ = false;
    return base::InvalidArgument("the head of the server's answer has more than " +
                                 std::to_string(most_) + " bytes");
  }
  bytes_ += line.size();
  OSTRAKA_CHECK(bytes_ <= most_);
  if (trailers_) return base::OkStatus();
  line = WithoutLineEnd(line);
  if (line.starts_with("HTTP/")) return Begin(line);
  if (status_ == 0 || complete_) {
    complete_ = false;
    return base::InvalidArgument("the server does not answer as HTTP does");
  }
  if (line.empty()) {
    complete_ = status_ >= 200;
    if (!complete_) status_ = 0;  // of a 1xx: the answer is to come
    return base::OkStatus();
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || kSpaces.find(line.front()) != std::string_view::npos) {
    return base::InvalidArgument("the server writes a malformed head");
  }
  return Take(Trimmed(line.substr(0, colon)), Trimmed(line.substr(colon + 1)));
}

// "HTTP/1.1 206 ..."
base::Status AnswerHead::Begin(std::string_view line) {
  constexpr std::size_t kDigits = 3;
  const bool twice = status_ != 0;
  complete_ = false;
  range_.reset();
  length_.reset();
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view rest = line.substr(space);
  const auto status = NumberOf(rest.substr(std::min<std::size_t>(1, rest.size()), kDigits));
  const bool ends = rest.size() <= kDigits + 1 || rest[kDigits + 1] == ' ';
  status_ = 0;
  if (twice || !status || *status < 100 || *status > 999 || !ends) {
    return base::InvalidArgument("the server does not answer as HTTP does");
  }
  status_ = static_cast<int>(*status);
  return base::OkStatus();
}

base::Status AnswerHead::Take(std::string_view name, std::string_view value) {
  if (IsWord(name, "content-range")) {
    // "bytes */1000" comes with a 416, whose range nobody reads.
    if (!IsSuccess(status_)) return base::OkStatus();
    return SetOnce(range_, ParseContentRange(value));
  }
  if (IsWord(name, "content-length")) return SetOnce(length_, NumberOf(value));
  if (IsWord(name, "content-encoding") && !IsWord(value, "identity")) {  // H2
    return base::InvalidArgument(
        "the server compresses what was asked for as it is: take another source");
  }
  if (IsWord(name, "transfer-encoding") && !IsWord(value, "chunked") &&
      !IsWord(value, "identity")) {
    return base::InvalidArgument(
        "the server encodes what was asked for as it is: take another source");
  }
  return base::OkStatus();
}

base::Status JudgeHead(const AnswerHead& head, const Wanted& wanted) {
  OSTRAKA_CHECK(head.complete() && IsSuccess(head.status()));  // H3
  if (wanted.whole) {
    if (head.status() != kWholeContent) {
      return base::InvalidArgument("the server answers " + std::to_string(head.status()) +
                                   " where 200 was due");
    }
    if (head.length() && *head.length() > wanted.size) {
      return base::InvalidArgument("the file has " + std::to_string(*head.length()) +
                                   " bytes, and at most " + std::to_string(wanted.size) +
                                   " are read");
    }
    return base::OkStatus();
  }
  if (head.status() == kWholeContent) {
    if (wanted.begin == 0 && (!head.length() || *head.length() == wanted.size)) {
      return base::OkStatus();
    }
    return base::InvalidArgument(
        "the server sends the whole file where a part was asked for: take a source that knows "
        "ranges (RFC 9110, 14)");
  }
  if (head.status() != kPartialContent) {
    return base::InvalidArgument("the server answers " + std::to_string(head.status()) +
                                 " where 206 was due");
  }
  const std::uint64_t last = wanted.begin + wanted.size - 1;
  if (!head.range()) {
    return base::InvalidArgument("the server does not say which bytes it sends");
  }
  if (head.range()->begin != wanted.begin || head.range()->last != last) {
    return base::InvalidArgument("the server has bytes " + std::to_string(head.range()->begin) +
                                 " to " + std::to_string(head.range()->last) + " where " +
                                 std::to_string(wanted.begin) + " to " + std::to_string(last) +
                                 " were asked for");
  }
  if (head.length() && *head.length() != wanted.size) {
    return base::InvalidArgument("the server sends " + std::to_string(*head.length()) +
                                 " bytes where " + std::to_string(wanted.size) + " were asked for");
  }
  return base::OkStatus();
}

}  // namespace ostraka::net
