#include "node/cli/swarm/wan_relay.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <deque>
#include <string>
#include <thread>
#include <utility>

#include "node/base/check.h"
#include "node/os/open_files.h"
#include "node/os/steady_clock.h"

namespace ostraka::cli {
namespace {

using boost::asio::ip::tcp;
using Error = boost::system::error_code;

constexpr std::size_t kChunk = 16 << 10;
// Of each socket: little beside what a line holds, so that a message is not behind megabytes.
constexpr int kSocketBuffer = 64 << 10;
constexpr std::uint64_t kOtherFiles = 256;  // of this process: pipes and logs of its nodes

// One connection: two sockets and what passes between them.
class Passageway : public std::enable_shared_from_this<Passageway> {
 public:
  Passageway(tcp::socket dialer, std::size_t from, std::size_t to, WanLines& lines,
             std::atomic<std::uint64_t>& bytes)
      : dialer_(std::move(dialer)),
        dialed_(dialer_.get_executor()),
        lines_(lines),
        bytes_(bytes),
        there_{dialer_, dialed_, from, to},
        back_{dialed_, dialer_, to, from} {}

  void Connect(std::uint16_t port) {
    dialed_.async_connect({boost::asio::ip::address_v4::loopback(), port},
                          [self = shared_from_this()](Error error) {
                            if (error) return self->Close();
                            Error ignored;  // of wishes
                            self->dialed_.set_option(tcp::no_delay(true), ignored);
                            self->Read(self->there_);
                            self->Read(self->back_);
                          });
  }

 private:
  struct Chunk {
    base::Time arrives;
    std::vector<char> bytes;
  };
  struct Direction {
    Direction(tcp::socket& source, tcp::socket& sink, std::size_t sender, std::size_t receiver)
        : input(source),
          output(sink),
          from(sender),
          to(receiver),
          next_read(source.get_executor()),
          next_write(source.get_executor()) {}
    tcp::socket& input;
    tcp::socket& output;
    std::size_t from;
    std::size_t to;
    boost::asio::steady_timer next_read;
    boost::asio::steady_timer next_write;
    std::array<char, kChunk> buffer{};
    std::deque<Chunk> queue;  // the first is being written
    bool is_over = false;     // nothing comes after the queue
    bool is_held = false;     // nothing is read before the first of the queue is written
  };

  static void At(boost::asio::steady_timer& timer, base::Time when) {
    timer.expires_after(std::chrono::nanoseconds((when - os::SteadyNow()).ns));
  }

  void Read(Direction& way) {
    way.input.async_read_some(boost::asio::buffer(way.buffer),
                              [self = shared_from_this(), &way](Error error, std::size_t count) {
                                self->OnRead(way, error, count);
                              });
  }

  void OnRead(Direction& way, Error error, std::size_t count) {
    if (error) {
      way.is_over = true;
      if (way.queue.empty()) EndOf(way);
      return;
    }
    const WanLines::Passage passage = lines_.Send(os::SteadyNow(), way.from, way.to, count);
    way.queue.push_back(
        {passage.arrives,
         {way.buffer.begin(), way.buffer.begin() + static_cast<std::ptrdiff_t>(count)}});
    if (way.queue.size() == 1) Deliver(way);
    const base::Time room{(passage.arrives - base::Time{}).ns - lines_.delay().ns -
                          WanRelay::kMostQueued.ns};
    At(way.next_read, std::max(passage.left, room));  // R2
    way.next_read.async_wait([self = shared_from_this(), &way](Error stopped) {
      if (!stopped) self->ReadOn(way);
    });
  }

  void ReadOn(Direction& way) {
    way.is_held = !way.queue.empty() &&
                  os::SteadyNow() - way.queue.front().arrives > WanRelay::kMostQueued;  // R3
    if (!way.is_held) Read(way);
  }

  void Deliver(Direction& way) {
    At(way.next_write, way.queue.front().arrives);
    way.next_write.async_wait([self = shared_from_this(), &way](Error stopped) {
      if (!stopped) self->Write(way);
    });
  }

  void Write(Direction& way) {
    bytes_ += way.queue.front().bytes.size();
    boost::asio::async_write(way.output, boost::asio::buffer(way.queue.front().bytes),
                             [self = shared_from_this(), &way](Error error, std::size_t) {
                               if (error) return self->Close();
                               way.queue.pop_front();
                               if (way.is_held) self->ReadOn(way);
                               if (!way.queue.empty()) return self->Deliver(way);
                               if (way.is_over) self->EndOf(way);
                             });
  }

