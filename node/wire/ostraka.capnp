# The wire format of ostraka: the envelope that every peer signs, the bodies that it carries, and
# the block in a node's ledger. docs/wire.md describes it in prose, with the limits.
#
# Rules for all structs here:
# - Messages are in Cap'n Proto's canonical form: one segment, no segment table, never packed. An
#   empty list, Data or Text is a null pointer. Decoders refuse anything else, so a value has
#   exactly one encoding.
# - A digest, a peer id or a coin is Data of exactly 32 bytes; a list of digests is one Data of
#   32 bytes each, so that a count cannot be larger than the message.
# - A double travels as the bits of its IEEE-754 form in a UInt64: no runtime on the way may touch
#   a NaN's payload or the sign of a zero.
# - Fields are never renumbered. A change that an old decoder would refuse takes a new
#   protocolVersion in Boot.

@0xd3a8e0f1c5b47290;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("ostraka::wire::schema");

# The agreement that a message belongs to.
enum Phase {
  genesis @0;
  a @1;
  b @2;
  c @3;
}

enum MessageType {
  boot @0;
  commit @1;
  part @2;
  aggregate @3;
  result @4;
  reveal @5;
  proof @6;
  echo @7;
  status @8;
  propose @9;
  vote @10;
  lock @11;
  rejoin @12;
  pull @13;
  vector @14;
  block @15;
  chunk @16;
  close @17;
  forward @18;
}

enum ElementType {
  float32 @0;
}

enum Codec {
  raw @0;
  i16 @1;
  i8 @2;
  i4 @3;
}

enum Verdict {
  abstain @0;
  guilty @1;
  innocent @2;
  twice @3;  # guilty, and of another step as well
}

enum CaseKind {
  gradient @0;
  numbers @1;
  cover @2;
}

enum PullKind {
  messages @0;
  digests @1;
  vector @2;
  head @3;
  block @4;
  result @5;
  part @6;
  state @7;
  follow @8;
  proofs @9;
}

# The place of a message. A peer signs at most one body for each slot.
struct Slot {
  runId @0 :Data;
  incarnation @1 :UInt32;
  step @2 :UInt64;
  phase @3 :Phase;
  type @4 :MessageType;
  draw @5 :UInt32;  # number of the coin draw, in messages about seal B; else 0
  # PART, RESULT: the part's index; STATUS, PROPOSE, VOTE, LOCK: the leader iteration; else 0
  iteration @6 :UInt32;
}

# The core of a frame: signature (64 bytes; of a service 64 zero bytes) | Envelope.
struct Envelope {
  slot @0 :Slot;
  entry @1 :Data;  # digest of the parent: the decision that opened this message's seal
  sender @2 :Data;  # Ed25519 public key
  body @3 :Data;    # a canonical message of the struct that slot.type names
}

# First message of a process: its protocol version, and the id of its store.
struct Boot {
  bootId @0 :Data;
  protocolVersion @1 :UInt32;
}

# A member's commitments, made before any coin of the step is revealed.
struct Commit {
  coinsRoot @0 :Data;
  coinCount @1 :UInt32;    # leaves under coinsRoot
  gradientRoot @2 :Data;   # workers; else empty
  parametersRoot @3 :Data; # profile exact/1; else empty
  onlyDials @4 :Bool;      # the sender cannot be dialed from outside
  leaving @5 :Bool;        # the sender leaves the run
  revokes @6 :Revocation;  # null: none
  nextBatches @7 :UInt16;  # that the sender averages in the next step; zero where all have one count
}

struct TensorHeader {
  element @0 :ElementType;
  codec @1 :Codec;
  shape @2 :List(UInt64);
}

# Announces the bulk bytes of part slot.iteration of the sender's gradient.
struct Part {
  header @0 :TensorHeader;
  root @1 :Data;   # Merkle root of the bulk bytes
  path @2 :Data;   # digests, from the leaf up
}

