// The fields of every record, each listed once: its name, where it stands in the schema, its
// limits. Encoding, decoding, hashes, tests' generators and differences all walk over these lists.
//
// A new field: a member of the struct, a line in its list here, a line in the struct's schema
// (ostraka.capnp, evidence.capnp, recording.capnp). A new record: its list here too. A list that
// leaves out a member does not compile, nor does one with a list or an enumeration without a bound.
// What the compiler does not see: the bounds of a number (From, Below), a real number that is none
// or negative (Check), a default that no peer accepts, a signed body longer than kMaxSmallBodyBytes
// (limits.h). After a change that older peers do not read, raise kProtocolDraft (messages.h), or
// kRecordingVersion for recordings.
//
// Check(record), where there is one, says what must hold between the fields. Everything that comes
// from a peer is checked by the list and then by Check. It is declared here, or is not called.
//
// Thread safety: constants and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "node/base/status.h"
#include "node/wire/block.h"
#include "node/wire/evidence_codec.h"
#include "node/wire/limits.h"
#include "node/wire/messages.h"
#include "node/wire/recording_codec.h"

namespace ostraka::wire {

// The smallest and the largest value of a number or an enumeration.
struct Range {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
};

inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// No order: a list may repeat its elements.
struct Unordered {};

// What an access to the schema does: the four functions that Cap'n Proto generates for a field.
enum class Verb { kGet, kSet, kInit, kHas };
template <Verb verb>
using Do = std::integral_constant<Verb, verb>;

// How a field stands in the schema, if not by one name: these three for a record or a list of them,
// Flagged for an optional number, SpreadOver for an array.
struct Inline {};    // its fields are fields of the record around it
struct Columnar {};  // a list of records whose k-th fields are one list in the record around it
struct Custom {};    // a codec of its own (block_codec.cpp)

// One field. `of(record)` is the member; `access(schema, verb, ...)` calls the schema's function.
template <typename Of, typename Access, typename Order>
struct Field {
  std::string_view name;  // in reasons of a refusal: words, not identifiers
  Of of;
  Access access;
  Order order;
  Range range;
  std::size_t count = kNoLimit;  // at most so many elements of a list, or bytes
  std::size_t each = kNoLimit;   // at most so many bytes of each element

