// What each member was heard to say in one seal: kept beyond the decision, because two words of one
// member that are honest each may convict it together, and the second may come with a fork
// (fork_watch.h).
//
// Why the words of a certificate are not enough: they are LOCKs of one iteration, and a member may
// lock something else in another one. What convicts it is its VOTE in between (proofs/evidence,
// broken_lock).
//
// What an attacker can do: fill its own room, kWordsOfOne words of each type. Of its VOTEs those
// with the widest reach stay. A VOTE of iteration k and rank r convicts its signer beside any own
// LOCK of iterations r to k - 1, so whoever says many VOTEs to push one out says a more telling
// one.
//
// Thread safety: none; one owner.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

class SealWords {
 public:
  static constexpr std::size_t kWordsOfOne = 8;  // of one type

  // True iff it is kept and was not before. Two different words of one slot are both kept, a third
  // is not. REQUIRES: an ECHO, STATUS, PROPOSE, VOTE or LOCK of the one seal that this is about,
  // its signature verified.
  bool Add(const wire::SignedEnvelope& message);

  bool Holds(const wire::SignedEnvelope& message) const;
  // Somebody said more than an ECHO.
  bool slow() const { return slow_; }
  // In the order of their signers.
  std::vector<base::SharedBytes> Frames() const;
  // Those of one member.
  std::vector<base::SharedBytes> FramesOf(const base::PeerId& signer) const;
  std::size_t bytes() const { return bytes_; }  // of all frames

 private:
  struct Shelf {  // of one member and type
    base::PeerId signer;
    wire::MessageType type = wire::MessageType::kEcho;
    auto operator<=>(const Shelf&) const = default;
  };
  struct Place {
    std::uint32_t iteration = 0;
    base::Digest digest;
    auto operator<=>(const Place&) const = default;
  };
  struct Word {
    base::SharedBytes frame;
    std::uint32_t reach = 0;  // of a VOTE: how many iterations' LOCKs it breaks
  };
  using Words = std::map<Place, Word>;
  static std::size_t CountOf(const Words& words, std::uint32_t iteration);
  static Words::iterator LeastOf(Words& words);

  std::map<Shelf, Words> shelves_;
  std::size_t bytes_ = 0;
  bool slow_ = false;
};

}  // namespace ostraka::protocol