# A worker's claim about the column that it aggregated.
struct Aggregate {
  partIndex @0 :UInt32;
  resultRoot @1 :Data;
  included @2 :Data;  # bitmap over the members by key; member i is bit i % 8 of byte i / 8
  leavesRoot @3 :Data;
  commitsRoot @4 :Data;
  slowest @5 :Data;  # sender of the last part, if that came too late; empty: none
}

# Announces the bulk bytes of the aggregate of part slot.iteration.
struct Result {
  header @0 :TensorHeader;
  root @1 :Data;
}

# Opens coin number slot.draw of the step's Commit.
struct Reveal {
  coin @0 :Data;
  salt @1 :Data;
  path @2 :Data;  # digests, from the leaf up
}

# A worker's claims about its gradient in one column. If missing, all numbers except `size` are
# zero.
struct ColumnNumbers {
  missing @0 :Bool;
  s0 @1 :UInt64;    # bits of a double
  s1 @2 :UInt64;
  s2 @3 :UInt64;
  s3 @4 :UInt64;
  norm @5 :UInt64;
  size @6 :UInt64;  # of the part itself, set even if the aggregate is missing
}

struct Accusation {
  target @0 :Data;
  step @1 :UInt64;
}

# The id of a case.
struct CaseId {
  kind @0 :CaseKind;
  accuser @1 :Data;
  target @2 :Data;
  step @3 :UInt64;
  column @4 :UInt32;  # numbers, cover; else 0
}

struct Vote {
  about @0 :CaseId;
  verdict @1 :Verdict;
}

# An aggregator accuses a worker of lying about its column.
struct Naming {
  target @0 :Data;
  step @1 :UInt64;
  column @2 :UInt32;
}

# PROOF and VERDICT share one entry of seal C.
struct Proof {
  columns @0 :List(ColumnNumbers);
  accusation @1 :Accusation;  # null: none
  naming @2 :Naming;          # null: none
  votes @3 :List(Vote);
  stateRoot @4 :Data;         # empty: none
  evidence @5 :List(Data);    # evidence files (evidence.capnp)
  held @6 :Data;  # two bitmaps over the disputes of the last block
  silent @7 :Data;  # bitmap over the members
  joins @8 :Data;             # peer ids, 32 bytes each, strictly ascending
  lagUs @9 :UInt64;           # microseconds
  hasty @10 :Data;  # bitmap over the members
  unshown @11 :Data;  # bitmap over the members
  lateMs @12 :List(UInt64);  # ms: one per member for its own messages, then one for its AGG
  arrivals @13 :List(Arrival);  # by key
}

# A moderator's promise to who holds the key `holder`.
struct Invite {
  moderator @0 :Data;
  holder @1 :Data;
  uses @2 :UInt32;
  endsStep @3 :UInt64;
  kind @4 :InviteKind;
  anchor @5 :Data;       # digest of the block at which who comes begins; empty: the genesis
}

# The purpose of an invite.
enum InviteKind {
  admit @0;
  observe @1;  # to follow the run, and never to come in
}

# A moderator's word that nobody comes in by its invites any more.
struct Revocation {
  moderator @0 :Data;
  invite @1 :Invite;     # of that moderator; null: all of its invites
  byModerator @2 :Data;  # a signature
}

struct Credential {
  invite @0 :Invite;
  byModerator @1 :Data;  # a signature
  byHolder @2 :Data;     # a signature
}

# The part of a credential that goes into blocks: it identifies the invite and its limits.
struct Voucher {
  invite @0 :Data;  # a digest
  moderator @1 :Data;
  uses @2 :UInt32;
  endsStep @3 :UInt64;
  kind @4 :InviteKind;
}

# A key that is not of the run asks to come in.
struct Arrival {
  peer @0 :Data;
  voucher @1 :Voucher;  # null: the manifest allows the key
}

# The set of messages that a member holds, so that all members can compare.
struct Echo {
  vector @0 :Data;
  present @1 :Data;  # bitmap over (entry, member)
  equivocated @2 :Data;  # bitmap over (entry, member)
}

# --- SEAL's slow path. A rank is 0 for no lock, 1 for Q equal echoes, 1 + k for Q votes of
# iteration k.

struct SealStatus {
  rank @0 :UInt32;
  value @1 :Data;
}

