#include "node/protocol/recording/entries.h"

#include <bit>
#include <cstring>
#include <span>
#include <utility>
#include <variant>

#include "crypto/domains.h"
#include "crypto/hash_into.h"
#include "crypto/merkle.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {
namespace {

using wire::RecordedInput;
using wire::RecordedResult;
using wire::RecordedRow;
using wire::RecordedStore;
using wire::RecordedWishes;

// The places in the variants are the numbers of the recording.
template <typename Variant, typename T, std::size_t at = 0>
constexpr std::uint8_t NumberOf() {
  if constexpr (std::is_same_v<std::variant_alternative_t<at, Variant>, T>) {
    return at;
  } else {
    return NumberOf<Variant, T, at + 1>();
  }
}
template <typename T>
constexpr std::uint8_t kInput = NumberOf<Input, T>();
template <typename T>
constexpr std::uint8_t kResult = NumberOf<JobResult, T>();

// --- what a store kept --------------------------------------------------------------------------

RecordedRow ToRecorded(const Record& record) {
  const bool has_blob = record.blob != nullptr;
  return {.kind = static_cast<std::uint8_t>(record.kind),
          .key = record.key,
          .value = record.value,
          .has_blob = has_blob,
          .blob = has_blob ? record.blob->data : base::Bytes()};
}

std::vector<RecordedRow> ToRecorded(const std::vector<Record>& records) {
  std::vector<RecordedRow> recorded;
  for (const Record& record : records) recorded.push_back(ToRecorded(record));
  return recorded;
}

std::optional<RecordedRow> ToRecorded(const std::optional<Record>& record) {
  if (!record) return std::nullopt;
  return ToRecorded(*record);
}

RecordedStore ToRecorded(const Restored& store) {
  return {.blocks = ToRecorded(store.blocks),
          .slots = ToRecorded(store.slots),
          .state = ToRecorded(store.state),
          .results = ToRecorded(store.results),
          .member = store.member,
          .asks_since = store.asks_since,
          .fork = store.fork,
          .handover = ToRecorded(store.handover),
          .state_parts = ToRecorded(store.state_parts)};
}

base::StatusOr<Record> FromRecorded(const RecordedRow& recorded) {
  if (recorded.kind > static_cast<std::uint8_t>(RecordKind::kStatePart)) {
    return base::InvalidArgument("a record of the store has an unknown kind");
  }
  Record record{static_cast<RecordKind>(recorded.kind), recorded.key, recorded.value};
  if (recorded.has_blob) record.blob = crypto::MakeBlob(recorded.blob);
  return record;
}

base::StatusOr<std::vector<Record>> FromRecorded(const std::vector<RecordedRow>& recorded) {
  std::vector<Record> records;
  for (const RecordedRow& each : recorded) {
    ASSIGN_OR_RETURN(Record record, FromRecorded(each));
    records.push_back(std::move(record));
  }
  return records;
}

base::StatusOr<std::optional<Record>> FromRecorded(const std::optional<RecordedRow>& recorded) {
  if (!recorded) return std::optional<Record>();
  ASSIGN_OR_RETURN(Record record, FromRecorded(*recorded));
  return std::optional(std::move(record));
}

base::StatusOr<Restored> FromRecorded(const RecordedStore& recorded) {
  Restored store;
  ASSIGN_OR_RETURN(store.blocks, FromRecorded(recorded.blocks));
  ASSIGN_OR_RETURN(store.slots, FromRecorded(recorded.slots));
  ASSIGN_OR_RETURN(store.state, FromRecorded(recorded.state));
  ASSIGN_OR_RETURN(store.results, FromRecorded(recorded.results));
  store.member = recorded.member;
  store.asks_since = recorded.asks_since;
  store.fork = recorded.fork;
  ASSIGN_OR_RETURN(store.handover, FromRecorded(recorded.handover));
  ASSIGN_OR_RETURN(store.state_parts, FromRecorded(recorded.state_parts));
  return store;
}

// --- what the owner wants -----------------------------------------------------------------------

RecordedWishes ToRecorded(const Told& told) {
  using Dials = RecordedWishes::Dials;
  RecordedWishes recorded;
  if (told.only_dials) recorded.dials = *told.only_dials ? Dials::kOnly : Dials::kNotOnly;
  recorded.leaves = told.leave.has_value();
  if (told.leave) {
    recorded.leave_from = told.leave->from;
    recorded.leave_until = told.leave->until;
  }
  recorded.tells_revocations = told.revocations.has_value();
  if (told.revocations) recorded.revocations = *told.revocations;
  recorded.compute_percent = told.compute_percent.value_or(0);
  return recorded;
}

Told FromRecorded(const RecordedWishes& recorded) {
  using Dials = RecordedWishes::Dials;
  Told told;
  if (recorded.dials != Dials::kNotTold) told.only_dials = recorded.dials == Dials::kOnly;
  if (recorded.leaves) told.leave = {recorded.leave_from, recorded.leave_until};
  if (recorded.tells_revocations) told.revocations = recorded.revocations;
  if (recorded.compute_percent > 0) told.compute_percent = recorded.compute_percent;
  return told;
}

// --- results of jobs ----------------------------------------------------------------------------

base::Bytes BytesOf(const SharedVector& floats) {
  const base::ByteView bytes = base::AsBytes(std::span<const float>(*floats));
  return {bytes.begin(), bytes.end()};
}

RecordedResult ToRecorded(const JobResult& result) {
  RecordedResult recorded;
  recorded.kind = static_cast<std::uint8_t>(result.index());
  if (const auto* gradient = std::get_if<GradientResult>(&result)) {
    recorded.gradient = BytesOf(gradient->gradient);
  } else if (const auto* found = std::get_if<RecomputeResult>(&result)) {
    recorded.accuse = found->accuse;
    recorded.convict = found->convict;
    recorded.worst_ratio = found->worst_ratio;
    recorded.false_gradient = found->false_gradient;
    recorded.unsure = found->unsure;
  } else if (const auto* failed = std::get_if<JobFailed>(&result)) {
    recorded.failure = failed->reason;
  } else {
    recorded.hash = HashOf(result);
  }
  return recorded;
}

void FeedBlob(crypto::Hasher& hasher, const SharedBlob& blob) {
  crypto::Feed(hasher, blob->data.size(), blob->root);
}

void FeedFloats(crypto::Hasher& hasher, const SharedVector& floats) {
  hasher.UpdateSized(base::AsBytes(std::span<const float>(*floats)));
}

base::StatusOr<Started> StartedOf(const RecordedInput& turn) {
  Started started;
  started.store_nonce = turn.id;
  if (turn.store) {
    ASSIGN_OR_RETURN(Restored store, FromRecorded(*turn.store));
    started.restored = std::make_shared<const Restored>(std::move(store));
  }
  if (turn.wishes) started.wishes = FromRecorded(*turn.wishes);
  return started;
}

}  // namespace

