#include "dht/node.h"

#include <algorithm>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash_into.h"
#include "dht/wire/limits.h"
#include "node/base/check.h"
#include "node/base/planted.h"

namespace ostraka::dht {
namespace {

constexpr machine::TimerId kTimer = 0;
constexpr Lookup::Shape kRefreshShape = {1, 4};
constexpr std::size_t kMostOwnRecords = 16;  // of this node's store, in a read of its own

// A node id that a bucket of `self` would hold, and otherwise random.
Digest PointInBucket(const Digest& self, std::size_t bucket, const Digest& random) {
  Digest point = random;
  for (std::size_t bit = 0; bit <= bucket; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80 >> (bit % 8));
    const std::uint8_t own = self.bytes[bit / 8] & mask;
    const std::uint8_t wanted = bit == bucket ? own ^ mask : own;
    point.bytes[bit / 8] = static_cast<std::uint8_t>((point.bytes[bit / 8] & ~mask) | wanted);
  }
  return point;
}

}  // namespace

Node::Node(NodeConfig config)
    : config_(std::move(config)),
      self_(NodeIdOf(config_.network, config_.key->id())),
      table_(self_),
      reachability_(config_.role) {
  OSTRAKA_CHECK(config_.verifier != nullptr);
}

void Node::Step(base::Time now, const Input& input, Outbox& out) {
  call_ = {now, &out};
  std::visit([this](const auto& what) { On(what); }, input);
  SetTimer();
  call_.out = nullptr;
}

// --- inputs
// ---------------------------------------------------------------------------------------

void Node::On(const Started& started) {
  OSTRAKA_CHECK(!started_);
  started_ = started;
  started_at_ = call_.now;
  random_ = std::make_unique<crypto::Stream>("dht", started.secret);
  answerer_ = std::make_unique<Answerer>(config_.network, config_.key->id(), config_.verifier.get(),
                                         started.secret);
  started_->bootstraps.resize(std::min(started.bootstraps.size(), kMostAddresses));
  started_->known.resize(std::min(started.known.size(), kMostAddresses));
  upkeep_.Start(call_.now);
  AskBootstraps();
  for (const Contact& contact : started_->known) {
    if (IsUsable(contact.endpoint) && contact.peer != config_.key->id()) {
      Meet(dht::Located(config_.network, contact));
    }
  }
}

void Node::On(const machine::DatagramReceived<Endpoint>& datagram) {
  if (!started_ || datagram.bytes == nullptr || !IsUsable(datagram.from)) return;
  base::Bytes padded;
  base::ByteView bytes(*datagram.bytes);
  const auto header = ReadHeader(bytes);
  if (!header.ok()) return;
  if (header->is_reply) return OnReply(datagram.from, bytes, header->nonce);
  if (base::Planted(base::Bug::kDhtShortQuery)) {
    padded.assign(bytes.begin(), bytes.end());
    padded.resize(kDatagramBytes);
    bytes = padded;
  }
  OnQuery(datagram.from, bytes, header->nonce);
}

void Node::On(const Ask& ask) {
  const Lookup::Shape shape = Search::ShapeFor(table_.size());
  const bool full = operations_.size() >= kMostOperations;
  const auto read = [&](const Digest& key, bool one_owner) {
    if (full) return Answer(ask.id, {}, GotRecords{});
    const auto start = static_cast<std::uint32_t>(random_->NextU64());
    Reading reading(config_.network, key, one_owner);
    // Of a few nodes, this one may be the only one that stores what it looks for.
    reading.Add(WallSeconds(),
                answerer_->store().Get(WallSeconds(), key, start, kMostOwnRecords, kMaxRecordBytes),
                *config_.verifier);
    Begin(key, shape, ReadGoal{std::move(reading), start}, ask.id);
  };
  if (const auto* get = std::get_if<GetRun>(&ask.what)) {
    read(RunKey(config_.network, get->run_id), /*one_owner=*/false);
  } else if (const auto* peer = std::get_if<GetPeer>(&ask.what)) {
    read(PeerKey(config_.network, peer->peer), /*one_owner=*/true);
  } else if (const auto* find = std::get_if<FindNodes>(&ask.what)) {
    if (full) return Answer(ask.id, {}, FoundNodes{});
    Begin(find->target, shape, LookGoal{}, ask.id);
  } else {
    const Publish& publish = std::get<Publish>(ask.what);
    if (!FitsRecord(publish.content)) return Answer(ask.id, {}, Published{});
    const auto replaced = publisher_.Set(call_.now, ask.id, publish);
    if (replaced) call_.out->Add(*replaced);
    Announce();
  }
}

