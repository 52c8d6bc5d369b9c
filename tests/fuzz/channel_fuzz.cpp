// Any bytes where the channel reads plain bytes of a stranger: HELLO, the certificate, and the
// records that carry a blob (node/runtime/record.h).
//
// Records come from a sender that is honest but for what the fuzzer bends, because nobody guesses a
// hash: leaves and chunks that were never true would all end at the first check.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "crypto/merkle.h"
#include "crypto/sign.h"
#include "node/base/check.h"
#include "node/runtime/blob_receiver.h"
#include "node/runtime/hello.h"
#include "node/runtime/little_endian.h"
#include "node/runtime/record.h"
#include "node/runtime/tls_identity.h"
#include "tests/fuzz/byte_source.h"

namespace ostraka::runtime {
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
  Hello ours;
  ours.version = kVersion;
  if (CheckCompatible(ours, *hello).ok()) OSTRAKA_CHECK(hello->run_id == ours.run_id);
}

// The corpus holds certificates of this key.
const crypto::SigningKey& CorpusKey() {
  static const auto key =
      crypto::SigningKey::FromSeed(Bytes(crypto::SigningKey::kSeedSize, std::uint8_t{7}));
  return key;
}

// Nobody but the holder of a key makes a certificate that proves its id.
void TakeCertificate(base::ByteView der) {
  const auto id = PeerIdOfCertificate(der);
  if (!id.ok()) return CheckRefusal(id.status());
  OSTRAKA_CHECK(*id == CorpusKey().id());
}

// Starts from our own certificate, for whatever is not almost one ends early.
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
  AppendLittleEndian(head, blob.data.size(), 8);
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

// As long as the source says: mostly short, at times around the length of a chunk.
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
  explicit Receiving(bool allow_unhashed) : receiver_(kMaxBlobBytes, allow_unhashed) {}

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
};

void TakeBlobs(ByteSource& source) {
  const bool hashed = source.Flip();
  Receiving receiving(!hashed || source.Flip());
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

void TakeAny(ByteSource source) {
  switch (source.Byte() % 4) {
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
}  // namespace ostraka::runtime

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool initialized = ostraka::crypto::Initialize().ok();
  OSTRAKA_CHECK(initialized);
  ostraka::runtime::TakeAny(ostraka::fuzz::ByteSource({data, size}));
  return 0;
}
