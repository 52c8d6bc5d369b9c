#include "node/protocol/step/entries.h"

#include "node/base/check.h"
#include "node/base/planted.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

SealedMessage::State StateOf(SealEntry::State state) {
  switch (state) {
    case SealEntry::State::kAbsent:
      return SealedMessage::State::kAbsent;
    case SealEntry::State::kPresent:
      return SealedMessage::State::kPresent;
    case SealEntry::State::kEquivocated:
      return SealedMessage::State::kEquivocated;
  }
  return SealedMessage::State::kAbsent;
}

}  // namespace

// --- the layout ---------------------------------------------------------------------------------

std::size_t Entries::Count() const {
  const std::size_t members = SealersOf(core_.chain.head()).size();
  switch (phase_) {
    case Phase::kA:
      return 2 * members;
    case Phase::kB:
    case Phase::kC:
      return members;
    case Phase::kGenesis:
      break;
  }
  return 0;
}

std::size_t Entries::AggEntryOf(std::size_t member) const {
  OSTRAKA_CHECK(phase_ == Phase::kA);
  return SealersOf(core_.chain.head()).size() + member;
}

std::optional<std::size_t> Entries::CommitEntryOf(std::size_t index) const {
  const std::size_t members = SealersOf(core_.chain.head()).size();
  if (phase_ != Phase::kA || index < members) return std::nullopt;
  return index - members;
}

// --- what they hold -----------------------------------------------------------------------------

std::optional<std::pair<Inbox::Place, PeerId>> Entries::PlaceOf(std::size_t index) const {
  const std::vector<PeerId>& members = SealersOf(core_.chain.head());
  const PeerId& member = members[index % members.size()];
  const StepReading& reading = facts_.reading;
  if (reading.absent.contains(member) || reading.two_commits.contains(member)) return std::nullopt;
  Inbox::Place place = facts_.PlaceOf(phase_, MessageType::kCommit, draw_);
  switch (phase_) {
    case Phase::kA:
      if (!CommitEntryOf(index)) break;
      // An AGG of a member that owns no part says nothing and is not sealed.
      if (!facts_.roles().PartOwnedBy(member)) return std::nullopt;
      place.type = MessageType::kAggregate;
      break;
    case Phase::kB:
      if (!reading.MustReveal(member)) return std::nullopt;
      place.type = MessageType::kReveal;
      break;
    case Phase::kC:
      place.type = MessageType::kProof;
      break;
    case Phase::kGenesis:
      return std::nullopt;
  }
  return std::pair{place, member};
}

SealEntry Entries::EntryNow(std::size_t index) const {
  const auto place = PlaceOf(index);
  if (!place) return {};
  const Inbox::Item* any = core_.inbox.Find(place->first, place->second);
  if (any == nullptr) return {};
  // Two messages of one slot are equivocation whatever parents they name.
  if (any->equivocated()) return {SealEntry::State::kEquivocated, Digest{}};
  if (any->message->envelope.entry != facts_.ParentOf(phase_)) return {};
  return {SealEntry::State::kPresent, any->message->digest};
}

bool Entries::Holds(std::size_t index, const Digest& digest) const {
  const auto place = PlaceOf(index);
  if (!place) return false;
  const wire::SignedEnvelope* message = core_.inbox.Find(place->first, place->second, digest);
  return message != nullptr && message->envelope.entry == facts_.ParentOf(phase_);
}

bool Entries::HoldsAll(const SealVector& vector) const {
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const SealEntry& entry = vector[i];
    if (entry.state == SealEntry::State::kPresent && !Holds(i, entry.digest)) return false;
    if (entry.state == SealEntry::State::kEquivocated &&
        EntryNow(i).state != SealEntry::State::kEquivocated) {
      return false;
    }
  }
  return true;
}

// A wait may end early only for a reason that this member's ECHO shows to all others, so that they
// can follow. A member that signed two COMMITs is banned whether it sends an AGG or not [seven that
// stopped after two COMMITs held all others up for 40 s, until the deadline of seal A]. No other
// evidence counts: it is local [one cheat of eight showed its fault to some members only, which
// echoed while the others waited; three of those were dropped for it].
bool Entries::OwesNothing(std::size_t index, const PeerId& member) const {
  if (base::Planted(base::Bug::kEvidenceEndsWaits)) return charges_.Against(member);
  const auto commit = CommitEntryOf(index);
  return commit && EntryNow(*commit).state == SealEntry::State::kEquivocated;
}

// Called after each message. What is held stays held, so an entry is not read again once it is
// complete.
bool Entries::Complete() {
  const std::size_t entries = Count();
  for (std::size_t& i = complete_prefix_; i < entries; ++i) {
    const auto place = PlaceOf(i);
    if (!place || EntryNow(i).state != SealEntry::State::kAbsent) continue;
    if (!OwesNothing(i, place->second)) return false;
  }
  return true;
}

SealedMessages Entries::MessagesOf(const SealVector& vector) const {
  SealedMessages messages(vector.size());
  for (std::size_t i = 0; i < vector.size(); ++i) {
    messages[i].state = StateOf(vector[i].state);
    const auto place = PlaceOf(i);
    if (!place || vector[i].state != SealEntry::State::kPresent) continue;
    messages[i].message = core_.inbox.Shared(place->first, place->second, vector[i].digest);
    // A seal decides only when its messages are held.
    OSTRAKA_CHECK(messages[i].message != nullptr);
  }
  return messages;
}

void Entries::CheckInvariants() const { OSTRAKA_CHECK(complete_prefix_ <= Count()); }

void Entries::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, phase_, draw_); }

}  // namespace ostraka::protocol
