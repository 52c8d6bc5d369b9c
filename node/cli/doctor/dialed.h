// Whether others can dial this machine: what members found that a running node has asked to dial it
// back (node/net/reach/dial_back.h), as its status tells.
//
// Thread safety: ParseDialed and JudgeDialed are pure; AskNode blocks for some seconds at most.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/cli/doctor/doctor.h"
#include "node/cli/terminal/member_names.h"

namespace ostraka::cli {

// What becomes of a packet to this machine that belongs to no connection, as members saw it.
enum class Strays : std::uint8_t { kUnknown, kReset, kDropped };

struct DialedFacts {
  struct Try {
    std::string outcome;  // net::DialOutcomeName
    std::string text;     // for people, with ids
  };
  bool on = true;
  bool only_dials = false;  // it declares so
  std::uint16_t port = 0;   // that members are asked to dial; 0: the node does not listen
  std::vector<Try> tries;
};

// Of the answer to /status. Nullopt: it is no such answer.
std::optional<DialedFacts> ParseDialed(std::string_view status);

// Of the node whose data folder this is. Nullopt: none runs there, or it does not answer.
std::optional<DialedFacts> AskNode(const std::string& data_dir);

// By the dials that failed; kUnknown, too, if they failed in both ways.
Strays StraysOf(const DialedFacts& facts);
Finding JudgeDialed(const DialedFacts& facts, const MemberNames& names);

}  // namespace ostraka::cli
