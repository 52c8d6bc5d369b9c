#include "node/net/mesh/address_book.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "node/base/check.h"
#include "node/os/endpoint.h"

namespace ostraka::net {
namespace {

// Empty for a host name.
std::string GroupOf(const std::string& address) {
  const base::StatusOr<os::HostPort> where = os::ParseHostPort(address);
  return where.ok() ? os::AddressGroup(where->host) : std::string();
}

}  // namespace

const char* AddressSourceName(AddressSource source) {
  constexpr std::array<const char*, kAddressSources> kNames = {"manifest", "incoming", "remembered",
                                                               "announced"};
  return kNames.at(static_cast<std::size_t>(source));
}

base::Status AddressBook::Check(const std::vector<std::string>& addresses) {
  if (addresses.size() > kMaxPerSource) {
    return base::InvalidArgument("has more than " + std::to_string(kMaxPerSource) + " addresses");
  }
  for (const std::string& address : addresses) {
    if (address.size() > kMaxAddressBytes) {
      return base::InvalidArgument("has an address of " + std::to_string(address.size()) +
                                   " bytes; at most " + std::to_string(kMaxAddressBytes) +
                                   " are taken");
    }
    ASSIGN_OR_RETURN(const os::HostPort where, os::ParseHostPort(address));
    if (where.port == 0) return base::InvalidArgument("has port 0 in \"" + address + "\"");
  }
  return base::OkStatus();
}

base::Status AddressBook::Open(const base::PeerId& peer) {
  if (pages_.contains(peer)) return base::FailedPrecondition("is in the address book already");
  if (pages_.size() >= max_peers_) {
    return base::Unavailable("finds no room: " + std::to_string(max_peers_) +
                             " peers have an address here");
  }
  pages_.emplace(peer, Page());
  OSTRAKA_CHECK(pages_.size() <= max_peers_);  // D1
  return base::OkStatus();
}

bool AddressBook::Close(const base::PeerId& peer) {
  const auto page = pages_.find(peer);
  if (page == pages_.end()) return false;
  Unvouch(page->second);
  pages_.erase(page);
  return true;
}

base::StatusOr<bool> AddressBook::Set(const base::PeerId& peer, AddressSource source,
                                      const std::vector<std::string>& addresses) {
  OSTRAKA_CHECK(source != AddressSource::kIncoming);
  Page* page = PageOf(peer);
  if (page == nullptr) return base::NotFound("has no page in the address book");
  RETURN_IF_ERROR(Check(addresses));
  Unvouch(*page);
  std::erase_if(*page, [&](const Entry& entry) {
    return entry.address.source == source &&
           std::find(addresses.begin(), addresses.end(), entry.address.text) == addresses.end();
  });
  bool is_new = false;
  for (const std::string& address : addresses) {
    if (Entry* known = Find(*page, address)) {
      known->address.source = std::min(known->address.source, source);
      continue;
    }
    page->push_back({.address = {address, source, 0, {}}});
    is_new = true;
  }
  Sort(*page);
  Vouch(*page);
  CheckPage(*page);
  return is_new;
}

void AddressBook::NoteIncoming(const base::PeerId& peer, const std::string& remote) {
  Page* page = PageOf(peer);
  const base::StatusOr<os::HostPort> from = os::ParseHostPort(remote);
  if (page == nullptr || !from.ok()) return;
  std::uint16_t port = 0;
  for (const Entry& entry : *page) {
    if (entry.address.source != AddressSource::kManifest) continue;
    const base::StatusOr<os::HostPort> where = os::ParseHostPort(entry.address.text);
    const std::string group = os::AddressGroup(where->host);
    if (group.empty() || group == os::AddressGroup(from->host)) return;
    if (port == 0) port = where->port;
  }
  if (port == 0) return;  // the peer is never dialed, or its addresses were all announced
  const std::string address = os::FormatHostPort({from->host, port});
  if (Find(*page, address) != nullptr) return;
  std::erase_if(
      *page, [](const Entry& entry) { return entry.address.source == AddressSource::kIncoming; });
  page->push_back({.address = {address, AddressSource::kIncoming, 0, {}}});
  Sort(*page);
  CheckPage(*page);
}

std::vector<PeerAddress> AddressBook::Of(const base::PeerId& peer) const {
  std::vector<PeerAddress> addresses;
  const auto page = pages_.find(peer);
  if (page == pages_.end()) return addresses;
  for (const Entry& entry : page->second) addresses.push_back(entry.address);
  return addresses;
}

// --- dialing -------------------------------------------------------------------------------------

void AddressBook::BeginRound(const base::PeerId& peer) {
  Page* page = PageOf(peer);
  if (page == nullptr) return;
  for (Entry& entry : *page) entry.tried = false;
}

std::optional<std::string> AddressBook::Next(const base::PeerId& peer) {
  Page* page = PageOf(peer);
  if (page == nullptr) return std::nullopt;
  const auto next =
      std::find_if(page->begin(), page->end(), [](const Entry& entry) { return !entry.tried; });
  if (next == page->end()) return std::nullopt;
  next->tried = true;
  return next->address.text;
}

bool AddressBook::OnFailed(const base::PeerId& peer, const std::string& address,
                           const std::string& reason) {
  Page* page = PageOf(peer);
  Entry* entry = page == nullptr ? nullptr : Find(*page, address);
  if (entry == nullptr) return true;
  const std::string kept = reason.substr(0, kMaxReasonBytes);
  const bool is_news = entry->address.last_failure != kept;
  ++entry->address.failures;
  entry->address.last_failure = kept;
  return is_news;
}

void AddressBook::OnLinked(const base::PeerId& peer, const std::string& dialed) {
  Page* page = PageOf(peer);
  if (page == nullptr) return;
  const bool is_known = Find(*page, dialed) != nullptr;
  for (Entry& entry : *page) {
    entry.address.failures = 0;
    entry.address.last_failure.clear();
    if (is_known) entry.reached = entry.address.text == dialed;
  }
  Sort(*page);
  CheckPage(*page);
}

// --- pages ---------------------------------------------------------------------------------------

AddressBook::Page* AddressBook::PageOf(const base::PeerId& peer) {
  const auto page = pages_.find(peer);
  return page == pages_.end() ? nullptr : &page->second;
}

AddressBook::Entry* AddressBook::Find(Page& page, const std::string& text) {
  const auto found = std::find_if(
      page.begin(), page.end(), [&text](const Entry& entry) { return entry.address.text == text; });
  return found == page.end() ? nullptr : &*found;
}

bool AddressBook::ComesBefore(const Entry& a, const Entry& b) {
  // Only an IPv6 address begins with a bracket.
  const auto rank = [](const Entry& entry) {
    return std::tuple(!entry.reached, entry.address.source, entry.address.text.front() != '[');
  };
  return rank(a) < rank(b);
}

void AddressBook::Sort(Page& page) { std::stable_sort(page.begin(), page.end(), ComesBefore); }

void AddressBook::Vouch(const Page& page) {
  for (const Entry& entry : page) {
    if (entry.address.source != AddressSource::kManifest) continue;
    const std::string group = GroupOf(entry.address.text);
    if (!group.empty()) ++vouched_[group];
  }
}

void AddressBook::Unvouch(const Page& page) {
  for (const Entry& entry : page) {
    if (entry.address.source != AddressSource::kManifest) continue;
    const auto vouched = vouched_.find(GroupOf(entry.address.text));
    if (vouched != vouched_.end() && --vouched->second == 0) vouched_.erase(vouched);
  }
}

void AddressBook::CheckPage(const Page& page) {
  std::array<std::size_t, kAddressSources> of_source{};
  std::size_t reached = 0;
  for (std::size_t i = 0; i < page.size(); ++i) {
    const Entry& entry = page[i];
    ++of_source[static_cast<std::size_t>(entry.address.source)];
    reached += entry.reached ? 1 : 0;
    OSTRAKA_CHECK(entry.address.text.size() <= kMaxAddressBytes);  // D2
    for (std::size_t j = 0; j < i; ++j) {
      OSTRAKA_CHECK(page[j].address.text != entry.address.text);  // D2
    }
    OSTRAKA_CHECK(i == 0 || !ComesBefore(entry, page[i - 1]));  // D3
  }
  for (const std::size_t count : of_source) OSTRAKA_CHECK(count <= kMaxPerSource);  // D2
  OSTRAKA_CHECK(reached <= 1);                                                      // D3
}

void AddressBook::CheckInvariants() const {
  OSTRAKA_CHECK(pages_.size() <= max_peers_);  // D1
  std::map<std::string, std::size_t> vouched;
  for (const auto& [peer, page] : pages_) {
    CheckPage(page);
    for (const Entry& entry : page) {
      const bool counts = entry.address.source == AddressSource::kManifest;
      const std::string group = counts ? GroupOf(entry.address.text) : std::string();
      if (!group.empty()) ++vouched[group];
    }
  }
  OSTRAKA_CHECK(vouched == vouched_);  // D4
}

}  // namespace ostraka::net
