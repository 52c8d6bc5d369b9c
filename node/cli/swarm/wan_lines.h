// Lines of the Internet for a swarm on one machine: when what a node sends reaches another one.
//
// Each node has a line with one rate in each direction, and each message takes one delay. A chunk
// leaves when the sender's line is free, takes the line for as long as its bytes take, and arrives
// a delay later, but not before the receiver's line has taken the chunks that came before it.
//
// Thread safety: none; one owner. Pure: the caller says the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/base/status.h"
#include "node/base/time.h"

namespace ostraka::cli {

struct WanLine {
  std::uint64_t bits_per_second = 0;
  base::Duration delay;  // one way
};

// "20M:50ms": bits a second (K, M or G are thousands), and milliseconds. InvalidArgument without
// the option's name: anything else, a rate of 0, or a delay above 10 s.
base::StatusOr<WanLine> ParseWanLine(std::string_view text);
std::string WanLineText(const WanLine& line);  // "20 Mbit/s, 50 ms"

class WanLines {
 public:
  WanLines(const WanLine& line, std::size_t nodes);

  base::Duration delay() const { return line_.delay; }
  struct Passage {
    base::Time left;     // the sender's line is free again
    base::Time arrives;  // all of the chunk
  };
  // A chunk of `bytes` that is ready at `now`. REQUIRES: time does not go back.
  Passage Send(base::Time now, std::size_t from, std::size_t to, std::size_t bytes);

 private:
  base::Duration TimeOf(std::size_t bytes) const;

  WanLine line_;
  std::vector<base::Time> up_;    // by node: when its line is free
  std::vector<base::Time> down_;  // likewise
};

}  // namespace ostraka::cli
