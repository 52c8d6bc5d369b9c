// usage: dht_write_corpus DIR: writes seeds of dht_datagram_fuzz into DIR/dht_datagram and of
// dht_node_fuzz into DIR/dht_node.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht {
namespace {

using base::Bytes;

void Write(const std::string& path, std::uint8_t first, base::ByteView bytes) {
  std::ofstream file(path, std::ios::binary);
  file.put(static_cast<char>(first));
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

void WriteDatagrams(const std::string& folder) {
  // The key that the fuzzer signs with.
  const auto key = crypto::SigningKey::FromSeed(Bytes(crypto::SigningKey::kSeedSize, 1));
  Bytes record = SignAnnouncement(SampleAnnouncement(key), key);
  Write(folder + "/record", 2, record);
  Write(folder + "/record_core", 5, base::ByteView(record).subspan(64));
  for (unsigned kind = 0; kind < kQueryKindCount; ++kind) {
    Query query;
    query.kind = static_cast<QueryKind>(kind);
    query.network = TestNetwork();
    query.sender = key.id();
    query.server = kind % 2 == 0;
    query.target.bytes.fill(8);
    query.start = 12345;
    query.token.fill(2);
    query.mark.fill(3);
    query.endpoint = Endpoint::V4(0x08080808, 53);
    query.record = record;
    const Bytes datagram = *EncodeQuery(Nonce{}, query).datagram;
    const std::size_t core = datagram[6] | static_cast<std::size_t>(datagram[7]) << 8;
    Write(folder + "/query_" + std::to_string(kind), 0, datagram);
    Write(folder + "/query_core_" + std::to_string(kind), 3,
          base::ByteView(datagram).subspan(24, core));
  }
  for (unsigned form = 0; form < 3; ++form) {
    Reply reply;
    reply.sender = key.id();
    reply.server = true;
    reply.verdict = static_cast<Verdict>(form);
    reply.seen = Endpoint::V4(0x08080404, 5);
    if (form > 0) reply.token.fill(6);
    if (form == 2) reply.records = {record};
    reply.contacts.assign(std::min<std::size_t>(form * 4, ContactsBeside(reply.records)),
                          {key.id(), Endpoint::V4(0x08080405, 6)});
    const Bytes datagram = *EncodeReply(Nonce{}, {}, reply, key);
    Write(folder + "/reply_" + std::to_string(form), 1, datagram);
    Write(folder + "/reply_core_" + std::to_string(form), 4,
          base::ByteView(datagram).subspan(24 + 64));
  }
}

void WriteSequences(const std::string& folder) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    base::Rng rng(seed);
    Bytes bytes(64 + rng.Below(1500));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.Below(256));
    bytes[1] = static_cast<std::uint8_t>(seed);
    Write(folder + "/random_" + std::to_string(seed), static_cast<std::uint8_t>(seed % 3), bytes);
  }
}

}  // namespace
}  // namespace ostraka::dht

int main(int argc, char** argv) {
  if (argc != 2 || !ostraka::crypto::Initialize().ok()) {
    std::fprintf(stderr, "usage: dht_write_corpus DIR\n");
    return 2;
  }
  const std::string folder = argv[1];
  std::filesystem::create_directories(folder + "/dht_datagram");
  std::filesystem::create_directories(folder + "/dht_node");
  ostraka::dht::WriteDatagrams(folder + "/dht_datagram");
  ostraka::dht::WriteSequences(folder + "/dht_node");
  return 0;
}