void Node::On(const machine::TimerFired& timer) {
  OSTRAKA_CHECK(timer.id == kTimer);
  timer_.reset();
  Work();
}

// --- queries of others
// ----------------------------------------------------------------------------

void Node::OnQuery(const Endpoint& from, base::ByteView bytes, const Nonce& nonce) {
  if (!gate_.Take(call_.now, from)) return;
  const auto opened = OpenQuery(bytes);
  if (!opened.ok()) return;
  const Query& query = opened->query;
  const bool server = reachability_.server(ScopeOf(from));
  auto answer = answerer_->OnQuery({call_.now, WallSeconds(), from, server}, query, table_);
  if (!answer) return;
  if (query.kind == QueryKind::kPing) reachability_.OnPing(call_.now, nonce, from);
  if (answer->reply.verdict == Verdict::kDone && !Serve(from, query)) {
    answer->reply.verdict = Verdict::kBusy;
  }
  if (answer->stored) {
    call_.out->Add(machine::Observe<Observation>{RecordStored{*answer->stored, from}});
  }
  call_.out->Add(machine::SendDatagram<Endpoint>{
      from, EncodeReply(nonce, opened->digest, answer->reply, *config_.key)});
  if (!query.server) return;
  // It may be a node that we do not know yet; its answer will prove it.
  const KnownNode asker = dht::Located(config_.network, {query.sender, from});
  if (table_.HasPlaceFor(asker)) Meet(asker);
}

bool Node::Serve(const Endpoint& from, const Query& query) {
  if (query.kind == QueryKind::kCheck) {
    const KnownNode* third = table_.OfAnotherPrefix(from, random_->NextU64());
    if (third == nullptr) return false;
    Query find;
    find.kind = QueryKind::kFind;
    find.target = self_;
    Request request = {third->contact.endpoint, *third, {}, Purpose::kTryToken};
    request.mark = query.mark;
    request.tested = from;
    return Send(find, request);
  }
  if (query.kind == QueryKind::kTry) {
    const Scope scope = ScopeOf(query.endpoint);
    if (scope != Scope::kPublic && scope != ScopeOf(from)) return false;
    return Send(query.mark, Query{}, {query.endpoint, std::nullopt, {}, Purpose::kTest});
  }
  return true;
}

// --- replies to ours
// ------------------------------------------------------------------------------

void Node::OnReply(const Endpoint& from, base::ByteView bytes, const Nonce& nonce) {
  const Request* waiting = requests_.Find(nonce, from);
  if (waiting == nullptr) return;
  const auto opened = OpenReply(bytes, waiting->query);
  if (!opened.ok()) return;
  const Reply& reply = opened->reply;
  if (reply.sender == config_.key->id()) return;
  if (waiting->node && waiting->node->contact.peer != reply.sender) return;
  if (!config_.verifier->Verify(reply.sender, opened->digest, opened->signature) &&
      !base::Planted(base::Bug::kDhtUnsignedReply)) {
    return;
  }
  const Request request = requests_.Take(nonce);
  const KnownNode node =
      request.node ? *request.node : dht::Located(config_.network, {reply.sender, from});
  vantage_.OnAnswer(from, reply.seen);
  if (reply.server) {
    const bool is_new = table_.HasPlaceFor(node);
    table_.OnAnswer(call_.now, node);
    if (is_new) call_.out->Add(machine::Observe<Observation>{ContactLearned{node.contact}});
  } else {
    table_.OnSilence(call_.now, node);  // it has become a client
  }
  Use(request, node, reply);
}

