#include "node/net/mesh/transport.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "node/base/check.h"
#include "node/net/link/tls_identity.h"
#include "node/net/mesh/listener.h"
#include "node/net/mesh/mesh.h"
#include "node/net/mesh/tally.h"
#include "node/os/endpoint.h"

namespace ostraka::net {
namespace {

// Closes a descriptor unless ownership was passed on.
class FdGuard {
 public:
  explicit FdGuard(int fd) : fd_(fd) {}
  ~FdGuard() {
    if (fd_ >= 0) close(fd_);
  }
  FdGuard(const FdGuard&) = delete;
  FdGuard& operator=(const FdGuard&) = delete;
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd) { fd_ = fd; }

 private:
  int fd_;
};

// Refuses a cap so low that honest members would count as slow.
base::Status CheckRate(const TransportOptions& options) {
  const std::size_t members = options.members.size();
  const std::uint64_t least = LeastBytesPerSecond(options.link, members);
  if (options.max_bytes_per_second == 0 || options.max_bytes_per_second >= least) {
    return base::OkStatus();
  }
  return base::InvalidArgument(RateReason(options.max_bytes_per_second, least, members));
}

// Checks the members and removes this node from them.
base::Status PrepareMembers(TransportOptions& options) {
  std::set<PeerId> seen;
  for (const TransportMember& member : options.members) {
    if (!seen.insert(member.id).second) {
      return base::InvalidArgument("member " + member.id.Short() + " is named twice");
    }
    if (member.address.empty()) continue;
    RETURN_IF_ERROR(os::ParseHostPort(member.address).status());
    const base::Status good = AddressBook::Check({member.address});
    if (!good.ok()) {
      return base::InvalidArgument("member " + member.id.Short() + " " + base::MessageOf(good));
    }
  }
  std::erase_if(options.members, [self = options.key->id()](const TransportMember& member) {
    return member.id == self;
  });
  if (options.members.size() > options.max_members) {
    return base::InvalidArgument("there are " + std::to_string(options.members.size()) +
                                 " members; at most " + std::to_string(options.max_members) +
                                 " are taken");
  }
  return base::OkStatus();
}

}  // namespace

std::uint64_t LeastBytesPerSecond(const LinkLimits& limits, std::size_t members) {
  return 2 * limits.min_bytes_per_second * std::max<std::size_t>(members, 1);
}

// What Make puts together. The listener calls the mesh, and the mesh nobody.
class Transport::Impl {
 public:
  Impl(boost::asio::io_context& io, TransportOptions options, TlsContext tls,
       TransportEvents events)
      : mesh(io, std::move(options), std::move(tls), std::move(events)) {}

  Mesh mesh;
  std::optional<Listener> listener;  // destroyed first: it calls mesh
  std::uint16_t port = 0;
  std::string listening;
};

base::StatusOr<std::unique_ptr<Transport>> Transport::Make(boost::asio::io_context& io,
                                                           TransportOptions options,
                                                           TransportEvents events) {
  OSTRAKA_CHECK(options.key != nullptr && events.message && events.link);
  OSTRAKA_CHECK(options.timeouts.hello > options.timeouts.handshake);
  FdGuard fd(options.listen_fd);
  RETURN_IF_ERROR(PrepareMembers(options));
  RETURN_IF_ERROR(CheckRate(options));
  ASSIGN_OR_RETURN(TlsContext tls, MakeTlsContext(*options.key, options.run_id));
  if (fd.get() < 0 && !options.listen.empty()) {
    ASSIGN_OR_RETURN(const int listening, os::ListenOn(options.listen, "--listen"));
    fd.Reset(listening);
  }
  os::HostPort listening;
  if (fd.get() >= 0) {
    ASSIGN_OR_RETURN(listening, os::ListeningAddress(fd.get()));
  }
  const std::vector<TransportMember> members = std::exchange(options.members, {});
  auto impl = std::make_unique<Impl>(io, std::move(options), std::move(tls), std::move(events));
  impl->port = listening.port;
  if (fd.get() >= 0) impl->listening = os::FormatHostPort(listening);
  for (const TransportMember& member : members) {
    std::vector<std::string> addresses;
    if (!member.address.empty()) addresses.push_back(member.address);
    RETURN_IF_ERROR(impl->mesh.Add(member.id, addresses, AddressSource::kManifest));
  }
  if (fd.get() >= 0) {
    Mesh& mesh = impl->mesh;
    impl->listener.emplace(
        io, fd.Release(),
        Listener::Events{
            .accepted = [&mesh](AcceptedSocket socket) { mesh.Accept(std::move(socket)); },
            .failed = [&mesh](const std::string& reason) { mesh.OnAcceptFailed(reason); }});
  }
  return std::unique_ptr<Transport>(new Transport(std::move(impl)));
}

