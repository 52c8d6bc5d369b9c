// Names of members, as the manifest may give them: text for people. No decision of the protocol
// reads a name; a member is its key.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::protocol {

inline constexpr std::size_t kMaxNameBytes = 24;

// OK if `name` is 1 to kMaxNameBytes ASCII letters, digits, '-', '_' and '.', begins with a letter,
// and does not read like the digits of a key: hexadecimal digits alone, with a decimal one among
// them or 8 and more. ASCII, because letters of two alphabets that look alike would let a member
// pose as another.
base::Status CheckMemberName(std::string_view name);

// OK if each name is good, and no two of them differ in nothing but case.
base::Status CheckMemberNames(const std::map<base::PeerId, std::string>& names);

}  // namespace ostraka::protocol
