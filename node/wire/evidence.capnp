# An evidence file: the claim that a peer broke the protocol, with the peer's own signed frames as
# proof. The rules of ostraka.capnp apply: canonical form, one encoding per value.

@0xb6f21c7e9a0d4358;

using Cxx = import "/capnp/c++.capnp";
using Wire = import "ostraka.capnp";
$Cxx.namespace("ostraka::wire::schema");

enum EvidenceKind {
  equivocation @0;
  falseReveal @1;
  unreadable @2;
  falsePart @3;
  impossibleNumbers @4;
  brokenLock @5;
  sealedBan @6;
  falseStatus @7;
  verdict @8;
  gradient @9;
}

struct Evidence {
  version @0 :UInt32;       # 1
  kind @1 :EvidenceKind;
  accused @2 :Data;
  slot @3 :Wire.Slot;  # of the offence; its runId names the run
  frames @4 :List(Data);  # signed frames exactly as received, in the order that the kind defines
  attachments @5 :Data;     # digests of bulk data that the kind needs
  # sealedBan: the block that bans; gradient: the block before the step; else empty. As sealed.
  block @6 :Data;
}

# A block of other members than those that its signers knew, and the COMMITs that build on it.
struct Handover {
  version @0 :UInt32;     # 1
  block @1 :Data;         # as sealed
  frames @2 :List(Data);  # signed frames exactly as received, by sender
}
