// All hash domains of ostraka: the content that is hashed under each, and its encoding. A domain is
// never used for two encodings; a changed encoding gets a new number.
#pragma once

#include <string_view>

namespace ostraka::crypto {

inline constexpr std::string_view kDomainLeaf = "merkle.leaf/1";  // chunk bytes
inline constexpr std::string_view kDomainNode = "merkle.node/1";  // left | right
inline constexpr std::string_view kDomainRoot = "merkle.root/1";  // leaf count | top
inline constexpr std::string_view kDomainCoin = "coin/1";  // peer | step | draw | coin | salt
inline constexpr std::string_view kDomainCoinSeed =
    "coin.seed/1";  // private seed | step | draw | field
inline constexpr std::string_view kDomainCoinKey = "coin.key/1";   // key seed | run
inline constexpr std::string_view kDomainEnvelope = "envelope/1";  // the envelope's core bytes
inline constexpr std::string_view kDomainBlock = "block/1";        // an encoded block
inline constexpr std::string_view kDomainManifest = "manifest/1";  // the manifest file's bytes
inline constexpr std::string_view kDomainInvite =
    "invite/1";  // run | moderator | holder | uses | ends step, and of an invite that has one of
                 // them | kind | u64 1 | anchor, or | kind | u64 0 | zero digest
inline constexpr std::string_view kDomainInviteUse = "invite.use/1";  // run | invite | peer
inline constexpr std::string_view kDomainInviteRevoke =
    "invite.revoke/1";  // run | moderator | u64 1 | invite, or run | moderator | u64 0
inline constexpr std::string_view kDomainLink = "link/1";  // a link's text without its check
inline constexpr std::string_view kDomainVector =
    "seal.vector/1";  // entries of a seal, in the order of the members
inline constexpr std::string_view kDomainLeaders = "seal.leaders/1";    // seed | phase | draw
inline constexpr std::string_view kDomainDecision = "seal.decision/1";  // slot | vector | previous
inline constexpr std::string_view kDomainRandomness = "coin.result/1";  // sorted (peer, coin)
inline constexpr std::string_view kDomainGenesis = "coin.genesis/1";    // run | genesis decision
inline constexpr std::string_view kDomainBatch = "batch/1";  // run | source | r | step | peer
inline constexpr std::string_view kDomainBatchInner = "batch.inner/1";  // batch seed | step | batch
inline constexpr std::string_view kDomainRoles = "roles/1";             // r | purpose
inline constexpr std::string_view kDomainOwners = "owners/1";           // r | peer
inline constexpr std::string_view kDomainCarriers = "carriers/1";       // pair, by key | peer
inline constexpr std::string_view kDomainDirection = "direction/1";     // r | step | part
inline constexpr std::string_view kDomainStream = "stream/1";           // label | key
inline constexpr std::string_view kDomainState = "state.root/1";        // named tensors
inline constexpr std::string_view kDomainParameters = "parameters/1";   // count | Merkle root
inline constexpr std::string_view kDomainSet = "set.root/1";       // an ordered list of digests
inline constexpr std::string_view kDomainEvidence = "evidence/1";  // an evidence file's bytes
inline constexpr std::string_view kDomainFingerprint = "fingerprint/2";  // a machine's state
// The DHT (dht/wire): its places, and what its nodes sign.
inline constexpr std::string_view kDomainDhtNetwork = "dht.network/1";  // the network's name
inline constexpr std::string_view kDomainDhtNode = "dht.node/1";        // network | peer
inline constexpr std::string_view kDomainDhtRun = "dht.run/1";          // network | run
inline constexpr std::string_view kDomainDhtPeer = "dht.peer/1";        // network | peer
inline constexpr std::string_view kDomainDhtQuery = "dht.query/1";      // a query's datagram
inline constexpr std::string_view kDomainDhtReply = "dht.reply/1";      // query's digest | core
inline constexpr std::string_view kDomainDhtRecord = "dht.record/1";    // an announcement's core
inline constexpr std::string_view kDomainDhtToken = "dht.token/1";      // secret | age | address
inline constexpr std::string_view kDomainDhtSample = "dht.sample/1";    // secret | key | owner
inline constexpr std::string_view kDomainSwarmKey = "swarm.key/1";      // u64 seed | u64 node
inline constexpr std::string_view kDomainSwarmNonce = "swarm.nonce/1";  // u64 seed
inline constexpr std::string_view kDomainData = "data/1";      // a data set (node/train/dataset.h)
inline constexpr std::string_view kDomainTokens = "tokens/1";  // records (node/train/tokens)
inline constexpr std::string_view kDomainWideTokens = "tokens/2";        // of more than bytes
inline constexpr std::string_view kDomainTokenizer = "tokenizer/1";      // a tokenizer.json's bytes
inline constexpr std::string_view kDomainTrace = "trace/1";              // a simulator's history
inline constexpr std::string_view kDomainRecording = "recording/1";      // a job's result
inline constexpr std::string_view kDomainConformance = "conformance/1";  // floats of kernels
inline constexpr std::string_view kDomainGraph = "graph/1";              // a graph file's bytes
inline constexpr std::string_view kDomainConstant = "constant/1";        // a constant's floats
// For `ostraka compare`: "name=value\n" of each parameter of a cell; sized label | three u64.
inline constexpr std::string_view kDomainCompareCell = "compare.cell/1";
inline constexpr std::string_view kDomainCompareDraw = "compare.draw/1";
inline constexpr std::string_view kDomainCompareLine = "compare.line/1";  // a line of its store
inline constexpr std::string_view kDomainCompareProfile = "compare.profil/1";  // gradients

}  // namespace ostraka::crypto