struct Propose {
  rank @0 :UInt32;
  value @1 :Data;
  statuses @2 :Data;  # bitmap over the members; empty unless rank is 0
  statusesRoot @3 :Data;  # zero unless rank is 0
}

struct SealVote {
  value @0 :Data;
  rank @1 :UInt32;
}

struct Lock {
  value @0 :Data;
}

# The signer sends no further ECHO in this seal.
struct Close {
}

# A dropped member asks to return, or a key that is not of the run to come in.
struct Rejoin {
  nonce @0 :Data;
  credential @1 :Credential;  # null: none
}

# --- services: not signed.

struct Pull {
  kind @0 :PullKind;
  type @1 :MessageType;
  members @2 :Data;  # bitmap over the members
  digests @3 :Data;
  index @4 :UInt64;
}

# The entries of a seal. Entry k is byte k of `states` (0 absent, 1 present, 2 equivocated) and the
# k-th 32 bytes of `digests`, zero unless it is present.
struct Vector {
  states @0 :Data;
  digests @1 :Data;
}

# Announces the bulk bytes of a block.
struct BlockMessage {
  digest @0 :Data;
  head @1 :Bool;
}

# Announces the bulk bytes of a chunk of the model's state.
struct Chunk {
  step @0 :UInt64;
  index @1 :UInt64;
  count @2 :UInt64;
}

# A frame of one member for another, carried by a third.
struct Forward {
  from @0 :Data;
  to @1 :Data;
  frame @2 :Data;  # empty: the path is up
}

# --- the ledger

enum RemovalKind {
  verdict @0;
  evidence @1;
  drop @2;
  eliminate @3;
}

enum ColumnFate {
  applied @0;
  noAggregate @1;
  badSenders @2;
  tooFewSenders @3;
  missingNumbers @4;
  sumCheck @5;
  normCheck @6;
  sizeCheck @7;
  blind @8;
}

# Why a peer was removed: docs/protocol/removals.md.
enum Cause {
  oldText @0;
  absent @1;
  twoMessages @2;
  otherParameters @3;
  malformed @4;
  falseReveal @5;
  evidence @6;
  foreignSender @7;
  impossibleNumbers @8;
  falseGradient @9;
  falseNumbers @10;
  hidNumbers @11;
  falseAccusation @12;
  falseNaming @13;
  undecidedAccusation @14;
  unshownNaming @15;
  unshownCover @16;
  namedNobody @17;
  voidedColumns @18;
  withheldAggregate @19;
  withheldEcho @20;
  hastyEcho @21;
  unshownEcho @22;
  slow @23;
  leftOutPart @24;
  withheldPart @25;
  claimsToMiss @26;
  withheldFromOne @27;
  tooManyDisputes @28;
}

struct Removal {
  peer @0 :Data;
  kind @1 :RemovalKind;
  step @2 :UInt64;
  reason @3 :Text;        # of version 12 and before: one line; else empty
  cause @4 :Cause;
  entry @5 :MessageType;
  firstFault @6 :Bool;    # a suspension by verdict
  other @7 :Data;         # a peer id; empty: none
  faultStep @8 :UInt64;
  part @9 :UInt32;
  count @10 :UInt64;
  of @11 :UInt32;
}

# An open case. Ballot k is voter k of `voters` and byte k of `verdicts`.
struct Case {
  id @0 :CaseId;
  openedStep @1 :UInt64;
  voters @2 :Data;    # peer ids, 32 bytes each
  verdicts @3 :Data;  # a Verdict a byte
  covering @4 :List(Covering);
  faultBound @5 :UInt32;
}

# An aggregator that included a part of an accused worker in a column.
struct Covering {
  column @0 :UInt32;
  owner @1 :Data;
}

# The owner of a column and the workers whose parts it includes.
struct AggregatedColumn {
  owner @0 :Data;
  included @1 :Data;  # bitmap over Block.senders; empty: none
}

struct Assignment {
  validator @0 :Data;
  target @1 :Data;
  step @2 :UInt64;
  covering @3 :List(Covering);
  works @4 :Bool;  # it is a worker of the step as well
}

