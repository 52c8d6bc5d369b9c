// The requests of a member to others while a step goes on: for messages that exist and are not
// here. They are not signed; an answer proves itself by its signature or its hash.
//
// Promises:
//   K1  ForEchoes moves on to other members each round. ForEntries starts one member further on
//       each round. So a member that does not answer costs half a Delta a round at most.
//   K2  Requests per round are bounded: for a missing entry, FaultBound + 1 members; for ECHOs,
//       eight members; for bulk data, a range that widens; for overdue messages, each unmuted
//       member once per message type, once a Delta; for refused PARTs, the links that brought them.
//
// May not know: the stage, or what follows from an answer.
//
// Memory: none of its own.
//
// What an attacker can do here: not answer, or send invalid answers, which are dropped.
//
// Thread safety: none; one owner.
#pragma once

#include <set>

#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/duties.h"
#include "node/protocol/lasting/reports.h"
#include "node/protocol/mail/pull_timer.h"
#include "node/protocol/mail/voice.h"
#include "node/protocol/step/disputed_pairs.h"
#include "node/protocol/step/results.h"
#include "node/protocol/step/sealing.h"

namespace ostraka::protocol {

class Asks {
 public:
  Asks(const Core& core, Reports& reports, Duties& duties, const PullTimer& pull,
       const StepFacts& facts)
      : core_(core), reports_(reports), duties_(duties), pull_(pull), facts_(facts) {}

  // The next four send requests. They return true if the pull timer must be set again.
  // Messages of the phase that are missing here: from members whose ECHO shows them. False if no
  // ECHO shows any of them.
  bool ForEntries(const Sealing& sealing) const;
  // True from this member's ECHO to the decision, whether an ECHO is missing or not.
  bool ForEchoes(const Sealing& sealing) const;
  bool ForResults(const Results& results) const;
  bool ForExhibits() const;
  // Requests overdue messages from every unmuted member, so that a message which one honest member
  // holds reaches all of them within one Delta. Attack: otherwise a member that sends to some
  // members alone makes them disagree on how late it was, and the others wait for it.
  void ForLate(const Sealing& sealing) const;
  // Requests again PARTs that were refused for lack of room before this step began. `links` brought
  // them. Each link is asked for its own part of this member's column, for its own part of a
  // disputed pair, and for parts that it forwarded to this member in a dispute.
  void ForRefusedParts(const std::set<PeerId>& links, const DisputedPairs& pairs) const;

 private:
  void ForRefusedPart(const PeerId& whom, const PeerId& worker, std::uint32_t column) const;
  void AskMessages(const PeerId& whom, const wire::Slot& slot, wire::MessageType type,
                   const std::vector<PeerId>& authors) const;

  const Core& core_;
  Reports& reports_;
  Duties& duties_;
  const PullTimer& pull_;
  const StepFacts& facts_;
};

}  // namespace ostraka::protocol
