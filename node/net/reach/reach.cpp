#include "node/net/reach/reach.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "node/base/check.h"
#include "node/net/reach/own_addresses.h"
#include "node/os/steady_clock.h"

namespace ostraka::net {
namespace {

// An announcement of ours lasts half an hour; one that claims much longer comes from a clock that
// is wrong, and would block its successors.
constexpr std::uint64_t kLongestAheadSeconds = 7200;
constexpr std::uint32_t kEnoughNodes = 16;  // that store an announcement

std::uint64_t WallSeconds() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

std::vector<std::string> AddressesOf(const std::vector<TransportMember>& members) {
  std::vector<std::string> addresses;
  for (const TransportMember& member : members) {
    if (!member.address.empty()) addresses.push_back(member.address);
  }
  return addresses;
}

dht::Role RoleOf(DhtMode mode) {
  switch (mode) {
    case DhtMode::kServer:
      return dht::Role::kServer;
    case DhtMode::kClient:
      return dht::Role::kClient;
    case DhtMode::kOn:
    case DhtMode::kOff:
      break;
  }
  return dht::Role::kAuto;
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

}  // namespace

Reach::Reach(boost::asio::io_context& io, std::shared_ptr<const crypto::SigningKey> key,
             const std::vector<TransportMember>& members, ReachOptions options, ReachEvents events)
    : io_(io),
      key_(std::move(key)),
      options_(std::move(options)),
      events_(std::move(events)),
      policy_(AddressesOf(members)),
      resolver_(io),
      look_timer_(io),
      router_([this](NoticeLevel level, const std::string& line) { events_.notice(level, line); }) {
  OSTRAKA_CHECK(key_ != nullptr && events_.found && events_.save && events_.notice);
  for (const TransportMember& member : members) {
    if (member.id != key_->id()) addresses_[member.id] = member.address;
  }
}

void Reach::Start(const std::string& listening) {
  listening_ = listening;
  for (const auto& [peer, address] : addresses_) seeker_.Add(os::SteadyNow(), peer);
  const auto bound = NumericEndpoint(listening_);
  if (!options_.port_mapper.empty() && bound) {
    router_.Start(io_, options_.port_mapper, bound->port, options_.mode != DhtMode::kOff);
  }
  Look();
  if (options_.mode == DhtMode::kOff) return;
  resolver_.Resolve(Bootstraps(), kNameDeadline, [this](const Resolved& resolved) {
    if (!stopped_) OpenDht(resolved);
  });
}

std::vector<std::string> Reach::Bootstraps() const {
  std::vector<std::string> texts = options_.bootstraps;
  for (const auto& [peer, address] : addresses_) {
    const bool is_new = std::find(texts.begin(), texts.end(), address) == texts.end();
    if (!address.empty() && is_new) texts.push_back(address);
  }
  return texts;
}

void Reach::OpenDht(const Resolved& bootstraps) {
  for (const auto& [text, why] : bootstraps.failures) {
    Say(NoticeLevel::kWarning, "cannot ask " + text + ": " + why);
  }
  DhtDriver::Listener listener;
  listener.answered = [this](const dht::Answered& answered) { OnAnswered(answered); };
  listener.observed = [this](const dht::Observation& what) { OnObserved(what); };
  listener.failed = [this](const std::string& what) { GiveUp("a library failed: " + what); };
  listener.kept = [this](const dht::KeptContacts& kept) {
    options_.learned.nodes = kept.contacts;
    unsaved_ = true;
  };
  dht::NodeConfig config{key_, dht::NetworkOf(options_.network), RoleOf(options_.mode),
                         std::make_shared<crypto::PlainVerifier>()};
  dht::Started started;
  started.wall_s = WallSeconds();
  crypto::FillRandom(started.secret.bytes);
  started.bootstraps = bootstraps.endpoints;
  started.known = options_.learned.nodes;
  // The port of the links, so that one number is opened in a firewall.
  const dht::Endpoint local = NumericEndpoint(listening_).value_or(dht::Endpoint{});
  driver_ = std::make_unique<DhtDriver>(io_, std::move(config), std::move(listener));
  const base::Status opened = driver_->Start(local, started);
  if (!opened.ok()) {
    driver_.reset();
    return GiveUp(base::MessageOf(opened));
  }
  Say(NoticeLevel::kInfo, "listens on UDP " + dht::TextOf(driver_->local()) + ", and asks " +
                              std::to_string(started.bootstraps.size()) + " addresses and " +
                              std::to_string(started.known.size()) + " nodes of the last run");
}

void Reach::GiveUp(const std::string& why) {
  problem_ = why;
  Say(NoticeLevel::kWarning, "is off until the next start: " + why);
}

// --- links ---------------------------------------------------------------------------------------

void Reach::OnLink(const base::PeerId& peer, bool up, const std::vector<PeerAddress>& addresses) {
  if (stopped_ || !addresses_.contains(peer)) return;
  seeker_.OnLink(os::SteadyNow(), peer, up);
  if (!up) return;
  std::vector<std::string> linked;
  for (const PeerAddress& address : addresses) {
    // The book's first address is the one that was reached last.
    const bool stood = &address == &addresses.front() || address.source == AddressSource::kIncoming;
    if (address.source == AddressSource::kManifest || !stood) continue;
    if (linked.size() < AddressBook::kMaxPerSource) linked.push_back(address.text);
  }
  if (linked.empty()) return;
  LearnedMember& member = options_.learned.members[peer];
  unsaved_ = unsaved_ || member.linked != linked;
  member.linked = std::move(linked);
}

void Reach::Add(const base::PeerId& peer) {
  if (peer == key_->id() || !addresses_.try_emplace(peer).second) return;
  seeker_.Add(os::SteadyNow(), peer);
}

void Reach::Forget(const base::PeerId& peer) {
  seeker_.Remove(peer);
  addresses_.erase(peer);
  unsaved_ = options_.learned.members.erase(peer) == 1 || unsaved_;
}

// --- once a second -------------------------------------------------------------------------------

void Reach::Look() {
  if (driver_ != nullptr) {
    AnnounceSelf();
    SeekMembers();
  }
  SaveIfDue();
  CheckInvariants();
  look_timer_.Start(kLookEvery, [this] { Look(); });
}

void Reach::AnnounceSelf() {
  std::vector<dht::Endpoint> own =
      OwnAddresses(options_.addresses, router_.StatusAt(os::SteadyNow()).outside, listening_,
                   driver_->progress().seen);
  const std::uint32_t nodes = driver_->progress().nodes;
  // Stored by a few nodes alone, it would be lost with them: again once there are twice as many.
  const bool is_rare = announced_to_ < kEnoughNodes && nodes >= 2 * std::max(announced_to_, 1U);
  if (own.empty() || (own == announced_ && !is_rare)) return;
  announced_ = own;
  announced_to_ = nodes;
  dht::Publish publish;
  publish.content.addresses = std::move(own);
  publish.content.reachable = driver_->progress().server;
  driver_->Ask({next_ask_++, std::move(publish)});
}

void Reach::SeekMembers() {
  if (!driver_->progress().joined) return;
  for (const base::PeerId& peer : seeker_.Due(os::SteadyNow())) {
    asked_[next_ask_] = peer;
    driver_->Ask({next_ask_++, dht::GetPeer{peer}});
  }
}

void Reach::SaveIfDue() {
  const base::Time now = os::SteadyNow();
  if (!unsaved_ || (saved_at_ && now - *saved_at_ < kSaveAgain)) return;
  saved_at_ = now;
  unsaved_ = false;
  events_.save(TextOf(options_.learned));
}

// --- what the DHT says ---------------------------------------------------------------------------

void Reach::OnAnswered(const dht::Answered& answered) {
  const auto asked = asked_.find(answered.id);
  if (stopped_ || asked == asked_.end()) return;
  const base::PeerId peer = asked->second;
  asked_.erase(asked);
  seeker_.OnEnded(os::SteadyNow(), peer);
  const auto* got = std::get_if<dht::GotRecords>(&answered.result);
  if (got == nullptr || !addresses_.contains(peer)) return;
  for (const dht::Announcement& announcement : got->records) {
    if (announcement.peer == peer) OnFound(announcement);
  }
}

void Reach::OnFound(const dht::Announcement& announcement) {
  const std::uint64_t now = WallSeconds();
  if (announcement.expires > now + kLongestAheadSeconds) return;
  LearnedMember& member = options_.learned.members[announcement.peer];
  if (announcement.seq < member.seq && now < member.expires) return;  // E1
  std::vector<std::string> dialable = policy_.Dialable(announcement.addresses);
  const bool is_news = dialable != member.announced;
  unsaved_ = unsaved_ || is_news || member.seq != announcement.seq;
  member.seq = announcement.seq;
  member.expires = announcement.expires;
  member.announced = std::move(dialable);
  if (is_news) {
    const std::string where = Joined(member.announced);
    Say(NoticeLevel::kInfo,
        "found " + announcement.peer.Short() +
            (where.empty() ? ", which announces no address that may be dialed" : " at " + where));
  }
  events_.found(announcement.peer, member.announced);
}

void Reach::OnObserved(const dht::Observation& what) {
  if (stopped_) return;
  if (const auto* joined = std::get_if<dht::Joined>(&what)) {
    problem_.clear();
    seeker_.OnJoined(os::SteadyNow());
    Say(NoticeLevel::kInfo,
        "joined, with " + std::to_string(joined->nodes) + " nodes in its table");
  } else if (std::holds_alternative<dht::NobodyAnswers>(what)) {
    const std::vector<std::string> asked = Bootstraps();
    std::string line = "knows no node to ask: give --dht-bootstrap HOST:PORT";
    if (!asked.empty()) {
      line = "no answer by UDP from " + Joined(asked) +
             (seeker_.linked() > 0 ? ", though members are linked over TCP: the DHT (UDP) is "
                                     "blocked here, or off there"
                                   : ": none of them is up with --dht on, or UDP is blocked here");
    }
    if (line != std::exchange(problem_, line)) Say(NoticeLevel::kWarning, line);
  } else if (std::holds_alternative<dht::ServerChanged>(what)) {
    announced_.clear();  // what is announced says whether this node can be reached
  }
}

// --- the end -------------------------------------------------------------------------------------

std::optional<std::string> Reach::Stop() {
  stopped_ = true;
  look_timer_.Cancel();
  router_.Stop();
  if (driver_ != nullptr) driver_->Close();
  if (!std::exchange(unsaved_, false)) return std::nullopt;
  return TextOf(options_.learned);
}

ReachStatus Reach::status() const {
  ReachStatus status;
  status.mode = options_.mode;
  if (driver_ != nullptr) status.progress = driver_->progress();
  status.announced = announced_;
  status.router = router_.StatusAt(os::SteadyNow());
  status.problem = problem_;
  return status;
}

void Reach::CheckInvariants() const {
  seeker_.CheckInvariants();
  OSTRAKA_CHECK(asked_.size() <= Seeker::kMostAtOnce);
  for (const auto& [peer, member] : options_.learned.members) {
    OSTRAKA_CHECK(member.announced.size() <= AddressBook::kMaxPerSource);
    OSTRAKA_CHECK(member.linked.size() <= AddressBook::kMaxPerSource);
  }
}

}  // namespace ostraka::net
