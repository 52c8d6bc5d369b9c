// A folder for ledgers, records for them, and helpers for refusals.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "node/protocol/mail/signer.h"
#include "node/store/ledger.h"
#include "node/wire/block.h"

namespace ostraka::store {

using protocol::Record;
using protocol::RecordKind;
using protocol::Store;
using protocol::StoreId;

inline Digest DigestOf(std::uint64_t n) {
  Digest digest;
  for (int i = 0; i < 8; ++i) digest.bytes[i] = static_cast<std::uint8_t>(n >> (8 * i));
  digest.bytes[31] = 1;
  return digest;
}
inline PeerId PeerOf(std::uint64_t n) { return PeerId{DigestOf(n).bytes}; }

inline Record Slot(std::uint64_t step, std::uint64_t signed_digest,
                   wire::Phase phase = wire::Phase::kA) {
  wire::Slot slot;
  slot.step = step;
  slot.phase = phase;
  slot.type =
      phase == wire::Phase::kGenesis ? wire::MessageType::kBoot : wire::MessageType::kCommit;
  // Any bytes serve as the message: the ledger keeps them and their hash.
  const Digest digest = DigestOf(signed_digest);
  return {RecordKind::kSlot, protocol::SlotKey(slot), {digest.bytes.begin(), digest.bytes.end()}};
}

inline wire::Block BlockOf(std::uint64_t step) {
  wire::Block block;
  block.step = step;
  block.decision = DigestOf(1000 + step);
  block.members = {PeerOf(1), PeerOf(2), PeerOf(3)};
  block.thresholds = {.n = 3, .t_s = 1, .t_a = 0};
  block.tau = 0.5;
  block.columns = {wire::ColumnFate::kApplied, wire::ColumnFate::kSumCheck};
  return block;
}

inline Record BlockRecord(const wire::Block& block) {
  return {RecordKind::kBlock, protocol::BlockKey(block.genesis, block.step),
          wire::EncodeBlock(block)};
}

inline Store StoreOf(StoreId id, std::vector<Record> records) { return {id, std::move(records)}; }

class LedgerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "ostraka-ledger-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  LedgerOptions Options(std::uint64_t run = 1, std::uint64_t peer = 1) const {
    return {.data_dir = root_ + "/node", .run_id = DigestOf(run), .peer = PeerOf(peer)};
  }

  static std::unique_ptr<Ledger> MustOpen(LedgerOptions options) {
    auto ledger = Ledger::Open(std::move(options));
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    return ledger.ok() ? *std::move(ledger) : nullptr;
  }

  // Opens, stores `records` as one Store, closes.
  base::Status Write(std::vector<Record> records) const {
    auto ledger = MustOpen(Options());
    ledger->Start({.committed = [](std::vector<StoreId>) {}, .failed = [](base::Status) {}});
    const base::Status appended = ledger->Append(StoreOf(1, std::move(records)));
    EXPECT_TRUE(appended.ok()) << appended;
    return ledger->Close("finished");
  }

  // The reason why a second opening with `options` is refused.
  static base::Status Refusal(LedgerOptions options) {
    return Ledger::Open(std::move(options)).status();
  }

  std::string root_;
};

inline bool IsOneLine(const base::Status& status) {
  const std::string message = base::MessageOf(status);
  return !message.empty() && message.find('\n') == std::string::npos;
}

}  // namespace ostraka::store
