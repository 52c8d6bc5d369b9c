// What a member asks others for while a step goes on: messages that exist and are not here.
// Requests are not signed; an answer proves itself by its signature or its hash.
//
// Promises:
//   K1  Each round asks other members than the round before, so that a member that does not answer
//       costs half a Delta.
//   K2  The number of requests in a round is bounded: one more member than can lie for an entry,
//       eight members for ECHOs, a widening range for bulk data.
//
// May not know: the stage, or what follows from an answer.
//
// Memory: none of its own.
//
// What an attacker can do here: not answer, or answer with rubbish, which is dropped.
//
// Thread safety: none; one owner.
#pragma once

#include <set>

#include "node/protocol/mail/pull_timer.h"
#include "node/protocol/mail/voice.h"
#include "node/protocol/parts/duties.h"
#include "node/protocol/parts/reports.h"
#include "node/protocol/step/disputed_pairs.h"
#include "node/protocol/step/results.h"
#include "node/protocol/step/sealing.h"

namespace ostraka::protocol {

class Asks {
 public:
  struct Uses {
    PeerId self;
    const Turn* turn;
    const Voice* voice;
    const Chain* chain;
    const Inbox* inbox;
    Reports* reports;
    Duties* duties;
    const PullTimer* pull;
  };
  Asks(Uses uses, const StepFacts* facts) : uses_(std::move(uses)), facts_(facts) {}

  // Each returns true if something is missing.
  // Messages of the phase that an ECHO of another member shows to exist: from that member.
  bool ForEntries(const Sealing& sealing) const;
  bool ForEchoes(const Sealing& sealing) const;
  bool ForResults(const Results& results) const;
  bool ForExhibits() const;
  // Messages that are overdue: from all. So a message that one honest member holds is held by all a
  // Delta later. Attack: otherwise a member that sends to some members alone makes them disagree on
  // how late it was, and the others wait for it.
  void ForLate(const Sealing& sealing) const;
  // PARTs for which there was no room before the step began here, from the links that brought them:
  // a member's own part for this member's column and of live pairs, and what it passed on to this
  // member in a dispute.
  void ForRefusedParts(const std::set<PeerId>& links, const DisputedPairs& pairs) const;

 private:
  void ForRefusedPart(const PeerId& whom, const PeerId& worker, std::uint32_t column) const;
  void AskMessages(const PeerId& whom, const wire::Slot& slot, wire::MessageType type,
                   const std::vector<PeerId>& authors) const;

  Uses uses_;
  const StepFacts* facts_;
};

}  // namespace ostraka::protocol
