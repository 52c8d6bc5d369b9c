#include "dht/answerer.h"

#include "dht/wire/limits.h"
#include "node/base/planted.h"

namespace ostraka::dht {

void Answerer::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, store_, checks_, tries_, tries_in_all_);
}

bool Answerer::HasGoodToken(const Asked& asked, const Query& query) const {
  return tokens_.IsGood(asked.now, asked.from, query.token) ||
         base::Planted(base::Bug::kDhtNoToken);
}

std::optional<Answerer::Answer> Answerer::OnQuery(const Asked& asked, const Query& query,
                                                  const RoutingTable& table) {
  if (query.network != network_ || query.sender == self_) return std::nullopt;
  if (!asked.server && query.kind != QueryKind::kPing) return std::nullopt;
  Answer answer;
  Reply& reply = answer.reply;
  reply.sender = self_;
  reply.server = asked.server;
  reply.seen = asked.from;
  switch (query.kind) {
    case QueryKind::kPing:
      break;
    case QueryKind::kGet:
      reply.records =
          store_.Get(asked.wall_s, query.target, query.start, kMaxRecords, kMaxRecordShareBytes);
      [[fallthrough]];
    case QueryKind::kFind:
      AddContacts(asked, query, table, reply);
      break;
    case QueryKind::kPut:
      reply.verdict = Put(asked, query);
      if (reply.verdict == Verdict::kDone) answer.stored = query.target;
      break;
    case QueryKind::kCheck:
      if (!HasGoodToken(asked, query)) {
        reply.verdict = Verdict::kBadToken;
      } else {
        const bool may = checks_.Take(asked.now, asked.from.address);
        reply.verdict = may ? Verdict::kDone : Verdict::kBusy;
      }
      break;
    case QueryKind::kTry:
      if (!HasGoodToken(asked, query)) {
        reply.verdict = Verdict::kBadToken;
      } else {
        const bool may = tries_.Has(asked.now, query.endpoint.address) &&
                         tries_in_all_.Take(asked.now, kTriesInAll) &&
                         tries_.Take(asked.now, query.endpoint.address);
        reply.verdict = may ? Verdict::kDone : Verdict::kBusy;
      }
      break;
  }
  return answer;
}

void Answerer::AddContacts(const Asked& asked, const Query& query, const RoutingTable& table,
                           Reply& reply) {
  reply.token = tokens_.For(asked.now, asked.from);
  const std::size_t most = ContactsBeside(reply.records);
  for (const KnownNode& node :
       table.Nearest(query.target, most, ScopeOf(asked.from), /*even_doubtful=*/false)) {
    if (node.contact.peer != query.sender) reply.contacts.push_back(node.contact);
  }
}

Verdict Answerer::Put(const Asked& asked, const Query& query) {
  if (!HasGoodToken(asked, query)) return Verdict::kBadToken;
  const auto opened = OpenAnnouncement(query.record);
  if (!opened.ok() || opened->content.network != network_) return Verdict::kBadRecord;
  // Before the signature, which costs 49 us.
  if (!BelongsUnder(opened->content, query.target)) return Verdict::kBadRecord;
  if (!verifier_->Verify(opened->content.peer, opened->digest, opened->signature)) {
    return Verdict::kBadRecord;
  }
  return store_.Put(asked.wall_s, query.target, *opened, query.record, asked.from);
}

void Answerer::CheckInvariants() const {
  store_.CheckInvariants();
  checks_.CheckInvariants();
  tries_.CheckInvariants();
}

}  // namespace ostraka::dht