struct Dispute {
  worker @0 :Data;
  aggregator @1 :Data;
  since @2 :UInt64;
}

struct Standing {
  peer @0 :Data;
  banned @1 :Bool;
  drops @2 :UInt32;
  lastDropStep @3 :UInt64;
  barredUntil @4 :UInt64;
  erred @5 :Bool;  # suspended once for a false gradient or accusation
  leftStep @6 :UInt64;      # of the block with which it left last; zero: never
  returnedStep @7 :UInt64;  # of the block that admitted it last; zero: never
  cameStep @8 :UInt64;      # of the block that admitted it as a stranger; zero: never
  erredIn @9 :UInt64;       # one more than the step of its first fault; zero: none, or as an accuser
}

struct Candidate {
  peer @0 :Data;
  since @1 :UInt64;
  confirmed @2 :UInt64;
  voucher @3 :Voucher;  # null: none
}

# An invite that has been used or revoked, and has not ended.
struct UsedInvite {
  invite @0 :Data;
  used @1 :UInt32;
  endsStep @2 :UInt64;
  revoked @3 :Bool;
  users @4 :Data;  # peer ids, 32 bytes each: those that came in by it; none of a revoked one
}

struct Moderator {
  peer @0 :Data;
  admitted @1 :UInt32;  # keys that its invites let in, and unused invites that it revoked
  revoked @2 :Bool;     # it took all of its invites back
}

# The time for which a member delayed the others and that is not forgiven yet.
struct Lateness {
  peer @0 :Data;
  ms @1 :UInt64;
}

# Columns that a member voided by its own message.
struct Voids {
  peer @0 :Data;
  count @1 :UInt32;
  lastStep @2 :UInt64;
}

# Whether a peer can be dialed, and when that may change.
struct Reach {
  peer @0 :Data;
  onlyDials @1 :Bool;
  changesFrom @2 :UInt64;  # the first step whose COMMIT may change it
}

# How many batches a member averages in each gradient of the next step.
struct BatchCount {
  peer @0 :Data;
  count @1 :UInt32;
}

# The decision of a step's seal C: a row of the ledger. Lists of peers have 32 bytes per peer and
# ascend strictly; disputes, standings, candidates, lateness, voids, reach, invites, moderators and
# batchCounts also ascend, by their first fields.
struct Block {
  step @0 :UInt64;
  genesis @1 :Bool;
  decision @2 :Data;
  previous @3 :Data;
  randomness @4 :Data;
  members @5 :Data;
  n @6 :UInt32;
  tS @7 :UInt32;
  tA @8 :UInt32;
  tau @9 :UInt64;        # bits of a double
  columns @10 :Data;     # a ColumnFate a byte
  removals @11 :List(Removal);
  cases @12 :List(Case);
  stateRoot @13 :Data;    # empty: none
  resultRoots @14 :Data;  # digests, one per column
  senders @15 :Data;  # every worker in an aggregate of `aggregated`
  aggregated @16 :List(AggregatedColumn);
  drawn @17 :List(Assignment);
  proven @18 :Data;
  owing @19 :Data;
  disputes @20 :List(Dispute);
  standings @21 :List(Standing);
  candidates @22 :List(Candidate);
  joined @23 :Data;
  anyRemoval @24 :Bool;
  lastRemovalStep @25 :UInt64;  # zero unless anyRemoval
  deltaUs @26 :UInt64;          # microseconds
  lateness @27 :List(Lateness);
  voids @28 :List(Voids);
  closing @29 :UInt16;          # at most 9, and at most step + 1; zero if genesis
  reach @30 :List(Reach);
  leaving @31 :Data;
  left @32 :Data;
  tSInRole @33 :UInt32;
  invites @34 :List(UsedInvite);
  moderators @35 :List(Moderator);
  peakTS @36 :UInt32;
  peakStep @37 :UInt64;
  partUs @38 :UInt64;           # microseconds; zero: as long as the manifest says
  batchCounts @39 :List(BatchCount);  # members with more than the least
  alarmUntil @40 :UInt64;             # for steps before it more validators are drawn
}
