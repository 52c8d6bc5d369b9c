// The head of a server's answer, line by line, and whether its body is what was asked for.
//
// Promises:
//   H1  All lines together, trailers and answers before the last one (1xx) too, have at most `most`
//       bytes; the line that passes it is refused.
//   H2  A head says that its body is encoded if any line of it says so.
//   H3  After a line is refused the head is not complete.
//
// May not know: sockets, libcurl, where the answer comes from.
// Memory: constant.
// What an attacker can do here: answer with any bytes; each is refused in one line of ours, in
// which only numbers are the server's.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "node/base/status.h"

namespace ostraka::net {

// What a GET asks for.
struct Wanted {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;  // of the whole file: the most
  bool whole = false;
};

// "bytes 0-99/1000"; no total: the server wrote '*'.
struct ContentRange {
  std::uint64_t begin = 0;
  std::uint64_t last = 0;
  std::optional<std::uint64_t> total;  // more than `last`
  bool operator==(const ContentRange&) const = default;
};
// nullopt: malformed, empty or upside down. Any bytes are safe.
std::optional<ContentRange> ParseContentRange(std::string_view text);

class AnswerHead {
 public:
  explicit AnswerHead(std::size_t most) : most_(most) {}

  // A line with its end, in the order in which they come. InvalidArgument: this is no answer that
  // a reader takes, and the transfer ends.
  base::Status Feed(std::string_view line);
  // From here on lines are trailers, which only count.
  void BodyBegins() { trailers_ = true; }

  std::size_t bytes() const { return bytes_; }
  bool complete() const { return complete_; }  // and the answer is no 1xx
  int status() const { return status_; }       // 0: no line of status yet
  const std::optional<ContentRange>& range() const { return range_; }
  const std::optional<std::uint64_t>& length() const { return length_; }

 private:
  base::Status Begin(std::string_view line);
  base::Status Take(std::string_view name, std::string_view value);

  const std::size_t most_;
  std::size_t bytes_ = 0;
  bool complete_ = false;
  bool trailers_ = false;
  int status_ = 0;
  std::optional<ContentRange> range_;
  std::optional<std::uint64_t> length_;
};

inline bool IsSuccess(int status) { return status >= 200 && status <= 299; }

// Whether an answer with this head may have what is wanted. InvalidArgument: it has other bytes, or
// more. REQUIRES: the head is complete, its status a success.
base::Status JudgeHead(const AnswerHead& head, const Wanted& wanted);

}  // namespace ostraka::net
