// The datagrams of the DHT: five questions between nodes, a request to test somebody, and replies.
//
//   query = header | core | zero bytes up to kDatagramBytes
//   reply = header | signature 64 | core, at most kDatagramBytes
//   header = "OSTD" | version 1 | kind (0 query, 1 reply) | u16 length of the core | nonce 16
//
// A core is a canonical message of dht.capnp. A reply repeats the nonce of its query and is signed:
// H(kDomainDhtReply, H(kDomainDhtQuery, the query's bytes) | core). So it answers one query only,
// and nobody answers under another's key. Queries are not signed: nothing is believed of an asker.
//
// What an attacker can do here: relay a query to the node that it claims to be and hand back the
// true reply, so that the asker takes the relay's address for that node's. That costs the attacker
// the traffic of the node, and wins it one place for its address, as if it had a key of its own
// there.
//
// Promises:
//   W1 A query of another size than kDatagramBytes is refused, and no reply is longer.
//   W2 A value has one encoding. A field that the kind of the query does not use is empty.
//   W3 Decoders take any bytes, never throw, and allocate at most a small multiple of a datagram.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dht/wire/announcement.h"

namespace ostraka::dht {

using Nonce = std::array<std::uint8_t, 16>;
using Token = std::array<std::uint8_t, 16>;

enum class QueryKind : std::uint8_t {
  kPing,   // who are you, and where do you see me?
  kFind,   // which nodes do you know near `target`?
  kGet,    // and which records do you have under it?
  kPut,    // store `record` under `target`
  kCheck,  // have another node ping me, with `mark` as the nonce
  kTry,    // ping `endpoint`, with `mark` as the nonce: somebody asked me to have it checked
};
inline constexpr unsigned kQueryKindCount = 6;

struct Query {
  QueryKind kind = QueryKind::kPing;
  Digest network;
  PeerId sender;            // claimed
  bool server = false;      // the sender answers others and wants to be known
  Digest target;            // find: a node id; get, put: a key
  std::uint32_t start = 0;  // get: where among the records to begin, modulo their number
  Token token{};            // put, check, try: what the receiver gave to the sender's address
  Nonce mark{};             // check, try
  Endpoint endpoint;        // try
  base::Bytes record;       // put: a signed announcement
  bool operator==(const Query&) const = default;
};

enum class Verdict : std::uint8_t {
  kNone,       // ping, find, get
  kDone,       // put, check, try: stored, will be done
  kBadToken,   // the token is not of this address, or too old
  kBadRecord,  // not an announcement, a false signature, or under another key
  kBadTime,    // expired, or expires too far in the future
  kOlder,      // a newer one of this peer is stored
  kFull,       // a limit on what is stored (dht/store/record_store.h)
  kBusy,       // a limit on what is done in a time, or not a server
};
inline constexpr unsigned kVerdictCount = 8;
const char* VerdictName(Verdict verdict);

struct Reply {
  PeerId sender;
  bool server = false;
  Verdict verdict = Verdict::kNone;
  Endpoint seen;  // the asker, as its datagram's header said
  Token token{};  // find, get: for a later query from the asker's address; else zero
  std::vector<Contact> contacts;     // at most kMaxContacts
  std::vector<base::Bytes> records;  // at most kMaxRecords
  bool operator==(const Reply&) const = default;
};

// The number of contacts that fit beside records of these sizes.
std::size_t ContactsBeside(const std::vector<base::Bytes>& records);

struct EncodedQuery {
  base::SharedBytes datagram;
  Digest digest;
};
// REQUIRES: the fields that `query.kind` does not use are empty; the record is within its limit.
EncodedQuery EncodeQuery(const Nonce& nonce, const Query& query);
// `query`: the digest of the query that is answered. REQUIRES: key.id() == reply.sender, and the
// reply fits (ContactsBeside).
base::SharedBytes EncodeReply(const Nonce& nonce, const Digest& query, const Reply& reply,
                              const crypto::SigningKey& key);

struct Header {
  bool is_reply = false;
  Nonce nonce{};
};
// What can be known of a datagram before anything is decoded. InvalidArgument: not one of ours.
base::StatusOr<Header> ReadHeader(base::ByteView datagram);

struct OpenedQuery {
  Query query;
  Digest digest;
};
base::StatusOr<OpenedQuery> OpenQuery(base::ByteView datagram);

struct OpenedReply {
  Reply reply;
  Digest digest;  // what is signed
  crypto::Signature signature;
};
// Does not verify the signature: the caller does, after the cheaper checks.
base::StatusOr<OpenedReply> OpenReply(base::ByteView datagram, const Digest& query);

}  // namespace ostraka::dht
