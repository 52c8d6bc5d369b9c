# The datagrams and records of the DHT (dht/wire/messages.h, announcement.h; limits.h).
#
# The rules of node/wire/ostraka.capnp hold: canonical form, ids are Data of 32 bytes, fields are
# never renumbered. An endpoint is Data of 18 bytes, 16 of the address and 2 of the port in network
# order; a contact is 50: a peer id and an endpoint. A list of either is one Data.

@0xe41d6f0b92c8a375;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("ostraka::dht::schema");

enum QueryKind {
  ping @0;
  find @1;
  get @2;
  put @3;
  check @4;
  try @5;
}

enum Verdict {
  none @0;
  done @1;
  badToken @2;
  badRecord @3;
  badTime @4;
  older @5;
  full @6;
  busy @7;
}

# Not signed. A field that its kind does not use is empty.
struct Query {
  kind @0 :QueryKind;
  server @1 :Bool;
  start @2 :UInt32;    # get
  network @3 :Data;
  sender @4 :Data;     # the asker's peer id
  target @5 :Data;     # find: a node id; get, put: a key
  token @6 :Data;      # put, check, try: 16 bytes
  mark @7 :Data;       # check, try: 16 bytes
  endpoint @8 :Data;   # try
  record @9 :Data;     # put: signature | Announcement
}

struct Reply {
  verdict @0 :Verdict;
  server @1 :Bool;
  sender @2 :Data;     # whose signature it is
  seen @3 :Data;       # the asker's endpoint
  token @4 :Data;      # 16 bytes, or empty
  contacts @5 :Data;
  records @6 :List(Data);
}

struct Announcement {
  network @0 :Data;
  peer @1 :Data;
  seq @2 :UInt64;
  expires @3 :UInt64;    # seconds since 1970
  addresses @4 :Data;    # endpoints
  name @5 :Text;         # "host:port", or empty
  relays @6 :Data;       # contacts
  reachable @7 :Bool;
  servesState @8 :Bool;
  freeSeats @9 :UInt32;
  runId @10 :Data;       # empty: of no run, and then the fields of a run are empty, too
  height @11 :UInt64;
  head @12 :Data;
}
