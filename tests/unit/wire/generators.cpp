#include "tests/unit/wire/generators.h"

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "node/wire/fields.h"

namespace ostraka::wire {
namespace {

// Small counts are as likely as the limit; rapidcheck's own sizes would never reach 256.
std::size_t AnyCount(std::size_t max) {
  const auto small = rc::gen::inRange<std::size_t>(0, std::min<std::size_t>(max, 4) + 1);
  return *rc::gen::weightedOneOf<std::size_t>(
      {{6, small}, {2, rc::gen::inRange<std::size_t>(0, max + 1)}, {1, rc::gen::just(max)}});
}

// Records and bytes at most: their limits would make blocks of megabytes.
constexpr std::size_t kMostRecords = 8;
constexpr std::size_t kMostBytes = 2048;

// 32 bytes of one drawn word each: cheap, and zero is among them.
template <typename Id>
Id AnyId() {
  const auto word = *rc::gen::arbitrary<std::uint64_t>();
  Id id;
  for (std::size_t i = 0; i < Id::kSize; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(word >> 8 * (i % 8));
  }
  return id;
}

// Any bits: NaNs with payloads, infinities and denormals too.
double AnyDouble() {
  return std::bit_cast<double>(
      *rc::gen::oneOf(rc::gen::arbitrary<std::uint64_t>(),
                      rc::gen::element<std::uint64_t>(0, 0x8000000000000000, 0x7ff0000000000001,
                                                      0xfff8000000000000, 0x7ff0000000000000, 1)));
}

// Any number of the range that T holds: both ends are as likely as all between them.
template <typename T>
T AnyNumber(const Range& range) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(AnyNumber<std::uint8_t>(range));
  } else {
    const std::uint64_t max = std::min<std::uint64_t>(range.max, std::numeric_limits<T>::max());
    const std::uint64_t width = max - range.min;
    const auto any = *rc::gen::arbitrary<std::uint64_t>();
    const auto inside = width == ~std::uint64_t{0} ? any : any % (width + 1);
    const std::uint64_t small = std::min<std::uint64_t>(any % 4, width);
    const std::array<std::uint64_t, 5> drawn = {inside, inside, small, 0, width};
    return static_cast<T>(range.min + drawn[*rc::gen::inRange<std::size_t>(0, drawn.size())]);
  }
}

template <typename T>
T AnyValue(const Range& range, std::size_t count, std::size_t each);

template <Record T>
T AnyRecord();

std::string AnyText(std::size_t max) {
  const auto printable = rc::gen::inRange<int>(0x20, 0x7f);
  std::string text(AnyCount(max), ' ');
  for (char& c : text) c = static_cast<char>(*printable);
  return text;
}

template <typename T>
T AnyList(const Range& range, std::size_t count, std::size_t each) {
  using Item = typename T::value_type;
  T items(AnyCount(Record<Item> ? std::min(count, kMostRecords) : count));
  for (auto& item : items) item = AnyValue<Item>(range, each, kNoLimit);
  return items;
}

template <typename T>
T AnyValue(const Range& range, std::size_t count, std::size_t each) {
  if constexpr (std::is_same_v<T, bool>) {
    return *rc::gen::arbitrary<bool>();
  } else if constexpr (std::is_same_v<T, double>) {
    return AnyDouble();
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    return AnyNumber<T>(range);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return AnyText(count);
  } else if constexpr (std::is_same_v<T, Bytes>) {
    return AnyBytes(std::min(count, kMostBytes));
  } else if constexpr (std::is_same_v<T, crypto::Signature>) {
    crypto::Signature signature;
    const Digest word = AnyDigest();
    std::copy(word.bytes.begin(), word.bytes.end(), signature.bytes.begin());
    return signature;
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    T array;
    for (auto& item : array) item = AnyValue<typename T::value_type>(range, count, each);
    return array;
  } else if constexpr (kIsVector<T>) {
    return AnyList<T>(range, count, each);
  } else if constexpr (kIsOptional<T>) {
    if (*rc::gen::arbitrary<bool>()) return std::nullopt;
    return AnyValue<typename T::value_type>(range, count, each);
  } else if constexpr (Record<T>) {
    return AnyRecord<T>();
  } else {
    return AnyId<T>();
  }
}

// --- what Check wants of a record ---------------------------------------------------------------

template <typename T>
void Mend(T& /*record*/) {}

void Mend(Slot& slot) {
  switch (slot.type) {
    case MessageType::kBoot:
      slot.phase = Phase::kGenesis;
      break;
    case MessageType::kCommit:
    case MessageType::kPart:
    case MessageType::kAggregate:
    case MessageType::kResult:
      slot.phase = Phase::kA;
      break;
    case MessageType::kReveal:
      slot.phase = Phase::kB;
      break;
    case MessageType::kProof:
    case MessageType::kRejoin:
      slot.phase = Phase::kC;
      break;
    case MessageType::kStatus:
    case MessageType::kPropose:
    case MessageType::kVote:
    case MessageType::kLock:
    case MessageType::kClose:
      if (slot.phase == Phase::kGenesis) slot.phase = Phase::kB;
      break;
    case MessageType::kEcho:
    case MessageType::kPull:
    case MessageType::kVector:
    case MessageType::kBlock:
    case MessageType::kChunk:
    case MessageType::kForward:
      break;
  }
  if (slot.phase != Phase::kB) slot.draw = 0;
  const bool is_part = slot.type == MessageType::kPart || slot.type == MessageType::kResult;
  const bool is_slow = slot.type == MessageType::kStatus || slot.type == MessageType::kPropose ||
                       slot.type == MessageType::kVote || slot.type == MessageType::kLock;
  slot.iteration = is_part   ? slot.iteration % kMaxParts
                   : is_slow ? slot.iteration % kMaxIterations + 1
                             : 0;
}

