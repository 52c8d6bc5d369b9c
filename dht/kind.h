// The DHT's kind of machine (node/machine/machine.h): datagrams between endpoints, and questions of
// the process that it serves.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "dht/wire/messages.h"
#include "node/machine/datagrams.h"
#include "node/machine/machine.h"

namespace ostraka::dht {

// Whether others keep this node in their tables and store records with it.
enum class Role : std::uint8_t {
  kAuto,    // once other nodes have found that it can be reached (dht/reachability.h)
  kServer,  // at once: its user knows that it can be reached, as of a bootstrap node
  kClient,  // never
};

// --- inputs
// ---------------------------------------------------------------------------------------

struct Started {
  std::uint64_t wall_s = 0;          // seconds since 1970
  Digest secret;                     // 32 bytes that nobody can guess, new at each start
  std::vector<Endpoint> bootstraps;  // addresses from the user; at most 64 are used
  std::vector<Contact> known;        // what an earlier life stored; at most 64 are used
};

// What the process wants to know or to publish. Each comes back as one Answered with its id.
struct GetRun {  // members of a run: a sample, if they are many
  Digest run_id;
};
struct GetPeer {  // the newest announcement of a peer
  PeerId peer;
};
// Announces this peer, now and every 10 minutes until the next Publish. `content` needs no network,
// peer, seq and expires; one that does not fit a record (FitsRecord) is answered with nothing
// stored. Under the run's key only if `under_run`: a closed run is not listed.
struct Publish {
  Announcement content;
  bool under_run = false;
};
struct FindNodes {  // nodes near a point, to look at the network
  Digest target;
};
struct Ask {
  std::uint64_t id = 0;
  std::variant<GetRun, GetPeer, Publish, FindNodes> what;
};

// --- actions
// --------------------------------------------------------------------------------------

// How a question was answered, for people.
struct Effort {
  std::uint32_t queries = 0;
  std::uint32_t answers = 0;
  bool surveyed = false;  // the key is under attack (dht/lookup/search.h)
};
struct GotRecords {  // the newest of each peer; every signature was checked
  std::vector<Announcement> records;
};
struct Published {
  std::uint32_t stored = 0;  // nodes that store it, of all keys
  std::uint32_t refused = 0;
};
struct FoundNodes {
  std::vector<Contact> nodes;  // live, nearest first
};
struct Answered {
  std::uint64_t id = 0;
  Effort effort;
  std::variant<GotRecords, Published, FoundNodes> result;
};

// What the next life begins with. The newest replaces the others.
struct KeptContacts {
  std::vector<Contact> contacts;
};

// --- observations
// ---------------------------------------------------------------------------------

struct Joined {             // the first lookup of our own place has ended
  std::uint32_t nodes = 0;  // in the table
};
struct NobodyAnswers {};  // of the bootstraps: none is up, or UDP is blocked here
struct ServerChanged {
  bool server = false;
};
struct RecordStored {
  Digest key;
  Endpoint source;  // that the datagram claimed
};
struct ContactLearned {  // it answered: it holds this key at this address
  Contact contact;
};
using Observation =
    std::variant<Joined, NobodyAnswers, ServerChanged, RecordStored, ContactLearned>;

struct Progress {
  bool joined = false;
  bool server = false;
  std::uint32_t nodes = 0;     // in the table
  std::uint32_t records = 0;   // stored for others
  std::uint32_t waiting = 0;   // queries without an answer yet
  double network = 0;          // estimated number of nodes
  std::vector<Endpoint> seen;  // our addresses, as most answers say (dht/vantage.h)
};

// Datagrams, and the questions of the process, which come in with an id and go out with it.
struct DatagramsAndQuestions {
  using Inputs = machine::Types<machine::DatagramReceived<Endpoint>, Ask>;
  using Actions = machine::Types<machine::SendDatagram<Endpoint>, Answered>;
};

struct DhtKind {
  using Started = dht::Started;
  using Transport = DatagramsAndQuestions;
  using Jobs = machine::NoJobs;
  using Disk = machine::StoreOf<KeptContacts>;
  using Owner = machine::NoOwner;
  using Observation = dht::Observation;
  using Progress = dht::Progress;
  static bool IsLast(const dht::Observation&) { return false; }  // until the process ends
};
using Input = machine::InputOf<DhtKind>;
using Outbox = machine::Outbox<DhtKind>;

}  // namespace ostraka::dht