Transport::Transport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Transport::~Transport() = default;

void Transport::Start() {
  if (impl_->listener) impl_->listener->Start();
  impl_->mesh.Start();
}

void Transport::Send(const PeerId& to, SharedBytes frame, SharedBlob blob) {
  impl_->mesh.Send(to, std::move(frame), std::move(blob));
}

void Transport::SendDialBack(const PeerId& to, const DialBackRecord& record) {
  Connection* const link = impl_->mesh.LinkOf(to);
  if (link != nullptr) link->SendDialBack(record);
}

void Transport::SendData(const PeerId& to, const DataRecord& record) {
  Connection* const link = impl_->mesh.LinkOf(to);
  if (link != nullptr) link->SendData(record);
}

bool Transport::Lend(const PeerId& to, std::uint64_t chunk, SharedBytes bytes) {
  Connection* const link = impl_->mesh.LinkOf(to);
  return link != nullptr && link->Lend(chunk, std::move(bytes));
}

bool Transport::LendsData(const PeerId& peer) const {
  const Connection* const link = impl_->mesh.LinkOf(peer);
  return link != nullptr && (link->their_hello().capabilities & kCapabilityLendsData) != 0;
}

base::Status Transport::Add(const PeerId& peer, const std::vector<std::string>& addresses,
                            AddressSource source) {
  return impl_->mesh.Add(peer, addresses, source);
}

base::Status Transport::SetAddresses(const PeerId& peer, const std::vector<std::string>& addresses,
                                     AddressSource source) {
  return impl_->mesh.SetAddresses(peer, addresses, source);
}

std::vector<PeerAddress> Transport::AddressesOf(const PeerId& peer) const {
  return impl_->mesh.AddressesOf(peer);
}

bool Transport::Remove(const PeerId& peer) { return impl_->mesh.Remove(peer); }

void Transport::Expect(std::set<PeerId> coming, std::optional<std::set<PeerId>> members) {
  impl_->mesh.Expect(std::move(coming), std::move(members));
}

void Transport::Forget(const PeerId& peer) { impl_->mesh.Forget(peer); }

void Transport::Part(Duration deadline, std::function<void()> done) {
  impl_->mesh.Part(deadline, std::move(done));
}

void Transport::Shutdown(Duration deadline, std::function<void()> done) {
  impl_->listener.reset();
  impl_->mesh.Shutdown(deadline, std::move(done));
}

void Transport::SendCarried(const PeerId& to, const PeerId& carried_for, SharedBytes frame) {
  OSTRAKA_CHECK(frame != nullptr && !frame->empty() && frame->size() <= wire::kMaxFrameBytes);
  Connection* const link = impl_->mesh.LinkOf(to);
  if (link != nullptr) link->SendCarried(carried_for, std::move(frame));
}

bool Transport::IsUp(const PeerId& peer) const { return impl_->mesh.LinkOf(peer) != nullptr; }

std::optional<LinkPath> Transport::PathOf(const PeerId& peer) const {
  const Connection* const link = impl_->mesh.LinkOf(peer);
  if (link == nullptr) return std::nullopt;
  return LinkPath{link->remote(), link->dialed()};
}

TransportCounters Transport::counters() const { return impl_->mesh.counters(); }

std::uint16_t Transport::port() const { return impl_->port; }

const std::string& Transport::listening() const { return impl_->listening; }

}  // namespace ostraka::net