void Mend(Envelope& envelope) {
  const bool is_short = envelope.slot.type != MessageType::kProof && !IsService(envelope.slot.type);
  if (is_short) envelope.body.resize(std::min(envelope.body.size(), kMaxSmallBodyBytes));
}

void Mend(Revocation& revocation) {
  if (revocation.invite) revocation.moderator = revocation.invite->moderator;
}

void Mend(ColumnNumbers& numbers) {
  if (!numbers.missing) return;
  numbers.s = {};
  numbers.norm = 0;
}

void Mend(CaseId& id) {
  if (id.kind == CaseKind::kGradient) id.column = 0;
}

void Mend(Proof& proof) {
  std::erase_if(proof.arrivals, [&](const Arrival& arrival) {
    return std::binary_search(proof.joins.begin(), proof.joins.end(), arrival.peer);
  });
}

void Mend(Propose& propose) {
  if (propose.rank == 0) return;
  propose.statuses = {};
  propose.statuses_root = {};
}

void Mend(VectorEntry& entry) {
  if (entry.state != 1) entry.digest = {};
}

void Mend(Chunk& chunk) {
  chunk.count = std::max<std::uint64_t>(chunk.count, 1);
  chunk.index %= chunk.count;
}

void Mend(Reason& reason) {
  if (reason.cause != Cause::kOldText) reason.old_text.clear();
}

void Mend(UsedInvite& invite) {
  if (invite.revoked) invite.users.clear();
  invite.users.resize(std::min<std::size_t>(invite.users.size(), kMostRecords));
  invite.used = std::max(invite.used, static_cast<std::uint32_t>(invite.users.size()));
}

void Mend(Thresholds& thresholds) {
  thresholds.t_s = std::min(thresholds.t_s, thresholds.n);
  thresholds.t_a = std::min(thresholds.t_a, thresholds.n);
}

void Mend(Block& block) {
  const std::uint64_t most = block.genesis ? 0 : block.step + 1;
  if (block.closing > most) block.closing = static_cast<std::uint16_t>(most);
}

// ------------------------------------------------------------------------------------------------

template <typename Item, typename Key>
void Ascend(std::vector<Item>& items, const Key& key) {
  const auto of = [&](const Item& item) { return std::invoke(key, item); };
  std::sort(items.begin(), items.end(),
            [&](const Item& a, const Item& b) { return of(a) < of(b); });
  const auto last = std::unique(items.begin(), items.end(),
                                [&](const Item& a, const Item& b) { return of(a) == of(b); });
  items.erase(last, items.end());
}

template <Record T>
T AnyRecord() {
  T record;
  ForEachField<T>([&](const auto& field) {
    auto& value = field.of(record);
    value = AnyValue<std::remove_cvref_t<decltype(value)>>(field.range, field.count, field.each);
    if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(field.order)>, Unordered>) {
      Ascend(value, field.order);
    }
  });
  Mend(record);
  return record;
}

// Half of the columns include senders of one small set, like the workers of a run.
std::vector<Block::Column> AnyAggregated(std::vector<Block::Column> columns) {
  auto workers = AnyList<std::vector<PeerId>>({}, 20, kNoLimit);
  Ascend(workers, std::identity{});
  for (Block::Column& column : columns) {
    column.senders.resize(std::min<std::size_t>(column.senders.size(), kMostRecords));
    if (*rc::gen::arbitrary<bool>()) continue;
    column.senders.clear();
    for (const PeerId& worker : workers) {
      if (*rc::gen::arbitrary<bool>()) column.senders.push_back(worker);
    }
  }
  return columns;
}

}  // namespace

Digest AnyDigest() { return AnyId<Digest>(); }
PeerId AnyPeer() { return AnyId<PeerId>(); }

Bytes AnyBytes(std::size_t max) {
  Bytes bytes(AnyCount(max));
  const auto word = *rc::gen::arbitrary<std::uint64_t>();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>((word >> 8 * (i % 8)) + i);
  }
  return bytes;
}

template <typename T>
T Any() {
  T record = AnyRecord<T>();
  if constexpr (std::is_same_v<T, Block>) {
    record.aggregated = AnyAggregated(std::move(record.aggregated));
  }
  return record;
}

template Boot Any<Boot>();
template Commit Any<Commit>();
template Part Any<Part>();
template Aggregate Any<Aggregate>();
template Result Any<Result>();
template Reveal Any<Reveal>();
template Proof Any<Proof>();
template Echo Any<Echo>();
template SealStatus Any<SealStatus>();
template Propose Any<Propose>();
template SealVote Any<SealVote>();
template Lock Any<Lock>();
template Rejoin Any<Rejoin>();
template Pull Any<Pull>();
template Vector Any<Vector>();
template BlockMessage Any<BlockMessage>();
template Chunk Any<Chunk>();
template Close Any<Close>();
template Forward Any<Forward>();
template Revocation Any<Revocation>();
template Envelope Any<Envelope>();
template Block Any<Block>();
template EvidenceFile Any<EvidenceFile>();
template Handover Any<Handover>();

Envelope AnySignedEnvelope() {
  Envelope envelope = Any<Envelope>();
  while (IsService(envelope.slot.type)) envelope = Any<Envelope>();
  return envelope;
}

}  // namespace ostraka::wire