std::vector<KnownNode> Node::Located(const Reply& reply, const Endpoint& from) const {
  std::vector<KnownNode> nodes;
  const Scope scope = ScopeOf(from);
  for (const Contact& contact : reply.contacts) {
    const Scope own = ScopeOf(contact.endpoint);
    if (own != Scope::kPublic && own != scope) continue;
    if (contact.peer == config_.key->id()) continue;
    nodes.push_back(dht::Located(config_.network, contact));
  }
  return nodes;
}

void Node::Use(const Request& request, const KnownNode& node, const Reply& reply) {
  switch (request.purpose) {
    case Purpose::kMeet:
    case Purpose::kTest:
    case Purpose::kCheck:
    case Purpose::kTry:
      return;
    case Purpose::kBootstrap:
      for (const KnownNode& named : Located(reply, request.to)) {
        if (upkeep_.joined() && table_.HasPlaceFor(named)) Meet(named);
      }
      return;
    case Purpose::kSearch:
    case Purpose::kRead:
    case Purpose::kWrite: {
      const auto at = operations_.find(request.operation);
      if (at == operations_.end()) return;  // it ended without waiting
      at->second.OnReply(WallSeconds(), request, reply, Located(reply, request.to),
                         *config_.verifier);
      return Advance(request.operation);
    }
    case Purpose::kCheckToken: {
      Query check;
      check.kind = QueryKind::kCheck;
      check.token = reply.token;
      check.mark = DrawNonce();
      reachability_.BeginTest(call_.now, check.mark, request.to);
      Send(check, {request.to, node, {}, Purpose::kCheck});
      return;
    }
    case Purpose::kTryToken: {
      Query test;
      test.kind = QueryKind::kTry;
      test.token = reply.token;
      test.mark = request.mark;
      test.endpoint = request.tested;
      Send(test, {request.to, node, {}, Purpose::kTry});
      return;
    }
  }
}

void Node::OnFate(Requests::Fate fate, const Request& request) {
  if (fate == Requests::Fate::kLost && request.node) table_.OnSilence(call_.now, *request.node);
  const bool of_operation = request.purpose == Purpose::kSearch ||
                            request.purpose == Purpose::kRead || request.purpose == Purpose::kWrite;
  if (!of_operation) return;
  const auto at = operations_.find(request.operation);
  if (at == operations_.end()) return;
  at->second.OnFate(fate, request);
  Advance(request.operation);
}

// --- queries of ours
// ------------------------------------------------------------------------------

bool Node::Send(const Nonce& nonce, Query query, Request request) {
  query.network = config_.network;
  query.sender = config_.key->id();
  query.server = reachability_.server(ScopeOf(request.to));
  const Endpoint to = request.to;
  EncodedQuery encoded = EncodeQuery(nonce, query);
  request.query = encoded.digest;
  if (!requests_.Add(call_.now, nonce, std::move(request))) return false;
  reachability_.OnSent(call_.now, to);
  call_.out->Add(machine::SendDatagram<Endpoint>{to, std::move(encoded.datagram)});
  return true;
}

void Node::Meet(const KnownNode& node) {
  if (requests_.IsAsked(node.contact) || !greeter_.Take(call_.now, node.contact.endpoint)) return;
  Send(Query{}, {node.contact.endpoint, node, {}, Purpose::kMeet});
}

void Node::AskBootstraps() {
  Query find;
  find.kind = QueryKind::kFind;
  find.target = self_;
  for (const Endpoint& endpoint : started_->bootstraps) {
    if (IsUsable(endpoint)) Send(find, {endpoint, std::nullopt, {}, Purpose::kBootstrap});
  }
}

// --- operations
// -----------------------------------------------------------------------------------

void Node::Begin(const Digest& target, const Lookup::Shape& shape, Goal goal,
                 std::optional<std::uint64_t> ask) {
  // The scope of an address decides what we may be told of it; what we know ourselves we may ask.
  const Scope scope = vantage_.scope();
  size_.SetFloor(table_.size());
  const std::uint64_t id = next_operation_++;
  Digest random;
  random_->Fill(random.bytes);
  Search search(target, random, shape, table_, scope);
  operations_.emplace(id, Operation(call_.now, std::move(search), std::move(goal), ask));
  Advance(id);
}

