#include "tests/unit/net/transport_net.h"
#include "node/os/endpoint.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "node/base/check.h"
#include "node/os/endpoint.h"

namespace ostraka::net {

std::shared_ptr<const crypto::SigningKey> TestKey(std::size_t rank) {
  static const auto keys = [] {
    OSTRAKA_CHECK(crypto::Initialize().ok());
    std::vector<std::shared_ptr<const crypto::SigningKey>> made;
    for (std::size_t i = 0; i < kTestKeys; ++i) {
      const base::Bytes seed(32, static_cast<std::uint8_t>(i + 1));
      made.push_back(
          std::make_shared<const crypto::SigningKey>(crypto::SigningKey::FromSeed(seed)));
    }
    std::sort(made.begin(), made.end(),
              [](const auto& a, const auto& b) { return a->id() < b->id(); });
    return made;
  }();
  return keys.at(rank);
}

base::SharedBytes Frame(const std::string& text) {
  return std::make_shared<const base::Bytes>(text.begin(), text.end());
}

crypto::SharedBlob TestBlob(std::size_t size, std::uint8_t seed) {
  base::Bytes data(size);
  std::uint32_t state = seed;
  for (std::uint8_t& byte : data) {
    state = state * 1664525 + 1013904223;  // any mixing will do
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return crypto::MakeBlob(std::move(data));
}

base::Digest RunId(std::uint8_t fill) {
  base::Digest id;
  id.bytes.fill(fill);
  return id;
}

TestNode::TestNode(std::size_t key_rank) {
  options.key = TestKey(key_rank);
  options.run_id = RunId(7);
  options.max_blob_bytes = 64 << 20;
  options.backoff.stagger = {};
  options.backoff.first = base::Milliseconds(20);
  const auto socket = os::ListenOnLoopback();
  OSTRAKA_CHECK(socket.ok());
  options.listen_fd = socket->fd;
  port_ = socket->port;
  keep_fd_ = dup(socket->fd);
}

TestNode::~TestNode() {
  Kill();
  if (options.listen_fd >= 0) close(options.listen_fd);
  close(keep_fd_);
}

void TestNode::Start(boost::asio::io_context& io) {
  TransportEvents events;
  events.message = [this](const PeerId& from, base::SharedBytes frame, crypto::SharedBlob blob) {
    messages.push_back({from, std::string(frame->begin(), frame->end()), std::move(blob)});
    if (on_message) on_message(messages.back());
  };
  events.link = [this](const PeerId& peer, bool up) {
    links.emplace_back(peer, up);
    if (on_link) on_link(peer, up);
  };
  events.dial_back = [this](const PeerId& from, const DialBackRecord& record) {
    if (on_dial_back) on_dial_back(from, record);
  };
  events.data = [this](const PeerId& from, const DataRecord& record) {
    if (on_data) on_data(from, record);
  };
  events.notice = [this](NoticeLevel /*level*/, const std::string& line) {
    notices.push_back(line);
  };
  auto made = Transport::Make(io, options, std::move(events));
  OSTRAKA_CHECK(made.ok());
  options.listen_fd = -1;  // the transport's now
  transport = std::move(*made);
  transport->Start();
}

void TestNode::Kill() {
  if (transport == nullptr) return;
  transport.reset();
  options.listen_fd = dup(keep_fd_);
}

bool TestNode::Noticed(const std::string& text) const {
  return std::any_of(notices.begin(), notices.end(), [&text](const std::string& line) {
    return line.find(text) != std::string::npos;
  });
}

std::string TestNode::AllNotices() const {
  std::string all;
  for (const std::string& line : notices) all += line + "\n";
  return all;
}

std::size_t TestNode::Ups() const {
  return std::count_if(links.begin(), links.end(), [](const auto& link) { return link.second; });
}

std::size_t TestNode::Downs() const { return links.size() - Ups(); }

void Introduce(const std::vector<TestNode*>& nodes) {
  for (TestNode* node : nodes) {
    for (const TestNode* other : nodes) node->options.members.push_back(other->AsMember());
  }
}

bool RunUntil(boost::asio::io_context& io, const std::function<bool()>& condition,
              Duration deadline) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(deadline.ns);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    io.restart();
    // Wakes up now and then: the condition may depend on a peer of another thread.
    io.run_one_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace ostraka::net
