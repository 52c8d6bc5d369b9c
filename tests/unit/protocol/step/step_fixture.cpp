#include "tests/unit/protocol/step/step_fixture.h"

#include <algorithm>

#include "aggregation/kernels/projection.h"
#include "crypto/merkle.h"
#include "crypto/parameters_root.h"
#include "crypto/set_root.h"
#include "node/base/check.h"
#include "node/base/rng.h"
#include "node/protocol/step/part_check.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "tests/unit/protocol/keys.h"
#include "tests/unit/protocol/scene.h"
#include "tests/unit/protocol/states.h"

namespace ostraka::protocol {

using scene::DigestOf;
using wire::MessageType;
using wire::Phase;

namespace {

ModelState ZeroState() {
  const auto zeros = std::make_shared<const std::vector<float>>(StepWorld::kDimension, 0.0F);
  return SgdState(zeros, zeros);
}

JobResult Run(const JobSpec& spec) {
  return RunJob(
      spec, [](const GradientSpec&) { return base::Internal("no gradients here"); },
      aggregation::SerialExecutor());
}

}  // namespace

// --- making -------------------------------------------------------------------------------------

StepWorld::Beginning StepWorld::BeginningOf(const Edit& edit, std::uint32_t members) {
  auto manifest = std::make_shared<Manifest>(scene::ManifestOf(members));
  const auto keys = scene::SortedKeys(members);
  for (std::size_t i = 0; i < members; ++i) manifest->members[i].id = keys[i]->id();
  auto head = std::make_shared<Block>(scene::ViewBefore(*manifest, kStep));
  head->tau = 4.0;
  head->delta_us = static_cast<std::uint64_t>(kDelta.ns / 1'000);
  if (edit) edit(*manifest, *head);
  return {manifest, head};
}

StepWorld::StepWorld(const Edit& edit, std::uint32_t members)
    : StepWorld(members, BeginningOf(edit, members)) {}

StepWorld::StepWorld(std::uint32_t members, Beginning beginning)
    : Core(beginning.manifest, scene::SortedKeys(members)[kSelf], {{"weight", {kDimension}}},
           ZeroState(), std::make_unique<SeedSecrets>(scene::SortedKeys(members)[kSelf]->id())),
      MemberState(static_cast<Core&>(*this), 0),
      keys(scene::SortedKeys(members)),
      pull(turn),
      facts(StepReading(*beginning.head, *beginning.manifest, kDimension)) {
  chain.AdvanceHead(beginning.head);
  secrets->Begin(DigestOf(900 + kSelf));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    all_secrets.emplace_back(keys[i]->id()).Begin(DigestOf(900 + i));
  }
  turn.Begin(Time{} + base::Seconds(1000), out);
  voice.SetStep(facts.number());
  facts.parent_a = wire::BlockDigest(head());
  facts.my_column = facts.roles().PartOwnedBy(self);
}

PeerId StepWorld::IdOf(std::size_t member, std::uint32_t members) {
  return scene::SortedKeys(members)[member]->id();
}

std::vector<PeerId> StepWorld::Others() const {
  std::vector<PeerId> others = head().members;
  std::erase(others, self);
  return others;
}

std::size_t StepWorld::OwnerOf(std::uint32_t column) const {
  const auto& members = head().members;
  const auto at = std::find(members.begin(), members.end(), facts.roles().owners[column]);
  return static_cast<std::size_t>(at - members.begin());
}

std::uint32_t StepWorld::ColumnOf(std::size_t member) const {
  return facts.roles().PartOwnedBy(Id(member)).value();
}

void StepWorld::Go(base::Duration duration) {
  const Time later = turn.now() + duration;
  turn.End();
  turn.Begin(later, out);
}

// --- what members say ---------------------------------------------------------------------------

Digest StepWorld::CoinsRootOf(std::size_t member) const {
  return all_secrets[member].CoinsRoot(facts.number(), facts.reading.coin_count);
}

SharedVector StepWorld::GradientOf(std::size_t member) const {
  base::Rng rng = base::Rng(1).Fork("gradient", member);
  auto gradient = std::make_shared<std::vector<float>>(kDimension);
  for (float& value : *gradient) value = static_cast<float>(0.5 + rng.Normal());
  return gradient;
}

const std::vector<SharedBlob>& StepWorld::PartsOf(std::size_t member) {
  std::vector<SharedBlob>& parts = parts_[member];
  if (parts.empty()) {
    const PackSpec spec{.gradient = GradientOf(member), .parts = facts.roles().parts, .hash = true};
    parts = std::get<PackResult>(Run(spec)).parts;
  }
  return parts;
}

SharedBlob StepWorld::ResultOf(std::uint32_t column) {
  SharedBlob& result = results_[column];
  if (result != nullptr) return result;
  AggregateSpec spec;
  spec.size = facts.roles().parts[column].size();
  for (std::size_t i = 0; i < count(); ++i) {
    if (facts.roles().IsWorker(Id(i))) spec.parts.push_back(PartsOf(i)[column]);
  }
  spec.tau = head().tau;
  spec.eps = manifest->eps;
  result = std::get<AggregateResult>(Run(spec)).result;
  return result;
}

wire::Commit StepWorld::CommitBody(std::size_t member) {
  wire::Commit commit;
  commit.coin_count = facts.reading.coin_count;
  commit.coins_root = CoinsRootOf(member);
  if (facts.roles().IsWorker(Id(member))) {
    std::vector<Digest> roots;
    for (const SharedBlob& part : PartsOf(member)) roots.push_back(part->root);
    commit.gradient_root = crypto::MerkleRoot(roots);
  }
  if (facts.reading.exact)
    commit.parameters_root = crypto::ParametersRoot(*chain.state().parameters);
  return commit;
}

wire::Part StepWorld::PartBody(std::size_t member, std::uint32_t column) {
  std::vector<Digest> roots;
  for (const SharedBlob& part : PartsOf(member)) roots.push_back(part->root);
  wire::Part part;
  part.header = HeaderOf(facts.roles().parts[column], Codec::kRaw);
  part.root = roots[column];
  part.path = crypto::MerklePath(roots, column);
  return part;
}

wire::Aggregate StepWorld::AggregateBody(std::uint32_t column) {
  std::vector<Digest> leaves;
  std::vector<Digest> commits;
  for (std::size_t i = 0; i < count(); ++i) {
    if (!facts.roles().IsWorker(Id(i))) continue;
    leaves.push_back(PartsOf(i)[column]->root);
    commits.push_back(Commit(i)->digest);
  }
  wire::Aggregate aggregate;
  aggregate.part_index = column;
  aggregate.result_root = ResultOf(column)->root;
  aggregate.included = wire::BitmapOf(facts.roles().workers, head().members);
  aggregate.leaves_root = crypto::MerkleRoot(leaves);
  aggregate.commits_root = crypto::SetRoot(commits);
  return aggregate;
}

wire::Proof StepWorld::ProofBody(std::size_t member) {
  wire::Proof proof;
  proof.held = HeldBitmap(head(), {}, {});
  proof.silent = proof.hasty = proof.unshown = wire::BitmapOf({}, head().members);
  if (!facts.roles().IsWorker(Id(member))) return proof;
  ProveSpec spec;
  spec.parts = PartsOf(member);
  for (std::uint32_t j = 0; j < facts.roles().parts.size(); ++j) {
    spec.columns.push_back({j, facts.roles().parts[j], ResultOf(j),
                            DirectionSeed(facts.reading.randomness, facts.number(), j)});
  }
  spec.tau = head().tau;
  proof.columns = std::get<ProveResult>(Run(spec)).columns;
  return proof;
}

wire::SharedMessage StepWorld::SayUnder(const Digest& parent, std::size_t member, Phase phase,
                                        MessageType type, base::Bytes body, std::uint32_t draw,
                                        std::uint32_t iteration) const {
  const wire::Slot slot = voice.SlotOf(facts.number(), phase, type, draw, iteration);
  return wire::Share(wire::Seal({slot, parent, Id(member), std::move(body)}, *keys[member]));
}

wire::SharedMessage StepWorld::Say(std::size_t member, Phase phase, MessageType type,
                                   base::Bytes body, std::uint32_t draw,
                                   std::uint32_t iteration) const {
  return SayUnder(facts.ParentOf(phase), member, phase, type, std::move(body), draw, iteration);
}

wire::SharedMessage StepWorld::Commit(std::size_t member) {
  return Say(member, Phase::kA, MessageType::kCommit, wire::Encode(CommitBody(member)));
}
wire::SharedMessage StepWorld::SecondCommit(std::size_t member) {
  wire::Commit commit = CommitBody(member);
  commit.coins_root = DigestOf(77);
  return Say(member, Phase::kA, MessageType::kCommit, wire::Encode(commit));
}
wire::SharedMessage StepWorld::Part(std::size_t member, std::uint32_t column) {
  return Say(member, Phase::kA, MessageType::kPart, wire::Encode(PartBody(member, column)), 0,
             column);
}
wire::SharedMessage StepWorld::Aggregate(std::size_t member) {
  return Say(member, Phase::kA, MessageType::kAggregate,
             wire::Encode(AggregateBody(ColumnOf(member))));
}
wire::SharedMessage StepWorld::Result(std::uint32_t column) {
  const wire::Result body{HeaderOf(facts.roles().parts[column], Codec::kRaw),
                          ResultOf(column)->root};
  return Say(OwnerOf(column), Phase::kA, MessageType::kResult, wire::Encode(body), 0, column);
}
wire::SharedMessage StepWorld::Reveal(std::size_t member, std::uint32_t draw) const {
  const wire::Reveal body{
      all_secrets[member].Opening(facts.number(), facts.reading.coin_count, draw)};
  return Say(member, Phase::kB, MessageType::kReveal, wire::Encode(body), draw);
}
wire::SharedMessage StepWorld::Proof(std::size_t member) {
  return Say(member, Phase::kC, MessageType::kProof, wire::Encode(ProofBody(member)));
}

// --- what the inbox takes in --------------------------------------------------------------------

void StepWorld::Hear(const wire::SharedMessage& message, const SharedBlob& blob) {
  inbox.Add(message, blob);
}
void StepWorld::HearPart(std::size_t member, std::uint32_t column) {
  Hear(Part(member, column), PartsOf(member)[column]);
}
void StepWorld::HearPhaseA() {
  for (std::size_t i = 0; i < count(); ++i) {
    Hear(Commit(i));
    if (facts.roles().PartOwnedBy(Id(i))) Hear(Aggregate(i));
  }
}
void StepWorld::HearReveals() {
  for (std::size_t i = 0; i < count(); ++i) Hear(Reveal(i));
}
void StepWorld::HearProofs() {
  for (std::size_t i = 0; i < count(); ++i) Hear(Proof(i));
}

// --- what the seals decide ----------------------------------------------------------------------

SealedMessages StepWorld::SealedA() {
  SealedMessages sealed(2 * count());
  for (std::size_t i = 0; i < count(); ++i) {
    sealed[i] = {SealedMessage::State::kPresent, Commit(i)};
    if (!facts.roles().PartOwnedBy(Id(i))) continue;
    sealed[count() + i] = {SealedMessage::State::kPresent, Aggregate(i)};
  }
  return sealed;
}

void StepWorld::ReadA() {
  facts.reading.ReadSealA(head(), SealedA());
  facts.parent_b = DigestOf(501);
}

void StepWorld::ReadB() {
  SealedMessages sealed;
  for (std::size_t i = 0; i < count(); ++i) {
    sealed.push_back({SealedMessage::State::kPresent, Reveal(i)});
  }
  OSTRAKA_CHECK(facts.reading.ReadSealB(head(), *manifest, sealed));
  facts.parent_c = DigestOf(502);
}

void StepWorld::ReadC() {
  SealedMessages sealed;
  for (std::size_t i = 0; i < count(); ++i) {
    sealed.push_back({SealedMessage::State::kPresent, Proof(i)});
  }
  facts.reading.ReadSealC(head(), sealed);
}

// --- what the member does -----------------------------------------------------------------------

std::vector<Record> StepWorld::StoredRecords(RecordKind kind) {
  std::vector<Record> records;
  std::vector<Action> rest;
  for (Action& action : out.actions()) {
    const Store* store = std::get_if<Store>(&action);
    const bool match =
        store != nullptr && std::any_of(store->records.begin(), store->records.end(),
                                        [&](const Record& record) { return record.kind == kind; });
    if (match) {
      records.insert(records.end(), store->records.begin(), store->records.end());
    } else {
      rest.push_back(std::move(action));
    }
  }
  out.actions() = std::move(rest);
  return records;
}

std::vector<Journal::Own> StepWorld::Utter() {
  for (const Store& store : Taken<Store>()) {
    auto released = journal.Release(store.id);
    if (!released) continue;
    for (SignedDraft& draft : *released) voice.Say(std::move(draft));
  }
  std::vector<Journal::Own> own;
  while (auto one = voice.NextOwn()) own.push_back(*std::move(one));
  return own;
}

std::vector<wire::SharedMessage> StepWorld::UtterAndHear() {
  std::vector<wire::SharedMessage> messages;
  for (const Journal::Own& own : Utter()) {
    Hear(own.message, own.blob);
    messages.push_back(own.message);
  }
  return messages;
}

std::vector<SentFrame> StepWorld::Sent(MessageType type) {
  std::vector<SentFrame> frames;
  for (const Send& send : Taken<Send>()) {
    const auto opened = wire::Open(send.frame);
    OSTRAKA_CHECK(opened.ok());
    if (opened->envelope.slot.type != type) continue;
    frames.push_back({send.to, opened->envelope, send.blob});
  }
  return frames;
}

std::vector<std::pair<PeerId, wire::Pull>> StepWorld::Pulls() {
  std::vector<std::pair<PeerId, wire::Pull>> pulls;
  for (const SentFrame& frame : Sent(MessageType::kPull)) {
    pulls.emplace_back(frame.to, wire::Decode<wire::Pull>(frame.envelope.body).value());
  }
  return pulls;
}

JobResult StepWorld::RunJob(const StartJob& job) const {
  if (std::holds_alternative<GradientSpec>(*job.spec)) return GradientResult{GradientOf(kSelf)};
  return Run(*job.spec);
}

}  // namespace ostraka::protocol