void Node::BeginOwnPlace() {
  Begin(self_, Search::ShapeFor(table_.size()), RefreshGoal{/*joins=*/true}, std::nullopt);
}

void Node::Advance(std::uint64_t id) {
  const auto at = operations_.find(id);
  if (at == operations_.end()) return;
  Operation& operation = at->second;
  for (bool again = true; again;) {
    again = false;
    for (Operation::Errand& errand : operation.Next(call_.now, table_, size_)) {
      Request request = {
          errand.to.contact.endpoint, errand.to, {}, errand.purpose, id, errand.lookup};
      if (Send(std::move(errand.query), request)) continue;
      operation.OnFate(Requests::Fate::kLost, request);
      again = true;
    }
  }
  if (!operation.done()) return;
  const Operation ended = std::move(operation);
  operations_.erase(at);
  Finish(ended);
}

void Node::Finish(const Operation& operation) {
  const Search& search = operation.search();
  if (const auto* refresh = std::get_if<RefreshGoal>(&operation.goal())) {
    std::vector<Digest> nearest;
    for (const Found& found : search.Result()) nearest.push_back(found.node.id);
    size_.Add(search.key(), nearest);
    if (refresh->joins && !upkeep_.joined() && table_.size() > 0) {
      upkeep_.OnJoined();
      const auto nodes = static_cast<std::uint32_t>(table_.size());
      call_.out->Add(machine::Observe<Observation>{Joined{nodes}});
    }
  } else if (const auto* read = std::get_if<ReadGoal>(&operation.goal())) {
    Answer(*operation.ask(), operation.effort(), GotRecords{read->reading.Result()});
  } else if (const auto* write = std::get_if<WriteGoal>(&operation.goal())) {
    const auto answered = publisher_.OnWritten(operation.effort(), write->stored, write->refused);
    if (answered) call_.out->Add(*answered);
  } else {
    FoundNodes found;
    for (const Found& one : search.Result()) found.nodes.push_back(one.node.contact);
    Answer(*operation.ask(), operation.effort(), std::move(found));
  }
}

void Node::Answer(std::uint64_t ask, const Effort& effort, decltype(Answered::result) result) {
  call_.out->Add(Answered{ask, effort, std::move(result)});
}

// --- what comes due
// -------------------------------------------------------------------------------

void Node::Work() {
  for (const auto& [fate, request] : requests_.Expire(call_.now)) OnFate(fate, request);
  std::vector<std::uint64_t> overdue;
  for (const auto& [id, operation] : operations_) {
    if (operation.deadline() && *operation.deadline() <= call_.now) overdue.push_back(id);
  }
  for (const std::uint64_t id : overdue) Advance(id);
  if (reachability_.Update(call_.now)) {
    const bool server = reachability_.server(Scope::kPublic);
    call_.out->Add(machine::Observe<Observation>{ServerChanged{server}});
    if (server) upkeep_.SearchOwnPlace(call_.now);
  }
  if (upkeep_.joined() && reachability_.IsDue(call_.now)) BeginChecks();
  if (upkeep_.IsDue(call_.now)) Tick();
  Announce();
}

void Node::Tick() {
  const Upkeep::Due due = upkeep_.Tick(call_.now, table_, IsRefreshing(), random_->NextU64());
  answerer_->DropExpired(WallSeconds());
  if (due.bootstraps) {
    const bool alone = table_.size() == 0;
    AskBootstraps();
    if (alone) call_.out->Add(machine::Observe<Observation>{NobodyAnswers{}});
  }
  if (due.own_place) BeginOwnPlace();
  if (due.bucket) {
    Digest random;
    random_->Fill(random.bytes);
    Begin(PointInBucket(self_, *due.bucket, random), kRefreshShape, RefreshGoal{}, std::nullopt);
  }
  if (due.silent) {
    const base::Time since = call_.now + base::Duration{-Upkeep::kSilent.ns};
    for (const KnownNode& node : table_.SilentSince(since, Upkeep::kPingsATick)) {
      if (requests_.IsAsked(node.contact)) continue;
      Send(Query{}, {node.contact.endpoint, node, {}, Purpose::kMeet});
    }
  }
  if (due.keep) {
    KeptContacts kept;
    for (const KnownNode& node : table_.Nearest(self_, kMostAddresses, vantage_.scope(), false)) {
      kept.contacts.push_back(node.contact);
    }
    call_.out->Add(machine::Store<KeptContacts>{next_store_++, {std::move(kept)}});
  }
}

