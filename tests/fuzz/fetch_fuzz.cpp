// Any bytes as a server's words to who reads its files: as the address of a redirect, as the head
// of an answer, as a range. Refused in one line without any of them, or taken as what they say.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "node/base/check.h"
#include "node/net/fetch/answer_head.h"
#include "node/net/fetch/url.h"

namespace ostraka::net {
namespace {

constexpr std::size_t kMostHead = 4096;

bool IsOneLine(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

void CheckRefusal(const base::Status& status) {
  OSTRAKA_CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  OSTRAKA_CHECK(IsOneLine(base::MessageOf(status)) && status.message().size() < 600);
}

void CheckUrl(const std::string& text) {
  for (const bool http : {false, true}) {
    const auto redirect = ParseRedirect(text, http);
    const auto source = ParseSourceUrl(text, http);
    if (!source.ok()) CheckRefusal(source.status());
    if (!redirect.ok()) {
      CheckRefusal(redirect.status());
      OSTRAKA_CHECK(!source.ok() || text.size() > kMostRedirectUrl);
      continue;
    }
    OSTRAKA_CHECK(redirect->text == text && IsOneLine(text) && !redirect->host.empty());
    OSTRAKA_CHECK(text.find_first_of("\\# ") == std::string::npos);
    OSTRAKA_CHECK(redirect->https || http);
    if (!source.ok()) continue;
    OSTRAKA_CHECK(source->text.ends_with('/') && source->text.find('?') == std::string::npos);
    OSTRAKA_CHECK(source->text.size() > kMostSourceUrl ||
                  ParseSourceUrl(source->text, http)->text == source->text);
  }
  if (!CheckFileName(text).ok()) CheckRefusal(CheckFileName(text));
}

void CheckHead(std::string_view text) {
  AnswerHead head(kMostHead);
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    const base::Status status = head.Feed(text.substr(0, size));
    text.remove_prefix(size);
    if (!status.ok()) {
      CheckRefusal(status);
      OSTRAKA_CHECK(!head.complete());
      return;
    }
    OSTRAKA_CHECK(head.bytes() <= kMostHead);
    if (!head.complete() || !IsSuccess(head.status())) continue;
    const std::uint64_t begin = head.range() ? head.range()->begin : 0;
    const std::uint64_t size_there = head.range() ? head.range()->last - begin + 1 : 1;
    for (const Wanted& wanted : {Wanted{begin, size_there, false}, Wanted{0, 100, true}}) {
      if (wanted.size == 0) continue;  // a range of 2^64 bytes
      const base::Status judged = JudgeHead(head, wanted);
      if (!judged.ok()) CheckRefusal(judged);
    }
  }
}

void CheckRange(std::string_view text) {
  const auto range = ParseContentRange(text);
  if (!range) return;
  OSTRAKA_CHECK(range->begin <= range->last && (!range->total || *range->total > range->last));
  const std::string again = "bytes " + std::to_string(range->begin) + "-" +
                            std::to_string(range->last) + "/" +
                            (range->total ? std::to_string(*range->total) : "*");
  OSTRAKA_CHECK(ParseContentRange(again) == range);
}

}  // namespace
}  // namespace ostraka::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ostraka::net::CheckUrl(std::string(text));
  ostraka::net::CheckHead(text);
  ostraka::net::CheckRange(text);
  return 0;
}