  constexpr Field AtMost(std::size_t limit) const {
    Field field = *this;
    field.count = limit;
    return field;
  }
  constexpr Field Each(std::size_t limit) const {
    Field field = *this;
    field.each = limit;
    return field;
  }
  constexpr Field From(std::uint64_t min, std::uint64_t max) const {
    Field field = *this;
    field.range = {min, max};
    return field;
  }
  constexpr Field Below(std::uint64_t end) const { return From(0, end - 1); }
  // `key(element)` ascends strictly.
  template <typename Key>
  constexpr auto Ascending(Key key) const {
    return Field<Of, Access, Key>{name, of, access, key, range, count, each};
  }
  constexpr auto Ascending() const { return Ascending(std::identity{}); }
};

// Two fields of the schema for one optional number: a flag, and the number or zero.
template <typename Flag, typename Number>
struct Flagged {
  Flag flag;
  Number number;
};
template <typename Flag, typename Number>
Flagged(Flag, Number) -> Flagged<Flag, Number>;

// An array whose k-th element is a field of its own.
template <typename... Access>
struct Spread {
  std::tuple<Access...> each;
};
template <typename... Access>
constexpr auto SpreadOver(Access... access) {
  return Spread<Access...>{{access...}};
}

// The list of `Record`.
template <typename Record>
using Of = std::type_identity<Record>;

// The list of a record. A template, so a source compiles only the lists that it uses.
#define FIELDS(Record)       \
  template <typename = void> \
  constexpr auto FieldsOf(Of<Record>)
// SCHEMA(Step): schema.getStep(), schema.setStep(value), schema.initStep(count), schema.hasStep().
#define SCHEMA(Name)                                             \
  [](auto& schema, auto verb, auto... value) -> decltype(auto) { \
    if constexpr (verb == ::ostraka::wire::Verb::kGet) {         \
      return schema.get##Name();                                 \
    } else if constexpr (verb == ::ostraka::wire::Verb::kSet) {  \
      return schema.set##Name(value...);                         \
    } else if constexpr (verb == ::ostraka::wire::Verb::kInit) { \
      return schema.init##Name(value...);                        \
    } else {                                                     \
      return schema.has##Name();                                 \
    }                                                            \
  }
#define FIELD_AS(name, member, access) \
  ::ostraka::wire::MakeField(          \
      name, [](auto& record) -> auto& { return record.member; }, access)
#define FIELD(name, member, Name) FIELD_AS(name, member, SCHEMA(Name))

// The size of the name is its literal's: a strlen for each field read was 3 % of a simulated run.
template <std::size_t size, typename Of, typename Access>
constexpr auto MakeField(const char (&name)[size], Of of, Access access) {
  return Field<Of, Access, Unordered>{std::string_view(name, size - 1), of, access, {}, {}};
}

// --- parts of messages --------------------------------------------------------------------------

FIELDS(Slot) {
  return std::tuple(FIELD("run id", run_id, RunId), FIELD("incarnation", incarnation, Incarnation),
                    FIELD("step", step, Step), FIELD("phase", phase, Phase).Below(kPhaseCount),
                    FIELD("type", type, Type).Below(kMessageTypeCount), FIELD("draw", draw, Draw),
                    FIELD("iteration", iteration, Iteration));
}
base::Status Check(const Slot& slot);

FIELDS(Envelope) {
  return std::tuple(FIELD("slot", slot, Slot), FIELD("entry", entry, Entry),
                    FIELD("sender", sender, Sender),
                    FIELD("body", body, Body).AtMost(kMaxFrameBytes));
}
base::Status Check(const Envelope& envelope);

FIELDS(TensorHeader) {
  return std::tuple(FIELD("element type", element, Element).Below(kElementTypeCount),
                    FIELD("codec", codec, Codec).Below(kCodecCount),
                    FIELD("shape", shape, Shape).AtMost(kMaxTensorRank));
}

FIELDS(Invite) {
  return std::tuple(
      FIELD("moderator", moderator, Moderator), FIELD("holder", holder, Holder),
      FIELD("uses", uses, Uses).From(1, kMaxInviteUses), FIELD("ends step", ends_step, EndsStep),
      FIELD("invite kind", kind, Kind).Below(kInviteKindCount), FIELD("anchor", anchor, Anchor));
}

FIELDS(Revocation) {
  return std::tuple(FIELD("moderator", moderator, Moderator),
                    FIELD("revoked invite", invite, Invite),
                    FIELD("signature", by_moderator, ByModerator));
}
base::Status Check(const Revocation& revocation);

FIELDS(Credential) {
  return std::tuple(FIELD("invite", invite, Invite),
                    FIELD("signature of the moderator", by_moderator, ByModerator),
                    FIELD("signature of the holder", by_holder, ByHolder));
}

FIELDS(Voucher) {
  return std::tuple(FIELD("invite", invite, Invite), FIELD("moderator", moderator, Moderator),
                    FIELD("uses", uses, Uses).From(1, kMaxInviteUses),
                    FIELD("ends step", ends_step, EndsStep),
                    FIELD("invite kind", kind, Kind).Below(kInviteKindCount));
}

FIELDS(Arrival) {
  return std::tuple(FIELD("arriving peer", peer, Peer), FIELD("voucher", voucher, Voucher));
}

FIELDS(ColumnNumbers) {
  return std::tuple(FIELD("missing", missing, Missing),
                    FIELD_AS("s", s, (SpreadOver(SCHEMA(S0), SCHEMA(S1), SCHEMA(S2), SCHEMA(S3)))),
                    FIELD("norm", norm, Norm), FIELD("size", size, Size));
}
base::Status Check(const ColumnNumbers& numbers);

FIELDS(Accusation) {
  return std::tuple(FIELD("accused", target, Target), FIELD("step", step, Step));
}

FIELDS(CaseId) {
  return std::tuple(FIELD("case kind", kind, Kind).Below(kCaseKindCount),
                    FIELD("accuser", accuser, Accuser), FIELD("target", target, Target),
                    FIELD("step", step, Step), FIELD("column", column, Column).Below(kMaxParts));
}
base::Status Check(const CaseId& id);

FIELDS(Vote) {
  return std::tuple(FIELD("about", about, About),
                    FIELD("verdict", verdict, Verdict).Below(kVerdictCount));
}

FIELDS(Naming) {
  return std::tuple(FIELD("named", target, Target), FIELD("step", step, Step),
                    FIELD("column", column, Column).Below(kMaxParts));
}

// --- bodies -------------------------------------------------------------------------------------

FIELDS(Boot) {
  return std::tuple(FIELD("boot id", boot_id, BootId),
                    FIELD("protocol version", protocol_version, ProtocolVersion));
}

FIELDS(Commit) {
  return std::tuple(FIELD("coins root", coins_root, CoinsRoot),
                    FIELD("coin count", coin_count, CoinCount).From(1, kMaxCoins),
                    FIELD("gradient root", gradient_root, GradientRoot),
                    FIELD("parameters root", parameters_root, ParametersRoot),
                    FIELD("only dials", only_dials, OnlyDials), FIELD("leaving", leaving, Leaving),
                    FIELD("revokes", revokes, Revokes),
                    FIELD("next batches", next_batches, NextBatches));
}

FIELDS(Part) {
  return std::tuple(FIELD("header", header, Header), FIELD("root", root, Root),
                    FIELD("path", path, Path).AtMost(kMaxMerklePath));
}

FIELDS(Aggregate) {
  return std::tuple(FIELD("part index", part_index, PartIndex).Below(kMaxParts),
                    FIELD("result root", result_root, ResultRoot),
                    FIELD("included", included, Included).AtMost(kMaxPeers / 8),
                    FIELD("leaves root", leaves_root, LeavesRoot),
                    FIELD("commits root", commits_root, CommitsRoot),
                    FIELD("slowest", slowest, Slowest));
}

FIELDS(Result) { return std::tuple(FIELD("header", header, Header), FIELD("root", root, Root)); }

FIELDS(crypto::Coin) { return std::tuple(FIELD("coin", value, Coin), FIELD("salt", salt, Salt)); }

FIELDS(crypto::CoinOpening) {
  return std::tuple(FIELD_AS("coin", coin, Inline{}),
                    FIELD("path", path, Path).AtMost(kMaxMerklePath));
}

FIELDS(Reveal) { return std::tuple(FIELD_AS("opening", opening, Inline{})); }

FIELDS(Proof) {
  return std::tuple(
      FIELD("columns", columns, Columns).AtMost(kMaxParts),
      FIELD("accusation", accusation, Accusation), FIELD("naming", naming, Naming),
      FIELD("votes", votes, Votes).AtMost(kMaxVotes), FIELD("state root", state_root, StateRoot),
      FIELD("evidence", evidence, Evidence).AtMost(kMaxInlineEvidence).Each(kMaxEvidenceBytes),
      FIELD("held", held, Held).AtMost(kMaxHeldBytes),
      FIELD("silent", silent, Silent).AtMost(kMaxPeers / 8),
      FIELD("joins", joins, Joins).AtMost(kMaxPeers).Ascending(), FIELD("lag", lag_us, LagUs),
      FIELD("hasty", hasty, Hasty).AtMost(kMaxPeers / 8),
      FIELD("unshown", unshown, Unshown).AtMost(kMaxPeers / 8),
      FIELD("late", late_ms, LateMs).AtMost(2 * kMaxPeers),
      FIELD("arrivals", arrivals, Arrivals).AtMost(kMaxArrivals).Ascending(&Arrival::peer));
}
base::Status Check(const Proof& proof);

FIELDS(Echo) {
  return std::tuple(FIELD("vector", vector, Vector),
                    FIELD("present", present, Present).AtMost(kMaxBitmapBytes),
                    FIELD("equivocated", equivocated, Equivocated).AtMost(kMaxBitmapBytes));
}

// Of a lock: 1 + kMaxIterations is one by the votes of the last iteration.
inline constexpr std::uint64_t kMaxRank = 1 + kMaxIterations;

FIELDS(SealStatus) {
  return std::tuple(FIELD("rank", rank, Rank).From(0, kMaxRank), FIELD("value", value, Value));
}

FIELDS(Propose) {
  return std::tuple(FIELD("rank", rank, Rank).From(0, kMaxRank), FIELD("value", value, Value),
                    FIELD("statuses", statuses, Statuses).AtMost(kMaxPeers / 8),
                    FIELD("statuses root", statuses_root, StatusesRoot));
}
base::Status Check(const Propose& propose);

FIELDS(SealVote) {
  return std::tuple(FIELD("value", value, Value), FIELD("rank", rank, Rank).From(0, kMaxRank));
}

FIELDS(Lock) { return std::tuple(FIELD("value", value, Value)); }

FIELDS(Close) { return std::tuple(); }

FIELDS(Rejoin) {
  return std::tuple(FIELD("nonce", nonce, Nonce), FIELD("credential", credential, Credential));
}

FIELDS(Pull) {
  return std::tuple(FIELD("pull kind", kind, Kind).Below(kPullKindCount),
                    FIELD("type", type, Type).Below(kMessageTypeCount),
                    FIELD("members", members, Members).AtMost(kMaxPeers / 8),
                    FIELD("digests", digests, Digests).AtMost(kMaxPullDigests),
                    FIELD("index", index, Index));
}

FIELDS(VectorEntry) {
  return std::tuple(FIELD("state", state, States).Below(3), FIELD("digest", digest, Digests));
}
base::Status Check(const VectorEntry& entry);

FIELDS(Vector) {
  return std::tuple(FIELD_AS("entries", entries, Columnar{}).AtMost(kMaxVectorEntries));
}

FIELDS(BlockMessage) {
  return std::tuple(FIELD("digest", digest, Digest), FIELD("head", head, Head));
}

FIELDS(Chunk) {
  return std::tuple(FIELD("step", step, Step), FIELD("index", index, Index),
                    FIELD("count", count, Count));
}
base::Status Check(const Chunk& chunk);

FIELDS(Forward) {
  return std::tuple(FIELD("from", from, From), FIELD("to", to, To),
                    FIELD("frame", frame, Frame).AtMost(kMaxForwardedBytes));
}

// --- the block ----------------------------------------------------------------------------------

FIELDS(Removal) {
  return std::tuple(FIELD("removed peer", peer, Peer),
                    FIELD("removal kind", kind, Kind).Below(kRemovalKindCount),
                    FIELD("step", step, Step), FIELD_AS("reason", reason, Inline{}));
}

FIELDS(Reason) {
  return std::tuple(FIELD("cause", cause, Cause).Below(kCauseCount),
                    FIELD("entry", entry, Entry).Below(kMessageTypeCount),
                    FIELD("first fault", first_fault, FirstFault), FIELD("other", other, Other),
                    FIELD("step of the fault", step, FaultStep), FIELD("part", part, Part),
                    FIELD("count", count, Count), FIELD("of", of, Of),
                    FIELD("reason", old_text, Reason).AtMost(kMaxReasonBytes));
}
base::Status Check(const Reason& reason);

FIELDS(Covering) {
  return std::tuple(FIELD("column", column, Column).Below(kMaxParts), FIELD("owner", owner, Owner));
}

FIELDS(Case::Ballot) {
  return std::tuple(FIELD("voter", voter, Voters),
                    FIELD("verdict", verdict, Verdicts).Below(kVerdictCount));
}

FIELDS(Case) {
  return std::tuple(
      FIELD("id", id, Id), FIELD("opened step", opened_step, OpenedStep),
      FIELD_AS("ballots", ballots, Columnar{}).AtMost(kMaxPeers),
      FIELD("covering", covering, Covering).AtMost(kMaxParts).Ascending(&Covering::column),
      FIELD("fault bound", fault_bound, FaultBound));
}

FIELDS(Block::Column) {
  return std::tuple(FIELD("owner", owner, Owner),
                    FIELD_AS("senders", senders, Custom{}).AtMost(kMaxPeers).Ascending());
}

FIELDS(Assignment) {
  return std::tuple(
      FIELD("validator", validator, Validator), FIELD("target", target, Target),
      FIELD("step", step, Step),
      FIELD("covering", covering, Covering).AtMost(kMaxParts).Ascending(&Covering::column),
      FIELD("works", works, Works));
}

FIELDS(Dispute) {
  return std::tuple(FIELD("worker", worker, Worker), FIELD("aggregator", aggregator, Aggregator),
                    FIELD("since", since, Since));
}

FIELDS(Standing) {
  return std::tuple(
      FIELD("peer", peer, Peer), FIELD("banned", banned, Banned), FIELD("drops", drops, Drops),
      FIELD("last drop step", last_drop_step, LastDropStep),
      FIELD("barred until", barred_until, BarredUntil), FIELD("erred", erred, Erred),
      FIELD("left step", left_step, LeftStep), FIELD("returned step", returned_step, ReturnedStep),
      FIELD("came step", came_step, CameStep), FIELD("erred in", erred_in, ErredIn));
}

FIELDS(Candidate) {
  return std::tuple(FIELD("peer", peer, Peer), FIELD("since", since, Since),
                    FIELD("confirmed", confirmed, Confirmed), FIELD("voucher", voucher, Voucher));
}

FIELDS(UsedInvite) {
  return std::tuple(FIELD("invite", invite, Invite), FIELD("used", used, Used),
                    FIELD("ends step", ends_step, EndsStep), FIELD("revoked", revoked, Revoked),
                    FIELD("users", users, Users).AtMost(kMaxPeers).Ascending());
}
base::Status Check(const UsedInvite& invite);

FIELDS(Moderator) {
  return std::tuple(FIELD("moderator", peer, Peer), FIELD("admitted", admitted, Admitted),
                    FIELD("revoked", revoked, Revoked));
}

FIELDS(Lateness) { return std::tuple(FIELD("peer", peer, Peer), FIELD("ms", ms, Ms)); }

FIELDS(Voids) {
  return std::tuple(FIELD("peer", peer, Peer), FIELD("count", count, Count),
                    FIELD("last step", last_step, LastStep));
}

FIELDS(Reach) {
  return std::tuple(FIELD("peer", peer, Peer), FIELD("only dials", only_dials, OnlyDials),
                    FIELD("changes from", changes_from, ChangesFrom));
}

FIELDS(BatchCount) {
  return std::tuple(FIELD("peer", peer, Peer), FIELD("count", count, Count).From(1, kMaxBatches));
}

FIELDS(Thresholds) {
  return std::tuple(FIELD("n", n, N), FIELD("t_s", t_s, TS), FIELD("t_a", t_a, TA));
}
base::Status Check(const Thresholds& thresholds);

FIELDS(Block) {
  constexpr auto pair = [](const Dispute& dispute) {
    return std::pair(dispute.worker, dispute.aggregator);
  };
  return std::tuple(
      FIELD("step", step, Step), FIELD("genesis", genesis, Genesis),
      FIELD("decision", decision, Decision), FIELD("previous", previous, Previous),
      FIELD("randomness", randomness, Randomness),
      FIELD("members", members, Members).AtMost(kMaxPeers).Ascending(),
      FIELD_AS("thresholds", thresholds, Inline{}), FIELD("tau", tau, Tau),
      FIELD("columns", columns, Columns).AtMost(kMaxParts).Below(kColumnFateCount),
      FIELD("removals", removals, Removals).AtMost(kMaxKeys),
      FIELD("cases", cases, Cases).AtMost(kMaxCases), FIELD("state root", state_root, StateRoot),
      FIELD("result roots", result_roots, ResultRoots).AtMost(kMaxParts),
      FIELD_AS("aggregated", aggregated, Custom{}).AtMost(kMaxParts),
      FIELD("drawn", drawn, Drawn).AtMost(kMaxPeers),
      FIELD("proven", proven, Proven).AtMost(kMaxPeers).Ascending(),
      FIELD("owing", owing, Owing).AtMost(kMaxPeers).Ascending(),
      FIELD("disputes", disputes, Disputes).AtMost(kMaxDisputes).Ascending(pair),
      FIELD("standings", standings, Standings).AtMost(kMaxKeys).Ascending(&Standing::peer),
      FIELD("candidates", candidates, Candidates)
          .AtMost(kMaxCandidates)
          .Ascending(&Candidate::peer),
      FIELD("joined", joined, Joined).AtMost(kMaxPeers).Ascending(),
      FIELD_AS("last removal step", last_removal_step,
               (Flagged{SCHEMA(AnyRemoval), SCHEMA(LastRemovalStep)})),
      FIELD("delta", delta_us, DeltaUs),
      FIELD("lateness", lateness, Lateness).AtMost(kMaxPeers).Ascending(&Lateness::peer),
      FIELD("voids", voids, Voids).AtMost(kMaxKeys).Ascending(&Voids::peer),
      FIELD("closing", closing, Closing).From(0, kClosingSteps + 1),
      FIELD("reach", reach, Reach).AtMost(kMaxKeys).Ascending(&Reach::peer),
      FIELD("leaving", leaving, Leaving).AtMost(kMaxPeers).Ascending(),
      FIELD("t_s in role", t_s_in_role, TSInRole),
      FIELD("left", left, Left).AtMost(kMaxPeers).Ascending(),
      FIELD("invites", invites, Invites).AtMost(kMaxUsedInvites).Ascending(&UsedInvite::invite),
      FIELD("moderators", moderators, Moderators)
          .AtMost(kMaxModerators)
          .Ascending(&Moderator::peer),
      FIELD("peak t_s", peak_t_s, PeakTS), FIELD("peak step", peak_step, PeakStep),
      FIELD("part wait", part_us, PartUs),
      FIELD("batch counts", batch_counts, BatchCounts)
          .AtMost(kMaxPeers)
          .Ascending(&BatchCount::peer),
      FIELD("alarm until", alarm_until, AlarmUntil));
}
base::Status Check(const Block& block);

// --- files --------------------------------------------------------------------------------------

FIELDS(EvidenceFile) {
  return std::tuple(FIELD("version", version, Version).From(kEvidenceVersion, kEvidenceVersion),
                    FIELD("kind", kind, Kind).Below(kEvidenceKindCount),
                    FIELD("accused", accused, Accused), FIELD("slot", slot, Slot),
                    FIELD("frames", frames, Frames).AtMost(kMaxEvidenceFrames).Each(kMaxFrameBytes),
                    FIELD("attachments", attachments, Attachments).AtMost(kMaxEvidenceAttachments),
                    FIELD("block", block, Block).AtMost(kMaxEvidenceFileBytes));
}

FIELDS(Handover) {
  return std::tuple(
      FIELD("version", version, Version).From(kEvidenceVersion, kEvidenceVersion),
      FIELD("block", block, Block).AtMost(kMaxEvidenceFileBytes),
      FIELD("frames", frames, Frames).AtMost(kMaxEvidenceFrames).Each(kMaxFrameBytes));
}

// --- recordings ---------------------------------------------------------------------------------

FIELDS(RecordedTensor) {
  return std::tuple(FIELD("name", name, Name).AtMost(kMaxTensorName),
                    FIELD("shape", shape, Shape).AtMost(kMaxTensorRank));
}
base::Status Check(const RecordedTensor& tensor);

FIELDS(RecordingHead) {
  return std::tuple(
      FIELD("version", version, Version).From(kRecordingVersion, kRecordingVersion),
      FIELD("protocol version", protocol_version, ProtocolVersion), FIELD("draft", draft, Draft),
      FIELD("manifest", manifest, Manifest).AtMost(kMaxRecordedBytes), FIELD("self", self, Self),
      FIELD("layout", layout, Layout).AtMost(kMaxRecordedTensors),
      FIELD("state", state, State).AtMost(kMaxRecordedBytes),
      FIELD("credential", credential, Credential),
      FIELD("anchor", anchor, Anchor).AtMost(kMaxBlockBytes),
      FIELD("guest bytes", guest_bytes_a_second, GuestBytesASecond),
      FIELD("program", program, Program).AtMost(kMaxProgramName));
}

FIELDS(RecordedRow) {
  return std::tuple(
      FIELD("record kind", kind, Kind), FIELD("key", key, Key).AtMost(kMaxRecordedBytes),
      FIELD("value", value, Value).AtMost(kMaxRecordedBytes), FIELD("has blob", has_blob, HasBlob),
      FIELD("blob", blob, Blob).AtMost(kMaxRecordedBytes));
}
base::Status Check(const RecordedRow& row);

FIELDS(RecordedStore) {
  return std::tuple(
      FIELD("blocks", blocks, Blocks).AtMost(kMaxRecords),
      FIELD("slots", slots, Slots).AtMost(kMaxRecords), FIELD("state", state, State),
      FIELD("results", results, Results).AtMost(kMaxRecords), FIELD("member", member, Member),
      FIELD_AS("asks since", asks_since, (Flagged{SCHEMA(Asked), SCHEMA(AsksSince)})),
      FIELD("fork", fork, Fork).AtMost(kMaxFrameBytes), FIELD("handover", handover, Handover),
      FIELD("state parts", state_parts, StateParts).AtMost(kMaxRecords));
}

FIELDS(RecordedWishes) {
  return std::tuple(FIELD("dials", dials, Dials).Below(kDialsCount),
                    FIELD("leaves", leaves, Leaves), FIELD("leave from", leave_from, LeaveFrom),
                    FIELD("leave until", leave_until, LeaveUntil),
                    FIELD("tells revocations", tells_revocations, TellsRevocations),
                    FIELD("revocations", revocations, Revocations).AtMost(kMaxRecords),
                    FIELD("compute percent", compute_percent, ComputePercent).From(0, 100));
}

FIELDS(RecordedResult) {
  return std::tuple(FIELD("kind", kind, Kind), FIELD("hash", hash, Hash),
                    FIELD("gradient", gradient, Gradient).AtMost(kMaxRecordedBytes),
                    FIELD("accuse", accuse, Accuse), FIELD("convict", convict, Convict),
                    FIELD("worst ratio", worst_ratio, WorstRatio),
                    FIELD("false gradient", false_gradient, FalseGradient),
                    FIELD("unsure", unsure, Unsure),
                    FIELD("failure", failure, Failure).AtMost(kMaxFrameBytes));
}

FIELDS(RecordedInput) {
  return std::tuple(
      FIELD("time", at, At), FIELD("input", input, Input), FIELD("peer", peer, Peer),
      FIELD("up", up, Up), FIELD("id", id, Id),
      FIELD("frame", frame, Frame).AtMost(kMaxRecordedBytes), FIELD("has blob", has_blob, HasBlob),
      FIELD("blob", blob, Blob).AtMost(kMaxRecordedBytes), FIELD("store", store, Store),
      FIELD("wishes", wishes, Wishes), FIELD("result", result, Result));
}

FIELDS(RecordedOutcome) {
  return std::tuple(FIELD("actions", actions, Actions),
                    FIELD("said", said, Said).AtMost(kMaxRecords).Each(kMaxFrameBytes));
}

#undef FIELDS
#undef FIELD
#undef FIELD_AS
#undef SCHEMA

// --- walking over a list ------------------------------------------------------------------------

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <typename T>
concept Record = requires {
  FieldsOf(Of<T>{});
};

// Calls `visit(field)` for each field in the order of the list.
template <Record T, typename Visit>
constexpr void ForEachField(Visit visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, FieldsOf(Of<T>{}));
}

}  // namespace ostraka::wire
