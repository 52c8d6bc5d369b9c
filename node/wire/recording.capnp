# A recording of one machine: what it was given and what it said, for replays. Never sent. The
# rules of ostraka.capnp apply: canonical form, one encoding per value.

@0xd4a1c0f6e83b5927;

using Cxx = import "/capnp/c++.capnp";
using Wire = import "ostraka.capnp";
$Cxx.namespace("ostraka::wire::schema");

struct RecordingHead {
  version @0 :UInt32;         # 1
  protocolVersion @1 :UInt32;
  draft @2 :UInt32;
  manifest @3 :Data;          # the manifest's file
  self @4 :Data;
  layout @5 :List(Tensor);
  state @6 :Data;             # before the first step
  credential @7 :Wire.Credential;
  anchor @8 :Data;            # an encoded block, or empty
  guestBytesASecond @9 :UInt64;
  program @10 :Text;

  struct Tensor {
    name @0 :Text;
    shape @1 :List(UInt64);
  }
}

struct RecordedOutcome {
  actions @0 :Data;
  said @1 :List(Data);
}

struct RecordedInput {
  at @0 :UInt64;        # ns
  input @1 :UInt8;      # which of protocol::Input
  peer @2 :Data;
  up @3 :Bool;
  id @4 :UInt64;
  frame @5 :Data;
  hasBlob @6 :Bool;
  blob @7 :Data;
  store @8 :Store;
  wishes @9 :Wishes;
  result @10 :Result;

  struct Store {
    blocks @0 :List(Record);
    slots @1 :List(Record);
    state @2 :Record;
    results @3 :List(Record);
    member @4 :Bool;
    asked @5 :Bool;
    asksSince @6 :UInt64;
    fork @7 :Text;
    handover @8 :Record;
    stateParts @9 :List(Record);
  }
  struct Record {
    kind @0 :UInt8;
    key @1 :Data;
    value @2 :Data;
    hasBlob @3 :Bool;
    blob @4 :Data;
  }
  struct Wishes {
    dials @0 :UInt8;
    leaves @1 :Bool;
    leaveFrom @2 :UInt64;
    leaveUntil @3 :UInt64;
    tellsRevocations @4 :Bool;
    revocations @5 :List(Wire.Revocation);
    computePercent @6 :UInt8;
  }
  struct Result {
    kind @0 :UInt8;
    hash @1 :Data;
    gradient @2 :Data;
    accuse @3 :Bool;
    convict @4 :Bool;
    worstRatio @5 :UInt64;
    falseGradient @6 :Bool;
    unsure @7 :Bool;
    failure @8 :Text;
  }
}