RecordedInput RecordInput(Time now, const Input& input, bool wanted) {
  RecordedInput turn;
  turn.at = static_cast<std::uint64_t>(now.ns);
  turn.input = static_cast<std::uint8_t>(input.index());
  if (const auto* started = std::get_if<Started>(&input)) {
    turn.id = started->store_nonce;
    if (started->restored != nullptr) turn.store = ToRecorded(*started->restored);
    turn.wishes = ToRecorded(started->wishes);
  } else if (const auto* message = std::get_if<MessageReceived>(&input)) {
    turn.peer = message->from;
    turn.frame = *message->frame;
    turn.has_blob = message->blob != nullptr;
    if (message->blob != nullptr) turn.blob = message->blob->data;
  } else if (const auto* link = std::get_if<LinkChanged>(&input)) {
    turn.peer = link->peer;
    turn.up = link->up;
  } else if (const auto* timer = std::get_if<TimerFired>(&input)) {
    turn.id = timer->id;
  } else if (const auto* job = std::get_if<JobDone>(&input)) {
    turn.id = job->id;
    if (wanted) turn.result = ToRecorded(*job->result);
  } else if (const auto* stored = std::get_if<Stored>(&input)) {
    turn.id = stored->id;
  } else if (const auto* told = std::get_if<Told>(&input)) {
    turn.wishes = ToRecorded(*told);
  }
  return turn;
}

