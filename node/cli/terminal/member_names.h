// The names of a run's members in texts for people: "anna (4be81737)".
//
// Thread safety: immutable once built.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "node/base/ids.h"

namespace ostraka::cli {

class MemberNames {
 public:
  // Of members that have one.
  using Map = std::map<base::PeerId, std::string>;

  MemberNames() = default;
  explicit MemberNames(Map names) : names_(std::move(names)) {}

  // Empty if the member has none.
  std::string Of(const base::PeerId& peer) const;
  // "anna (4be81737)"; without a name the first `digits` digits of the id.
  std::string Shown(const base::PeerId& peer, std::size_t digits = 16) const;
  // `text`, in which each member with a name stands as in Shown. It is a member's id where 16 or
  // all 64 of its digits stand between other characters than letters and digits. Ids of other
  // members, and hashes, stay.
  std::string In(std::string_view text) const;

  const Map& map() const { return names_; }

 private:
  // The only member with a name whose id begins with `digits`, or null.
  const Map::value_type* Find(std::string_view digits) const;

  Map names_;
};

}  // namespace ostraka::cli
