#include "node/host/driver/member_finder.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "node/base/check.h"
#include "node/os/durable_file.h"
#include "node/os/endpoint.h"

namespace ostraka::host {

net::Learned ReadLearned(const std::string& path, std::string& problem) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  std::string text(net::kMostLearnedBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  base::StatusOr<net::Learned> learned = net::ParseLearned(text);
  if (learned.ok()) return *std::move(learned);
  problem = path + " " + base::MessageOf(learned.status()) +
            ": the addresses that it held are lost, and it is written anew";
  return {};
}

namespace {

// The port of the first address that the user announces, or else of this member's in the manifest.
std::uint16_t SaidPort(const net::ReachOptions& reach,
                       const std::vector<net::TransportMember>& members, const base::PeerId& self) {
  if (!reach.addresses.empty()) return reach.addresses.front().port;
  for (const net::TransportMember& member : members) {
    const auto address = os::ParseHostPort(member.address);
    if (member.id == self && address.ok()) return address->port;
  }
  return 0;
}

}  // namespace

MemberFinder::MemberFinder(boost::asio::io_context& io, const Inlet& inlet, Reporter& reporter,
                           net::Transport& transport, std::shared_ptr<const crypto::SigningKey> key,
                           const base::Digest& run_id,
                           const std::vector<net::TransportMember>& members, FinderOptions options)
    : inlet_(inlet), reporter_(reporter), transport_(transport), file_(std::move(options.file)) {
  options.reach.learned = ReadLearned(file_, file_problem_);
  said_port_ = SaidPort(options.reach, members, key->id());
  dial_back_ = std::make_unique<net::DialBack>(
      io, key, run_id, members, options.dial_back,
      net::DialBackEvents{
          .send =
              [this](const base::PeerId& to, const net::DialBackRecord& record) {
                inlet_.Enter([&] { transport_.SendDialBack(to, record); });
              },
          .path = [this](const base::PeerId& peer) { return transport_.PathOf(peer); },
          .port = [this] { return PortForOthers(); }});
  net::ReachEvents events;
  events.found = [this](const base::PeerId& peer, const std::vector<std::string>& addresses) {
    inlet_.Enter([&] { Found(peer, addresses, net::AddressSource::kAnnounced); });
  };
  events.save = [this](const std::string& text) { inlet_.Enter([&] { Save(text); }); };
  events.notice = [this](net::NoticeLevel level, const std::string& line) {
    inlet_.Enter([&] { reporter_.Notice(level, line); });
  };
  reach_ = std::make_unique<net::Reach>(io, std::move(key), members, std::move(options.reach),
                                        std::move(events));
}

void MemberFinder::Start() {
  if (!file_problem_.empty()) reporter_.Notice(net::NoticeLevel::kWarning, file_problem_);
  for (const auto& [peer, member] : reach_->learned().members) {
    Found(peer, member.linked, net::AddressSource::kRemembered);
    Found(peer, member.announced, net::AddressSource::kAnnounced);
  }
  reach_->Start(transport_.listening());
  dial_back_->Start();
}

void MemberFinder::OnLink(const base::PeerId& peer, bool up) {
  if (stopped_) return;
  reach_->OnLink(peer, up, transport_.AddressesOf(peer));
  dial_back_->OnLink(peer);
}

void MemberFinder::Add(const base::PeerId& peer) {
  if (stopped_) return;
  reach_->Add(peer);
  for (const auto& [member, known] : reach_->learned().members) {
    if (member != peer) continue;
    Found(peer, known.linked, net::AddressSource::kRemembered);
    Found(peer, known.announced, net::AddressSource::kAnnounced);
  }
}

void MemberFinder::Forget(const base::PeerId& peer) {
  reach_->Forget(peer);
  dial_back_->Forget(peer);
}

std::uint16_t MemberFinder::PortForOthers() const {
  if (transport_.port() == 0) return 0;
  const auto forwarded = reach_->status().router.outside;
  if (forwarded) return forwarded->port;
  return said_port_ != 0 ? said_port_ : transport_.port();
}

net::ReachStatus MemberFinder::status() const {
  net::ReachStatus status = reach_->status();
  status.dial_back = dial_back_->status();
  return status;
}

void MemberFinder::Found(const base::PeerId& peer, const std::vector<std::string>& addresses,
                         net::AddressSource source) {
  OSTRAKA_CHECK(!stopped_);  // M2
  const base::Status set = transport_.SetAddresses(peer, addresses, source);
  if (set.ok() || absl::IsNotFound(set)) return;  // it is no member any more
  reporter_.Notice(net::NoticeLevel::kWarning, peer.Short() + " " + base::MessageOf(set));
}

void MemberFinder::Save(const std::string& text) {
  if (file_.empty()) return;
  const base::Status written = os::ReplaceQuickly(
      file_, base::ByteView(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  const std::string problem = written.ok() ? "" : base::MessageOf(written);
  if (problem == std::exchange(file_problem_, problem) || written.ok()) return;
  reporter_.Notice(net::NoticeLevel::kWarning, problem +
                                                   "; after a restart, members that moved are "
                                                   "to be found anew");
}

void MemberFinder::Stop() {
  if (std::exchange(stopped_, true)) return;
  dial_back_->Stop();
  const std::optional<std::string> text = reach_->Stop();
  if (text) Save(*text);
  CheckInvariants();
}

void MemberFinder::CheckInvariants() const {
  reach_->CheckInvariants();
  dial_back_->CheckInvariants();
}

}  // namespace ostraka::host