  static void EndOf(Direction& way) {
    Error ignored;  // the other side may have gone
    way.output.shutdown(tcp::socket::shutdown_send, ignored);
  }

  void Close() {
    Error ignored;
    dialer_.close(ignored);
    dialed_.close(ignored);
    for (Direction* way : {&there_, &back_}) {
      way->next_read.cancel();
      way->next_write.cancel();
    }
  }

  tcp::socket dialer_;
  tcp::socket dialed_;
  WanLines& lines_;
  std::atomic<std::uint64_t>& bytes_;
  Direction there_;
  Direction back_;
};

}  // namespace

class WanRelay::Impl {
 public:
  Impl(const WanLine& line, const std::vector<std::uint16_t>& ports)
      : ports_(ports), lines_(line, ports.size()) {
    for (std::size_t from = 0; from < ports.size(); ++from) {
      for (std::size_t to = 0; to < ports.size(); ++to) {
        tcp::acceptor& acceptor = acceptors_.emplace_back(io_);
        if (from == to) continue;
        acceptor.open(tcp::v4());
        acceptor.set_option(boost::asio::socket_base::receive_buffer_size(kSocketBuffer));
        acceptor.bind({boost::asio::ip::address_v4::loopback(), 0});
        acceptor.listen();
        Accept(from, to);
      }
    }
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Impl() {
    io_.stop();
    thread_.join();
  }

  std::uint16_t PortFor(std::size_t from, std::size_t to) const {
    OSTRAKA_CHECK(from != to && from < ports_.size() && to < ports_.size());
    return acceptors_[from * ports_.size() + to].local_endpoint().port();
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void Accept(std::size_t from, std::size_t to) {
    tcp::acceptor& acceptor = acceptors_[from * ports_.size() + to];
    acceptor.async_accept([this, from, to](Error error, tcp::socket socket) {
      if (error == boost::asio::error::operation_aborted) return;
      if (error) return AcceptLater(from, to);
      Error ignored;  // of wishes
      socket.set_option(tcp::no_delay(true), ignored);
      std::make_shared<Passageway>(std::move(socket), from, to, lines_, bytes_)
          ->Connect(ports_[to]);
      Accept(from, to);
    });
  }

  // An error that lasts, such as too many open files, must not take a processor.
  void AcceptLater(std::size_t from, std::size_t to) {
    auto timer = std::make_shared<boost::asio::steady_timer>(io_, std::chrono::milliseconds(100));
    timer->async_wait([this, from, to, timer](Error stopped) {
      if (!stopped) Accept(from, to);
    });
  }

  const std::vector<std::uint16_t> ports_;
  WanLines lines_;  // the thread's
  std::atomic<std::uint64_t> bytes_{0};
  boost::asio::io_context io_;
  std::deque<tcp::acceptor> acceptors_;  // by sender, then receiver; not open on the diagonal
  std::thread thread_;
};

WanRelay::WanRelay(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WanRelay::~WanRelay() = default;

base::StatusOr<std::unique_ptr<WanRelay>> WanRelay::Start(const WanLine& line,
                                                          const std::vector<std::uint16_t>& ports) {
  // A port for each two, two sockets for each link, and as many while two nodes dial each other.
  const std::uint64_t pairs = ports.size() * (ports.size() - 1);
  const base::Status allowed = os::AllowOpenFiles(3 * pairs + kOtherFiles);
  if (!allowed.ok()) {
    return base::Unavailable("--wan between " + std::to_string(ports.size()) +
                             " nodes: " + base::MessageOf(allowed) + "; take fewer --peers");
  }
  try {
    return std::unique_ptr<WanRelay>(new WanRelay(std::make_unique<Impl>(line, ports)));
  } catch (const boost::system::system_error& error) {
    return base::Unavailable("the lines between the nodes cannot be made: " +
                             error.code().message());
  }
}

std::uint16_t WanRelay::PortFor(std::size_t from, std::size_t to) const {
  return impl_->PortFor(from, to);
}
std::uint64_t WanRelay::bytes() const { return impl_->bytes(); }

}  // namespace ostraka::cli
