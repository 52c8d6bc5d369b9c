#include "node/net/reach/dial_back.h"

#include <utility>

#include "node/base/check.h"
#include "node/os/steady_clock.h"

namespace ostraka::net {
namespace {

static_assert(DialBack::kPatience < Sounding::kPatience);

AddressPolicy PolicyOf(const std::vector<TransportMember>& members) {
  std::vector<std::string> addresses;
  for (const TransportMember& member : members) {
    if (!member.address.empty()) addresses.push_back(member.address);
  }
  return AddressPolicy(addresses);
}

}  // namespace

DialBack::DialBack(boost::asio::io_context& io, std::shared_ptr<const crypto::SigningKey> key,
                   const base::Digest& run_id, const std::vector<TransportMember>& members, bool on,
                   DialBackEvents events)
    : io_(io),
      key_(std::move(key)),
      run_id_(run_id),
      on_(on),
      events_(std::move(events)),
      desk_(PolicyOf(members)),
      look_timer_(io) {
  OSTRAKA_CHECK(key_ != nullptr && events_.send && events_.path && events_.port);
}

void DialBack::Look() {
  if (!on_) return;
  const std::uint16_t port = events_.port();
  for (const base::PeerId& peer : sounding_.Due(os::SteadyNow(), port)) {
    events_.send(peer, DialBackAsk{port});
  }
  CheckInvariants();
  look_timer_.Start(kLookEvery, [this] { Look(); });
}

void DialBack::OnLink(const base::PeerId& peer) {
  if (!stopped_) sounding_.OnLink(os::SteadyNow(), peer, events_.path(peer));
}

void DialBack::OnRecord(const base::PeerId& from, const DialBackRecord& record) {
  if (stopped_) return;
  if (const auto* ask = std::get_if<DialBackAsk>(&record)) return OnAsk(from, ask->port);
  // An answer that nobody waits for is an old one, or a lie: either is worth nothing.
  sounding_.OnAnswer(os::SteadyNow(), from, std::get<DialBackAnswer>(record));
}

void DialBack::OnAsk(const base::PeerId& from, std::uint16_t port) {
  const std::optional<LinkPath> path = events_.path(from);
  if (!path) return;
  const DialDesk::Judgement judged =
      desk_.Judge(os::SteadyNow(), from, on_ ? *path : LinkPath{}, port);
  if (judged.verdict == DialDesk::Verdict::kIgnore) return;
  if (judged.verdict == DialDesk::Verdict::kDecline) {
    return Answer(from, {{}, port}, DialOutcome::kDeclined);
  }
  if (tls_ == nullptr) {
    base::StatusOr<TlsContext> made = MakeTlsContext(*key_, run_id_);
    if (!made.ok()) {  // D2
      desk_.End(from);
      return Answer(from, {{}, port}, DialOutcome::kDeclined);
    }
    tls_ = *std::move(made);
  }
  os::HostPort where = *os::ParseHostPort(dht::TextOf(judged.where));
  dials_[from] = std::make_unique<KeyProbe>(
      io_, tls_, where, from, kPatience,
      [this, from, at = judged.where](DialOutcome outcome) { OnDialed(from, at, outcome); });
  CheckInvariants();
}

void DialBack::OnDialed(const base::PeerId& peer, const dht::Endpoint& where, DialOutcome outcome) {
  const auto ended = dials_.extract(peer);  // destroyed after its callback's last word
  desk_.End(peer);
  Answer(peer, where, outcome);
}

void DialBack::Answer(const base::PeerId& to, const dht::Endpoint& where, DialOutcome outcome) {
  events_.send(to, DialBackAnswer{where.port, where.address, outcome});
}

void DialBack::Forget(const base::PeerId& peer) {
  sounding_.Forget(peer);
  if (dials_.erase(peer) == 1) desk_.End(peer);
  desk_.Forget(peer);
}

void DialBack::Stop() {
  stopped_ = true;
  look_timer_.Cancel();
  for (const auto& [peer, dial] : dials_) desk_.End(peer);
  dials_.clear();
  CheckInvariants();
}

DialBackStatus DialBack::status() const {
  return {on_, events_.port(), sounding_.Results(os::SteadyNow())};
}

void DialBack::CheckInvariants() const {
  OSTRAKA_CHECK(dials_.size() == desk_.dialing());
  desk_.CheckInvariants();
  sounding_.CheckInvariants();
}

}  // namespace ostraka::net