// Before the node has joined, nobody could be asked to store.
void Node::Announce() {
  if (!upkeep_.joined() || !publisher_.IsDue(call_.now)) return;
  for (Publisher::Write& write :
       publisher_.Begin(call_.now, WallSeconds(), config_.network, *config_.key)) {
    Begin(write.key, Search::ShapeFor(table_.size()), WriteGoal{std::move(write.record)},
          std::nullopt);
  }
}

void Node::BeginChecks() {
  reachability_.BeginRound(call_.now);
  Query find;
  find.kind = QueryKind::kFind;
  find.target = self_;
  Endpoint last;
  for (std::size_t i = 0; i < Reachability::HelpersAmong(table_.size()); ++i) {
    const KnownNode* helper = table_.OfAnotherPrefix(last, random_->NextU64());
    if (helper == nullptr) return;
    last = helper->contact.endpoint;
    Send(find, {last, *helper, {}, Purpose::kCheckToken});
  }
}

void Node::SetTimer() {
  if (!started_) return;
  base::Time next = upkeep_.next();
  const auto sooner = [&next](const std::optional<base::Time>& at) {
    if (at) next = std::min(next, *at);
  };
  sooner(requests_.next_expiry());
  for (const auto& [id, operation] : operations_) sooner(operation.deadline());
  if (upkeep_.joined()) {
    sooner(publisher_.next());
    if (config_.role == Role::kAuto) sooner(reachability_.next());
  }
  // A timer that comes too early finds nothing to do and is set again, which is cheaper than to set
  // it with every reply.
  if (timer_ && *timer_ <= next) return;
  timer_ = std::max(next, call_.now);
  call_.out->Add(machine::SetTimer{kTimer, *timer_});
}

std::uint64_t Node::WallSeconds() const {
  return started_->wall_s +
         static_cast<std::uint64_t>((call_.now - started_at_).ns / 1'000'000'000);
}

Nonce Node::DrawNonce() {
  Nonce nonce;
  random_->Fill(nonce);
  return nonce;
}

bool Node::IsRefreshing() const {
  return std::any_of(operations_.begin(), operations_.end(), [](const auto& entry) {
    return std::holds_alternative<RefreshGoal>(entry.second.goal());
  });
}

// --- for people and checkers
// ----------------------------------------------------------------------

Progress Node::progress() const {
  Progress progress;
  progress.joined = upkeep_.joined();
  progress.server = reachability_.server(Scope::kPublic);
  progress.nodes = static_cast<std::uint32_t>(table_.size());
  progress.records = answerer_ ? static_cast<std::uint32_t>(answerer_->store().size()) : 0;
  progress.waiting = static_cast<std::uint32_t>(requests_.size());
  progress.network = size_.nodes();
  progress.seen = vantage_.agreed();
  return progress;
}

void Node::CheckInvariants() const {
  table_.CheckInvariants();
  requests_.CheckInvariants();
  publisher_.CheckInvariants();
  reachability_.CheckInvariants();
  gate_.CheckInvariants();
  greeter_.CheckInvariants();
  if (answerer_) answerer_->CheckInvariants();
  OSTRAKA_CHECK(operations_.size() <= kMostOperations + 4);
  for (const auto& [id, operation] : operations_) {
    OSTRAKA_CHECK(id < next_operation_);
    operation.CheckInvariants();
  }
}

// The answers to what was asked before decide the next ones: the generator's position follows from
// the queries that were sent, so next_operation_ and requests_ stand for it.
base::Digest Node::Fingerprint() const {
  crypto::Hasher hasher(crypto::kDomainFingerprint);
  crypto::Feed(hasher, table_, size_, gate_, greeter_, requests_, operations_, next_operation_,
               reachability_, upkeep_, publisher_, timer_, vantage_, next_store_, started_at_);
  if (answerer_) crypto::Feed(hasher, *answerer_);
  return hasher.Finish();
}

}  // namespace ostraka::dht
