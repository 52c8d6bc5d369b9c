#include "node/net/mesh/lobby.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <utility>

#include "node/base/check.h"
#include "node/net/link/channel_errors.h"
#include "node/net/link/client_hello.h"
#include "node/os/endpoint.h"
#include "node/os/steady_clock.h"
#include "node/os/timer.h"

namespace ostraka::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

// A typical ClientHello fits in one read of this size.
constexpr std::size_t kRead = 1024;

Closing Refused(std::string reason, Refusal refusal = Refusal::kHandshake) {
  return {Closing::Why::kRefused, std::move(reason), refusal};
}

}  // namespace

// One waiting connection. A read in progress keeps it alive, and finds `lobby_` null once the
// connection has left the lobby.
class Lobby::Visitor : public std::enable_shared_from_this<Lobby::Visitor> {
 public:
  Visitor(Lobby& lobby, std::uint64_t number, AcceptedSocket accepted)
      : lobby_(&lobby),
        number_(number),
        accepted_(std::move(accepted)),
        socket_(lobby.io_),
        patience_(lobby.io_) {
    error_code ec;
    socket_.assign(os::IsIpv6(accepted_.fd) ? tcp::v6() : tcp::v4(), accepted_.fd, ec);
    // Fails only for an invalid descriptor, or one that is already open in Asio.
    OSTRAKA_CHECK(!ec);
  }

  void Start() {
    patience_.Start(lobby_->patience_, [this] { OnDeadline(); });
    Read();
  }
  // Returns the descriptor and the bytes read from it. REQUIRES: no read is in progress.
  Caller Release(bool names_run) {
    Detach();
    error_code ec;
    accepted_.fd = socket_.release(ec);
    OSTRAKA_CHECK(!ec);  // epoll can always release a descriptor
    return {std::move(accepted_), std::move(bytes_), names_run, os::SteadyNow() - since_};
  }
  AcceptedSocket Close() {
    Detach();
    error_code ignored;  // closing a socket leaves it closed even where it reports an error
    socket_.close(ignored);
    return std::move(accepted_);
  }
  const std::string& address() const { return accepted_.address; }

 private:
  void Detach() {
    lobby_ = nullptr;
    patience_.Cancel();
  }
  void Read() {
    const std::size_t had = bytes_.size();
    bytes_.resize(had + kRead);
    socket_.async_read_some(asio::buffer(bytes_.data() + had, kRead),
                            [self = shared_from_this(), had](error_code ec, std::size_t size) {
                              self->bytes_.resize(had + size);
                              self->OnRead(ec);
                            });
  }
  void OnRead(error_code ec) {
    if (lobby_ == nullptr) return;
    if (ec) {
      return lobby_->Close(
          number_, {Closing::Why::kLost, spoke_ ? "left during the TLS handshake: " + Explain(ec)
                                                : "left without a word"});
    }
    spoke_ = true;
    switch (JudgeOpening(bytes_, lobby_->alpn_)) {
      case Opening::kIncomplete:
        return Read();
      case Opening::kNotTls:
        return lobby_->Close(number_,
                             Refused(ExplainFirstBytes(
                                 {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()})));
      case Opening::kUnnamed:
        return lobby_->OnSpoke(number_, false);
      case Opening::kNamed:
        return lobby_->OnSpoke(number_, true);
    }
  }
  void OnDeadline() {
    lobby_->Close(number_, Refused((spoke_ ? "did not finish the TLS handshake within "
                                           : "said nothing within ") +
                                   FormatSeconds(lobby_->patience_)));
  }

  Lobby* lobby_;  // null once it has left the lobby
  const std::uint64_t number_;
  AcceptedSocket accepted_;
  tcp::socket socket_;
  os::Timer patience_;
  base::Bytes bytes_;
  bool spoke_ = false;
  const base::Time since_ = os::SteadyNow();
};

Lobby::Lobby(asio::io_context& io, std::string alpn, std::size_t places, base::Duration patience,
             Events events)
    : io_(io),
      alpn_(std::move(alpn)),
      places_(places),
      patience_(patience),
      events_(std::move(events)) {}

Lobby::~Lobby() { Clear(); }

void Lobby::Clear() {
  for (const auto& [number, visitor] : std::exchange(waiting_, {})) visitor->Close();
}

void Lobby::Enter(AcceptedSocket socket) {
  while (waiting_.size() >= places_) MakeRoom();
  const std::uint64_t number = next_++;
  const auto visitor = std::make_shared<Visitor>(*this, number, std::move(socket));
  waiting_.emplace(number, visitor);
  OSTRAKA_CHECK(waiting_.size() <= places_);  // L1
  visitor->Start();
}

void Lobby::MakeRoom() {
  std::map<std::string, std::size_t> held;
  for (const auto& [number, visitor] : waiting_) ++held[visitor->address()];
  auto victim = waiting_.begin();
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    if (held[it->second->address()] > held[victim->second->address()]) victim = it;
  }
  Close(victim->first,
        Refused("gave way to others: it was the oldest of those who had said nothing yet",
                Refusal::kQuota));
}

void Lobby::OnSpoke(std::uint64_t number, bool names_run) {
  const auto visitor = waiting_.extract(number);
  OSTRAKA_CHECK(!visitor.empty());  // L2
  events_.spoke(visitor.mapped()->Release(names_run));
}

void Lobby::Close(std::uint64_t number, const Closing& closing) {
  const auto visitor = waiting_.extract(number);
  OSTRAKA_CHECK(!visitor.empty());  // L2
  events_.left(visitor.mapped()->Close(), closing);
}

}  // namespace ostraka::net