base::StatusOr<Input> InputOf(const RecordedInput& turn) {
  switch (turn.input) {
    case kInput<Started>: {
      ASSIGN_OR_RETURN(Started started, StartedOf(turn));
      return Input(std::move(started));
    }
    case kInput<MessageReceived>:
      return Input(MessageReceived{turn.peer, std::make_shared<const base::Bytes>(turn.frame),
                                   turn.has_blob ? crypto::MakeBlob(turn.blob) : nullptr});
    case kInput<LinkChanged>:
      return Input(LinkChanged{turn.peer, turn.up});
    case kInput<TimerFired>:
      return Input(TimerFired{static_cast<TimerId>(turn.id)});
    case kInput<Stored>:
      return Input(Stored{turn.id});
    case kInput<Told>:
      return Input(turn.wishes ? FromRecorded(*turn.wishes) : Told{});
    default:
      return base::InvalidArgument("an entry is of an unknown kind");
  }
}

Digest HashOf(const JobResult& result) {
  crypto::Hasher hasher(crypto::kDomainRecording);
  crypto::Feed(hasher, result.index());
  if (const auto* gradient = std::get_if<GradientResult>(&result)) {
    FeedFloats(hasher, gradient->gradient);
  } else if (const auto* pack = std::get_if<PackResult>(&result)) {
    for (const SharedBlob& part : pack->parts) FeedBlob(hasher, part);
  } else if (const auto* aggregate = std::get_if<AggregateResult>(&result)) {
    FeedBlob(hasher, aggregate->result);
  } else if (const auto* proof = std::get_if<ProveResult>(&result)) {
    crypto::Feed(hasher, proof->columns);
  } else if (const auto* check = std::get_if<CrossCheckResult>(&result)) {
    crypto::Feed(hasher, check->liars);
  } else if (const auto* found = std::get_if<RecomputeResult>(&result)) {
    crypto::Feed(hasher, found->accuse, found->convict,
                 std::bit_cast<std::uint64_t>(found->worst_ratio), found->false_gradient,
                 found->unsure);
  } else if (const auto* update = std::get_if<UpdateResult>(&result)) {
    FeedFloats(hasher, update->state.parameters);
    for (const StateSlot& slot : update->state.slots) {
      crypto::Feed(hasher, slot.name);
      FeedFloats(hasher, slot.values);
    }
  } else if (const auto* root = std::get_if<RootResult>(&result)) {
    crypto::Feed(hasher, root->root, root->leaves);
  } else if (const auto* parameters = std::get_if<ParametersRootResult>(&result)) {
    crypto::Feed(hasher, parameters->root);
  } else if (const auto* failed = std::get_if<JobFailed>(&result)) {
    crypto::Feed(hasher, failed->reason);
  }
  return hasher.Finish();
}

bool IsHeldWhole(const RecordedResult& recorded) {
  return recorded.kind == kResult<GradientResult> || recorded.kind == kResult<RecomputeResult> ||
         recorded.kind == kResult<JobFailed>;
}

base::StatusOr<JobResult> ResultOf(const RecordedResult& recorded, const JobSpec& spec) {
  if (recorded.kind == kResult<JobFailed>) return JobResult(JobFailed{recorded.failure});
  // The k-th result is of the k-th spec.
  if (recorded.kind != spec.index())
    return base::InvalidArgument("a result is of another kind than its job");
  if (recorded.kind == kResult<RecomputeResult>) {
    return JobResult(RecomputeResult{recorded.accuse, recorded.convict, recorded.worst_ratio,
                                     recorded.false_gradient, recorded.unsure});
  }
  const std::size_t size = std::get<GradientSpec>(spec).parameters->size();
  if (recorded.gradient.size() != size * sizeof(float)) {
    return base::InvalidArgument("a gradient has another size than the model");
  }
  std::vector<float> gradient(size);
  std::memcpy(gradient.data(), recorded.gradient.data(), recorded.gradient.size());
  return JobResult(GradientResult{std::make_shared<const std::vector<float>>(std::move(gradient))});
}

}  // namespace ostraka::protocol
