#include "node/net/records/data_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/net/records/record_reader.h"
#include "node/net/records/record_writer.h"
#include "tests/unit/net/transport_net.h"

namespace ostraka::net::data_records_test {
namespace {

using base::Bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

base::SharedBytes Chunk(std::size_t size) {
  auto bytes = std::make_shared<Bytes>(size);
  for (std::size_t i = 0; i < size; ++i) (*bytes)[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  return bytes;
}

TEST(DataRecords, HaveTheBytesThatTheFormatSays) {
  EXPECT_EQ(EncodeData(DataAsk{DataAsk::What::kSend, 0x0102}), (Bytes{2, 2, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(EncodeData(DataTold{DataTold::Answer::kBusy, 5}), (Bytes{3, 5, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(EncodeData(DataPiece{5, 258, {8, 9}}),
            (Bytes{5, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 8, 9}));
}

TEST(DataRecords, ComeBackEqual) {
  for (const DataRecord& record :
       {DataRecord(DataAsk{DataAsk::What::kHave, 1}), DataRecord(DataAsk{DataAsk::What::kSend, 2}),
        DataRecord(DataTold{DataTold::Answer::kHas, ~std::uint64_t{0}}),
        DataRecord(DataTold{DataTold::Answer::kLacks, 3}), DataRecord(DataPiece{4, 7, {1}}),
        DataRecord(DataPiece{4, 0, Bytes(kDataPieceBytes)})}) {
    const auto again = DecodeData(TypeOf(record), EncodeData(record));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, record);
  }
}

TEST(DataRecords, OtherBytesAreRefused) {
  const auto refused = [](RecordType type, const Bytes& body) {
    return DecodeData(type, body).status().code() == absl::StatusCode::kInvalidArgument;
  };
  for (const RecordType type : {RecordType::kDataAsk, RecordType::kDataTold}) {
    EXPECT_TRUE(refused(type, {}));
    EXPECT_TRUE(refused(type, {1, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_TRUE(refused(type, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_TRUE(refused(type, {0, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_TRUE(refused(type, {4, 0, 0, 0, 0, 0, 0, 0, 0}));
  }
  EXPECT_TRUE(refused(RecordType::kDataAsk, {3, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(refused(RecordType::kData, Bytes(kDataHeadBytes))) << "no byte of the chunk";
  EXPECT_TRUE(refused(RecordType::kData, Bytes(kDataHeadBytes + kDataPieceBytes + 1)));
}

// What the writer of one end sends is what the reader of the other takes.
TEST(DataRecords, AChunkCrossesALinkInPieces) {
  RecordWriter writer(1000, 1000, 0, [](bool lent) { return lent; });
  const base::SharedBytes chunk = Chunk(2 * kDataPieceBytes + 10);
  ASSERT_TRUE(writer.QueueLent(7, chunk));
  EXPECT_FALSE(writer.QueueLent(8, chunk)) << "one at a time";
  RecordReader reader(1000, false, kInitialCredit);
  reader.OpenLink();
  Bytes got;
  Traffic sent;
  for (auto record = writer.Next(); *record; record = writer.Next()) {
    Bytes bytes((*record)->head().begin(), (*record)->head().end());
    bytes.insert(bytes.end(), (*record)->body.begin(), (*record)->body.end());
    const auto taken =
        reader.Take(static_cast<RecordType>(bytes[0]), base::ByteView(bytes).subspan(1));
    ASSERT_TRUE(taken.ok()) << taken.status();
    const auto& piece = std::get<DataPiece>(*taken->data);
    EXPECT_EQ(piece.chunk, 7u);
    EXPECT_EQ(piece.offset, got.size());
    got.insert(got.end(), piece.bytes.begin(), piece.bytes.end());
    const Traffic added = writer.OnWritten();
    const Traffic received = TrafficOfReceived(RecordType::kData, bytes.size());
    EXPECT_EQ(received.payload_received, added.payload_sent);
    EXPECT_EQ(received.control_received, added.control_sent);
    sent.payload_sent += added.payload_sent;
  }
  EXPECT_EQ(got, *chunk);
  EXPECT_EQ(sent.payload_sent, chunk->size());
  EXPECT_TRUE(writer.idle());
  EXPECT_TRUE(writer.QueueLent(8, chunk)) << "the first is gone";
}

TEST(DataRecords, PiecesKeepToTheCredit) {
  RecordWriter writer(1000, 1000, 0, [](bool) { return true; });
  ASSERT_TRUE(writer.QueueLent(7, Chunk(kInitialCredit + 1)));
  std::uint64_t sent = 0;
  for (auto record = writer.Next(); *record; record = writer.Next()) {
    sent += (*record)->head().size() + (*record)->body.size();
    writer.OnWritten();
  }
  EXPECT_LE(sent, kInitialCredit);
  EXPECT_TRUE(writer.waits_for_peer());
  RecordReader reader(1000, false, kInitialCredit);
  reader.OpenLink();
  const Bytes piece(kDataHeadBytes + kDataPieceBytes);
  base::StatusOr<RecordReader::Taken> taken = RecordReader::Taken{};
  int pieces = 0;
  for (; taken.ok() && pieces < 100; ++pieces) taken = reader.Take(RecordType::kData, piece);
  EXPECT_EQ(pieces, static_cast<int>(kInitialCredit / (1 + piece.size())) + 1);
}

TEST(DataRecords, BlobsAndControlGoFirst) {
  SendQueue queue(1000, 1 << 20);
  ASSERT_TRUE(queue.PushLent(1, Chunk(kDataPieceBytes + 1)));
  EXPECT_TRUE(queue.lends());
  ASSERT_EQ(queue.Next().value().head()[0], 12);
  ASSERT_TRUE(queue.PushBulk(Frame("f"), std::make_shared<OutgoingBlob>(TestBlob(100))).ok());
  EXPECT_FALSE(queue.lends());
  ASSERT_TRUE(queue.PushControl(Frame("a")).ok());
  std::vector<int> types;
  while (!queue.empty()) types.push_back(queue.Next().value().head()[0]);
  EXPECT_THAT(types, ElementsAre(3, 4, 5, 6, 12));
  ASSERT_TRUE(queue.PushBulk(Frame("f"), std::make_shared<OutgoingBlob>(TestBlob(100))).ok());
  EXPECT_FALSE(queue.PushLent(1, Chunk(1))) << "a blob waits";
  queue.CheckInvariants();
}

TEST(DataRecords, WhatIsCarriedGoesFirst) {
  SendQueue queue(1000, 1 << 20, 1000);
  ASSERT_TRUE(queue.PushLent(1, Chunk(kDataPieceBytes + 1)));
  for (int i = 0; i < 3; ++i) queue.PushCarried(TestKey(1)->id(), Frame("f"));
  std::vector<int> types;
  while (!queue.empty()) types.push_back(queue.Next().value().head()[0]);
  EXPECT_THAT(types, ElementsAre(3, 3, 3, 12, 12));
}

TEST(DataRecords, NothingWaitsOnceTheConnectionCloses) {
  RecordWriter writer(1000, 1000, 0, [](bool) { return true; });
  const base::SharedBytes chunk = Chunk(kDataPieceBytes + 1);
  ASSERT_TRUE(writer.QueueLent(7, chunk));
  writer.Drop();
  EXPECT_EQ(chunk.use_count(), 1) << "its memory is free";
  EXPECT_FALSE(writer.QueueLent(7, chunk));
}

TEST(DataRecords, AnUnknownAnswerEndsALinkWithAReason) {
  RecordReader reader(1000, false, kInitialCredit);
  reader.OpenLink();
  EXPECT_THAT(base::MessageOf(reader.Take(RecordType::kDataTold, Bytes{9}).status()),
              HasSubstr("of a chunk of data"));
}

}  // namespace
}  // namespace ostraka::net::data_records_test
