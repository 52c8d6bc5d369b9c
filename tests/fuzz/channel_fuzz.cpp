// Any bytes where the channel reads plain bytes of a stranger: HELLO, the certificate, and the
// records that carry a blob (node/net/records/record.h); and both ends of a link, driven in any
// order.
//
// Records come from an honest sender with the fuzzer's changes, because nobody can guess a hash:
// arbitrary leaves and chunks would all end at the first check.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "crypto/merkle.h"
#include "crypto/sign.h"
#include "node/base/check.h"
#include "node/base/little_endian.h"
#include "node/net/link/tls_identity.h"
#include "node/net/records/blob_receiver.h"
#include "node/net/records/hello.h"
#include "node/net/records/receive_credit.h"
#include "node/net/records/record.h"
#include "node/net/records/send_queue.h"
#include "tests/fuzz/byte_source.h"

namespace ostraka::net {
namespace {

using base::Bytes;
using fuzz::ByteSource;

constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kMaxBlobBytes = 3 * crypto::kChunkBytes;

void CheckRefusal(const base::Status& status) {
  OSTRAKA_CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  OSTRAKA_CHECK(!status.message().empty());
  OSTRAKA_CHECK(base::MessageOf(status).find('\n') == std::string::npos);
}

void TakeHello(base::ByteView bytes) {
  const auto hello = DecodeHello(bytes, kVersion);
  if (!hello.ok()) return CheckRefusal(hello.status());
  if (hello->version == kVersion) {
    const Bytes again = EncodeHello(*hello);
    OSTRAKA_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  }
  // A HELLO is compatible with itself, and with none of another version, run or protection.
  OSTRAKA_CHECK(CheckCompatible(*hello, *hello).ok());
  Hello other = *hello;
  other.version += 1;
  OSTRAKA_CHECK(!CheckCompatible(other, *hello).ok());
  other = *hello;
  other.run_id.bytes[0] ^= 1;
  OSTRAKA_CHECK(!CheckCompatible(other, *hello).ok());
  other = *hello;
  other.capabilities ^= kCapabilityUnhashed;
  OSTRAKA_CHECK(!CheckCompatible(other, *hello).ok());
}

// The corpus holds certificates of this key.
const crypto::SigningKey& CorpusKey() {
  static const auto key =
      crypto::SigningKey::FromSeed(Bytes(crypto::SigningKey::kSeedSize, std::uint8_t{7}));
  return key;
}

// Only the holder of a key can make a certificate that proves its id.
void TakeCertificate(base::ByteView der) {
  const auto id = PeerIdOfCertificate(der);
  if (!id.ok()) return CheckRefusal(id.status());
  OSTRAKA_CHECK(*id == CorpusKey().id());
}

// Starts from our own certificate, because most other bytes are refused early.
void TakeBentCertificate(ByteSource& source) {
  static const Bytes kOwn = *MakeCertificate(CorpusKey());
  Bytes der = kOwn;
  for (std::size_t edits = source.Below(4); edits > 0; --edits) {
    der[source.Below(der.size())] = source.Byte();
  }
  if (source.Flip()) der.resize(source.Below(der.size() + 8));
  TakeCertificate(der);
}

// The records of one blob, in order, as an honest sender makes them.
struct Record {
  RecordType type = RecordType::kAnnounce;
  Bytes body;
};

std::vector<Record> RecordsOf(const Bytes& frame, const crypto::Blob& blob, bool hashed) {
  Bytes head;
  base::AppendLittleEndian(head, blob.data.size(), 8);
  const base::Digest root = hashed ? blob.root : base::Digest{};
  head.insert(head.end(), root.bytes.begin(), root.bytes.end());
  head.insert(head.end(), frame.begin(), frame.end());
  std::vector<Record> records = {{RecordType::kAnnounce, head}};
  const std::vector<base::Digest> leaves = crypto::ChunkLeaves(blob.data);
  if (hashed && !leaves.empty()) {
    Record record{RecordType::kLeaves, {}};
    for (const base::Digest& leaf : leaves) {
      record.body.insert(record.body.end(), leaf.bytes.begin(), leaf.bytes.end());
    }
    records.push_back(std::move(record));
  }
  for (std::size_t at = 0; at < blob.data.size(); at += crypto::kChunkBytes) {
    const std::size_t end = std::min(blob.data.size(), at + crypto::kChunkBytes);
    records.push_back({RecordType::kChunk,
                       {blob.data.begin() + static_cast<std::ptrdiff_t>(at),
                        blob.data.begin() + static_cast<std::ptrdiff_t>(end)}});
  }
  return records;
}

// Of the length that the source gives: mostly short, at times around the length of a chunk.
crypto::SharedBlob AnyBlob(ByteSource& source) {
  const std::size_t near_chunks = source.Below(4) * crypto::kChunkBytes;
  const std::size_t size = std::min(kMaxBlobBytes, near_chunks + source.Below(512));
  return crypto::MakeBlob(Bytes(size, source.Byte()));
}

void Bend(std::vector<Record>& records, ByteSource& source) {
  const std::size_t at = source.Below(records.size());
  Bytes& body = records[at].body;
  switch (source.Below(6)) {
    case 0:
      if (!body.empty()) body[source.Below(body.size())] ^= source.Byte();
      return;
    case 1:
      return body.resize(source.Below(body.size() + 40));
    case 2:
      records.erase(records.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 3: {
      const Record again = records[at];
      return records.push_back(again);
    }
    case 4:
      std::swap(records[at], records[source.Below(records.size())]);
      return;
    default: {
      const base::ByteView bytes = source.Take(source.Byte());
      body.assign(bytes.begin(), bytes.end());
      return;
    }
  }
}

class Receiving {
 public:
  Receiving(bool allow_unhashed, bool grants)
      : receiver_(kMaxBlobBytes, allow_unhashed), grants_(grants) {}

  // False once the connection is over.
  bool Take(const Record& record) {
    const base::Status status = Pass(record);
    if (!status.ok()) {
      CheckRefusal(status);
      return false;
    }
    while (const auto message = receiver_.Take()) {
      OSTRAKA_CHECK(!message->frame->empty());
      OSTRAKA_CHECK(message->blob->data.size() <= kMaxBlobBytes);
      const base::Digest& root = message->blob->root;
      OSTRAKA_CHECK(root.is_zero() || root == crypto::MerkleRootOfData(message->blob->data));
    }
    return true;
  }

 private:
  base::Status Pass(const Record& record) {
    RETURN_IF_ERROR(credit_.Take(1 + record.body.size()));
    if (credit_.wants_grant() && grants_) credit_.Grant();
    switch (record.type) {
      case RecordType::kAnnounce:
        return receiver_.Announce(record.body);
      case RecordType::kLeaves:
        return receiver_.Leaves(record.body);
      default:
        return receiver_.Chunk(record.body);
    }
  }

  BlobReceiver receiver_;
  ReceiveCredit credit_{kInitialCredit};
  const bool grants_;
};

void TakeBlobs(ByteSource& source) {
  const bool hashed = source.Flip();
  const bool allow_unhashed = !hashed || source.Flip();
  Receiving receiving(allow_unhashed, source.Flip());
  for (std::size_t blobs = 1 + source.Below(3); blobs > 0; --blobs) {
    const base::ByteView frame = source.Take(1 + source.Below(16));
    auto records = RecordsOf({frame.begin(), frame.end()}, *AnyBlob(source), hashed);
    for (std::size_t edits = source.Below(4); edits > 0 && !records.empty(); --edits) {
      Bend(records, source);
    }
    for (const Record& record : records) {
      if (!receiving.Take(record)) return;
    }
  }
}

// --- both ends of a link ------------------------------------------------------------------------

// One end: what it sends, what it receives, and what it may expect.
class End {
 public:
  explicit End(std::uint64_t window) : credit_(window) {}

  void SendControl(const Bytes& frame) {
    if (queue_.PushControl(std::make_shared<const Bytes>(frame)).ok())
      sent_control_.push_back(frame);
  }
  void SendBlob(const Bytes& frame, crypto::SharedBlob blob) {
    sent_blobs_.emplace_back(frame, blob);
    const auto outgoing = std::make_shared<OutgoingBlob>(std::move(blob));
    OSTRAKA_CHECK(queue_.PushBulk(std::make_shared<const Bytes>(frame), outgoing).ok());
  }
  // As Connection does when the other side's bulk data has arrived.
  void Grant() {
    Bytes body;
    base::AppendLittleEndian(body, credit_.Grant(), 8);
    queue_.PushRecord(RecordType::kCredit, std::move(body));
  }
  bool may_write() const { return queue_.has_control() || queue_.has_credit(); }

  // Delivers the next record to `to`, which must accept it: both ends are honest.
  void WriteTo(End& to) {
    const bool has_control = queue_.has_control();
    const SendQueue::Record record = queue_.Next().value();
    Bytes bytes(record.head().begin(), record.head().end());
    bytes.insert(bytes.end(), record.body.begin(), record.body.end());
    OSTRAKA_CHECK(bytes.size() <= kMaxRecordBytes);
    OSTRAKA_CHECK(has_control == !IsBulk(static_cast<RecordType>(bytes[0])));  // control goes first
    to.Take(bytes, *this);
  }
  bool all_arrived() const { return sent_control_.empty() && sent_blobs_.empty(); }

 private:
  void Take(const Bytes& record, End& from) {
    const auto type = static_cast<RecordType>(record[0]);
    const base::ByteView body = base::ByteView(record).subspan(1);
    base::Status status = base::OkStatus();
    if (IsBulk(type)) status = credit_.Take(record.size());
    OSTRAKA_CHECK(status.ok());
    switch (type) {
      case RecordType::kCredit:
        status = queue_.Grant(base::ReadLittleEndian(body));
        break;
      case RecordType::kControl:
        OSTRAKA_CHECK(Bytes(body.begin(), body.end()) == from.sent_control_.front());
        from.sent_control_.pop_front();
        break;
      case RecordType::kAnnounce:
        status = receiver_.Announce(body);
        break;
      case RecordType::kLeaves:
        status = receiver_.Leaves(body);
        break;
      default:
        status = receiver_.Chunk(body);
    }
    OSTRAKA_CHECK(status.ok());
    if (const auto message = receiver_.Take()) {
      OSTRAKA_CHECK(*message->frame == from.sent_blobs_.front().first);
      OSTRAKA_CHECK(message->blob->data == from.sent_blobs_.front().second->data);
      from.sent_blobs_.pop_front();
    }
  }

  SendQueue queue_{1 << 20, std::uint64_t{64} << 20};
  BlobReceiver receiver_{kMaxBlobBytes, false};
  ReceiveCredit credit_;
  std::deque<Bytes> sent_control_;  // not arrived yet
  std::deque<std::pair<Bytes, crypto::SharedBlob>> sent_blobs_;
};

// In whatever order records are sent, granted and written, each arrives, in the order of its class,
// and none is sent without credit. In the end every waiting side gets its grant.
void DriveBothEnds(ByteSource& source) {
  End ends[2] = {End(kInitialCredit + source.Integer(3)), End(kInitialCredit)};
  for (std::size_t turns = 0; turns < 64 && !source.empty(); ++turns) {
    const std::size_t who = source.Below(2);
    End& end = ends[who];
    switch (source.Below(4)) {
      case 0: {
        const base::ByteView frame = source.Take(1 + source.Below(64));
        end.SendControl(frame.empty() ? Bytes{1} : Bytes(frame.begin(), frame.end()));
        break;
      }
      case 1:
        end.SendBlob({source.Byte()}, AnyBlob(source));
        break;
      case 2:
        end.Grant();
        break;
      default:
        for (std::size_t i = source.Below(8); i > 0 && end.may_write(); --i) {
          end.WriteTo(ends[1 - who]);
        }
    }
  }
  while (!ends[0].all_arrived() || !ends[1].all_arrived()) {
    for (std::size_t who : {0, 1}) {
      ends[who].Grant();
      while (ends[who].may_write()) ends[who].WriteTo(ends[1 - who]);
    }
  }
}

void TakeAny(ByteSource source) {
  switch (source.Byte() % 5) {
    case 4:
      return DriveBothEnds(source);
    case 0:
      return TakeHello(source.Take(kMaxRecordBytes));
    case 1:
      return TakeCertificate(source.Take(kMaxRecordBytes));
    case 2:
      return TakeBentCertificate(source);
    default:
      return TakeBlobs(source);
  }
}

}  // namespace
}  // namespace ostraka::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool initialized = ostraka::crypto::Initialize().ok();
  OSTRAKA_CHECK(initialized);
  ostraka::net::TakeAny(ostraka::fuzz::ByteSource({data, size}));
  return 0;
}
