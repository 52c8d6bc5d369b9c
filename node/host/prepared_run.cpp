#include "node/host/prepared_run.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/config/origin.h"
#include "node/config/run_work.h"
#include "node/config/training.h"
#include "node/host/report/recall.h"
#include "node/net/lend/chunk_exchange.h"
#include "node/os/endpoint.h"
#include "node/protocol/ground/deadlines.h"
#include "node/protocol/ground/invite.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/reach.h"
#include "node/protocol/ground/state.h"
#include "node/protocol/lasting/followers.h"
#include "node/protocol/lasting/memory_need.h"
#include "node/protocol/member/peer.h"
#include "node/protocol/recording/head.h"
#include "node/protocol/recording/recording_machine.h"
#include "node/protocol/rules/leaving.h"
#include "node/protocol/rules/recomputing.h"
#include "node/protocol/seal/seal_bounds.h"
#include "node/train/data_source.h"
#include "node/train/trainer_loader.h"
#include "node/wire/limits.h"

namespace ostraka::host {
namespace {

using protocol::Manifest;
using store::RevocationFile;

// As many as the machine takes for guests (node/protocol/lasting/followers.h).
constexpr std::size_t kStrangers = protocol::Followers::kMostGuests;

bool IsOfManifest(const Manifest& manifest, const base::PeerId& self) {
  return std::any_of(manifest.members.begin(), manifest.members.end(),
                     [&](const protocol::Member& each) { return each.id == self; });
}

// Of who comes from outside: whether the run may let it in, as far as can be told before it asks.
base::Status CheckComes(const Manifest& manifest, const base::PeerId& self,
                        const std::optional<wire::Credential>& credential) {
  const std::string key = "key " + self.Short();
  switch (manifest.join.policy) {
    case protocol::JoinPolicy::kClosed:
      return base::FailedPrecondition(
          key + " is no member of this run, which is closed: ask for a manifest that lists it");
    case protocol::JoinPolicy::kAllowlist:
      return base::FailedPrecondition(
          key +
          " is no member of this run, and is not in the list of those that may come "
          "(join.allow): ask for a manifest that lists it");
    case protocol::JoinPolicy::kInvite:
      break;
  }
  if (!credential) {
    return base::FailedPrecondition(
        key +
        " needs an invite: ask a moderator for a link, and give it to `ostraka join`, or to "
        "`ostraka node` by --invite");
  }
  const base::PeerId& moderator = credential->invite.moderator;
  if (!protocol::IsModerator(manifest, moderator)) {
    return base::FailedPrecondition("the invite is signed by " + moderator.Short() +
                                    ", which is no moderator of this run: ask one of its "
                                    "moderators for a link");
  }
  crypto::PlainVerifier verifier;
  if (protocol::IsSigned(manifest.run_id, *credential, self, verifier)) return base::OkStatus();
  return base::FailedPrecondition(
      "the invite is not as its moderator signed it: it was damaged or altered, or is for another "
      "run; ask for the link again");
}

// The largest blob that a member may send: a part; or, to a returning member, a chunk of a state,
// the leaves of all its chunks, or a block. Blocks grow with the number of cases that n members can
// have open and with the ballots on them, and with the keys and invites that the run knows. Attack:
// a graph may have very many small tensors, whose leaves are longer than a chunk; a node that is
// asked for them must be able to send them.
std::uint64_t LargestBlob(const Manifest& manifest, const base::TensorLayout& layout) {
  const std::uint64_t n = protocol::SeatsIn(manifest);
  const std::uint64_t keys = protocol::KeysIn(manifest);
  const std::uint64_t values = protocol::LargestPart(base::ElementCount(layout));
  const std::uint64_t part = std::max(protocol::EncodedBytes(manifest.codecs.parts, values),
                                      protocol::EncodedBytes(manifest.codecs.results, values));
  const std::uint64_t block =
      std::min<std::uint64_t>(wire::kMaxBlockBytes, 65'536 + 640 * n * n + 512 * keys);
  const std::size_t slots = protocol::SlotNamesOf(manifest.training.optimizer).size();
  std::uint64_t leaves = 0;
  for (const protocol::StatePiece& piece : protocol::StatePieces(layout, slots)) {
    leaves += piece.leaf_count * sizeof(base::Digest::bytes);
  }
  return std::max({part, std::uint64_t{wire::kStateChunkBytes}, leaves, block});
}

base::StatusOr<net::TransportOptions> TransportOf(const RunOptions& options,
                                                  const base::TensorLayout& layout) {
  const Manifest& manifest = *options.manifest;
  const RunNetwork& network = options.network;
  net::TransportOptions transport;
  transport.run_id = manifest.run_id;
  transport.protocol_version = manifest.protocol_version;
  std::size_t used = 0;
  std::string announced;  // this member's address, which others dial
  for (const protocol::Member& member : manifest.members) {
    const auto own = network.addresses.find(member.id);
    if (own != network.addresses.end()) ++used;
    transport.members.push_back(
        {member.id, own == network.addresses.end() ? member.address : own->second});
    if (member.id == options.key->id()) announced = member.address;
  }
  // Members of the anchor block. A newcomer needs their addresses if no genesis member is left.
  const std::vector<base::PeerId> later =
      options.anchor == nullptr ? std::vector<base::PeerId>{} : options.anchor->members;
  for (const base::PeerId& peer : later) {
    if (IsOfManifest(manifest, peer) || peer == options.key->id()) continue;
    const auto own = network.addresses.find(peer);
    if (own != network.addresses.end()) ++used;
    transport.members.push_back(
        {peer, own == network.addresses.end() ? std::string() : own->second});
  }
  if (used < network.addresses.size()) {
    return base::InvalidArgument("an address is of a key that is no member of this run");
  }
  if (!network.listen.empty()) {
    transport.listen = network.listen;
  } else if (!announced.empty() && !network.listen_socket.ok()) {
    ASSIGN_OR_RETURN(transport.listen, os::ListeningAddressFor(announced));
  }
  if (network.listen_socket.ok()) transport.listen.clear();
  if (protocol::IsOpen(manifest)) transport.strangers = kStrangers;
  transport.max_members = std::max(transport.max_members, protocol::KeysIn(manifest));
  transport.key = options.key;
  transport.max_blob_bytes = LargestBlob(manifest, layout);
  transport.allow_unhashed = options.unprotected;
  transport.max_bytes_per_second = network.max_bytes_per_second;
  return transport;
}

// Members lend each other the chunks of data that this machine fetches. Null: it fetches none.
std::shared_ptr<net::ChunkExchange> ExchangeFor(RunOptions& options, std::uint64_t lends) {
  if (options.files.stream == nullptr) return nullptr;
  auto exchange = std::make_shared<net::ChunkExchange>(lends);
  auto access = std::make_shared<train::StreamAccess>(*options.files.stream);
  access->members = exchange;
  options.files.stream = std::move(access);
  return exchange;
}

std::uint64_t LendsPerSecond(const RunNetwork& network) {
  const std::uint64_t limit = network.max_bytes_per_second;
  const std::uint64_t usual = limit > 0 ? limit / protocol::kGuestsOneIn : kLendWithoutLimit;
  return network.lend_bytes_per_second.value_or(usual);
}

base::StatusOr<protocol::PeerOptions> PeerOptionsOf(const RunOptions& options,
                                                    const train::Trainer& trainer) {
  protocol::PeerOptions peer;
  peer.manifest = options.manifest;
  peer.key = options.key;
  peer.verifier = std::make_shared<crypto::PlainVerifier>();
  peer.layout = trainer.layout();
  peer.guest_bytes_a_second = options.network.max_bytes_per_second / protocol::kGuestsOneIn;
  ASSIGN_OR_RETURN(const protocol::ModelState origin,
                   config::ReadOrigin(*options.manifest, options.files.origin, peer.layout));
  peer.initial_parameters = origin.parameters;
  peer.initial_slots = origin.slots;
  if (origin.parameters == nullptr) {
    peer.initial_parameters = std::make_shared<const std::vector<float>>(
        trainer.InitialParameters(options.manifest->run_id));
  }
  peer.credential = options.credential;
  peer.anchor = options.anchor;
  return peer;
}

class ToFile final : public protocol::Recorder {
 public:
  explicit ToFile(std::shared_ptr<store::RecordingFile> file) : file_(std::move(file)) {}
  bool Given(const wire::RecordedInput& turn) override { return file_->Append(turn); }
  bool Asked(const wire::RecordedOutcome& outcome, bool ends_step) override {
    return file_->Append(outcome, ends_step);
  }

 private:
  std::shared_ptr<store::RecordingFile> file_;
};

// Of the machines that are made, the first is recorded: an attacker may have several, and changes
// what the others are given and say.
MachineMaker HonestMaker(const protocol::PeerOptions& peer, bool plain,
                         std::shared_ptr<store::RecordingFile> recording) {
  return [peer, plain, recording = std::move(recording)]() mutable {
    auto machine = plain ? protocol::MakePlainPeer(peer) : protocol::MakePeer(peer);
    if (recording == nullptr) return machine;
    machine = std::make_unique<protocol::RecordingMachine>(
        std::move(machine), peer.key->id(),
        std::make_shared<ToFile>(std::exchange(recording, nullptr)));
    return machine;
  };
}

// Of a whole step: the deadlines of its three seals, and in each the slow path that one silent
// member costs.
StepWaits StepWaitsOf(const wire::Block& head, const Manifest& manifest) {
  const base::Duration delta = base::Microseconds(static_cast<std::int64_t>(head.delta_us));
  StepWaits waits;
  waits.parts = protocol::PartWaitAfter(head, manifest);
  waits.messages = protocol::SealDeadlineAfter(head, manifest);
  waits.coins = delta * 3;
  waits.step = waits.messages + protocol::ProofDeadlineAfter(head, manifest) + waits.coins +
               protocol::DecisionBound(delta, 1) * 3;
  return waits;
}

store::CheckpointWriterOptions StatesOf(const RunOptions& options,
                                        const base::TensorLayout& layout) {
  const protocol::TrainingPlan& training = options.manifest->training;
  const std::string data = training.data.substr(0, training.data.find('@'));
  return {.data_dir = options.files.data_dir,
          .every = options.states.checkpoint_every,
          .keep = options.states.keep_checkpoints,
          .layout = layout,
          .metadata = {{"run_id", options.manifest->run_id.Hex()},
                       {"model", training.model},
                       {"data", training.data},
                       // Formula for the pixels p in the data's files.
                       {"inputs", train::InputScaling(data)}},
          .failed = {}};
}

}  // namespace

base::StatusOr<train::TrainerOptions> TrainerOptionsOf(const RunOptions& options) {
  return config::TrainerOptionsOf(*options.manifest, {.data = options.files.data,
                                                      .stream = options.files.stream,
                                                      .graph = options.files.graph,
                                                      .kernels = options.kernels,
                                                      .threads = options.threads,
                                                      .recompute = options.recompute,
                                                      .sample_tokens = options.sample_tokens,
                                                      .device = options.device,
                                                      .device_memory = options.device_memory,
                                                      .evaluate_on = options.states.evaluate_on});
}

base::StatusOr<PreparedRun> Prepare(RunOptions options) {
  OSTRAKA_CHECK(options.manifest != nullptr && options.key != nullptr);
  OSTRAKA_CHECK(options.states.keep_checkpoints > 0);
  const Manifest& manifest = *options.manifest;
  const base::PeerId self = options.key->id();
  const base::Status valid = protocol::Validate(manifest);
  if (!valid.ok()) return base::InvalidArgument("manifest: " + base::MessageOf(valid));
  const bool comes = !protocol::IsAllowed(manifest, self);
  const base::Status may_come =
      comes ? CheckComes(manifest, self, options.credential) : base::OkStatus();
  if (!protocol::IsOpen(manifest)) RETURN_IF_ERROR(may_come);
  if (options.unprotected && !IsOfManifest(manifest, self)) {
    return base::FailedPrecondition(
        "nobody comes into an unprotected run later: leave out "
        "--unprotected, or use a key of the manifest");
  }
  if (options.unprotected && !options.recording.folder.empty()) {
    return base::InvalidArgument(
        "an unprotected run cannot be recorded, since nothing in it is signed: leave out --record "
        "or --unprotected");
  }
  NodeOptions node;
  const std::uint64_t lends = LendsPerSecond(options.network);
  node.exchange = ExchangeFor(options, lends);
  ASSIGN_OR_RETURN(const train::TrainerOptions trainer_options, TrainerOptionsOf(options));
  ASSIGN_OR_RETURN(node.trainer, train::MakeTrainer(trainer_options));
  const base::TensorLayout layout = node.trainer->layout();
  const std::uint64_t dimension = base::ElementCount(layout);
  RETURN_IF_ERROR(config::CheckDimension(dimension, protocol::SeatsIn(manifest), manifest));
  ASSIGN_OR_RETURN(node.transport, TransportOf(options, layout));
  node.transport.lends_data = node.exchange != nullptr && lends > 0;
  if (!options.unprotected) {
    node.may_leave = [manifest = options.manifest, self](const wire::Block& head) {
      const bool is_listed = protocol::IsMember(head.leaving, self);  // an earlier process said so
      return is_listed || protocol::MayBeListed(self, head, *manifest);
    };
    node.borne_without = [manifest = options.manifest, self](const wire::Block& head) {
      return protocol::BorneWithout(self, head, *manifest);
    };
    node.waits = [manifest = options.manifest](const auto& head) {
      return StepWaitsOf(head, *manifest);
    };
  }
  if (manifest.join.policy == protocol::JoinPolicy::kInvite && !options.unprotected) {
    node.revocations = std::make_shared<RevocationFile>(options.files.data_dir, manifest.run_id,
                                                        manifest.join.moderators);
  }
  const bool listens = !node.transport.listen.empty() || options.network.listen_socket.ok();
  // Others that came later learn an address from the DHT alone. [Two that listened, and could not
  // find each other, disputed.]
  const bool is_found = listens && options.network.dht.mode != net::DhtMode::kOff;
  ASSIGN_OR_RETURN(const protocol::PeerOptions peer, PeerOptionsOf(options, *node.trainer));
  if (options.network.reachable) {
    node.wishes.only_dials = !*options.network.reachable;
  } else if (!is_found && !IsOfManifest(manifest, self)) {
    node.wishes.only_dials = true;
  }
  node.wishes.compute_percent = options.compute_percent;
  if (!options.recording.folder.empty()) {
    node.recording =
        std::make_shared<store::RecordingFile>(options.recording.folder, options.recording.limits);
  }
  const MachineMaker honest = HonestMaker(peer, options.unprotected, node.recording);
  if (options.machine) {
    ASSIGN_OR_RETURN(node.machine, options.machine(honest, layout));
  } else {
    node.machine = honest();
  }
  ASSIGN_OR_RETURN(store::KeyLock key_lock,
                   store::KeyLock::Claim(manifest.run_id, self, options.files.lock_folders));
  ASSIGN_OR_RETURN(node.ledger,
                   store::Ledger::Open({.data_dir = options.files.data_dir,
                                        .run_id = manifest.run_id,
                                        .peer = self,
                                        .names = protocol::NamesOf(manifest.members),
                                        .max_queued_bytes = protocol::MostWaitingForDisk(
                                            manifest, base::ElementCount(layout))}));
  ASSIGN_OR_RETURN(node.restored, node.ledger->Restore());
  // A node that was a member once needs no invite to come back.
  if (node.restored == nullptr) RETURN_IF_ERROR(may_come);
  if (node.restored == nullptr && options.checks_pace) {
    const auto work = config::MeasureLeastWork(manifest, *node.trainer);
    // Of rows that do not come yet members may have them: it begins unmeasured.
    const bool lacks_rows = node.exchange != nullptr && absl::IsUnavailable(work.status());
    if (!lacks_rows) {
      RETURN_IF_ERROR(work.status());
      RETURN_IF_ERROR(config::CheckInTime(manifest, *work, node.trainer->ComputesOn()));
    }
  }
  if (node.restored != nullptr) node.history = RecallHistory(options.files.data_dir);
  node.genesis = std::make_shared<const wire::Block>(protocol::GenesisHead(manifest));
  node.coin_seed = crypto::CoinSeed(*options.key, manifest.run_id);
  node.states = StatesOf(options, layout);
  node.evaluate_every = options.states.evaluate_every;
  if (node.recording != nullptr) {
    const wire::RecordingHead head =
        protocol::HeadOf(peer, options.recording.manifest, options.recording.program);
    RETURN_IF_ERROR(node.recording->Begin(manifest.run_id, head));
  }
  node.finder = {std::move(options.network.dht),
                 options.files.data_dir + "/" + net::kLearnedFileName, options.network.dial_back};
  node.status = std::move(options.network.status);
  return PreparedRun{self, layout, std::move(key_lock), std::move(node),
                     os::Descriptor(options.network.listen_socket.Release())};
}

}  // namespace ostraka::host
