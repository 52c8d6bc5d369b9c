// The real driver of a node of the DHT (dht/node.h): one UDP socket and one timer on an io_context.
//
// Promises:
//   D1 The machine's contract (node/machine/machine.h): serial steps, time that does not go back, a
//      timer never early.
//   D2 Each Ask is answered once through `answered`, unless the driver is destroyed first.
//   D3 `kept` gets what the next life should begin with; the caller makes it durable. What is lost
//      costs the next start a join through the bootstraps.
//   D4 Nothing that the machine, a listener or a library throws leaves the driver: it closes, says
//      so once through `failed`, and takes no input any more. A run that uses it goes on.
//
// May not know: runs, manifests, links.
// Memory: of a Node and a UdpSocket.
// What an attacker can do here: Node's and UdpSocket's.
//
// Thread safety: none; the thread that runs the io_context. Callbacks come on it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "dht/node.h"
#include "node/machine/contract.h"
#include "node/net/udp/udp_socket.h"
#include "node/os/timer.h"

namespace ostraka::net {

class DhtDriver {
 public:
  struct Listener {
    std::function<void(const dht::Answered&)> answered;
    std::function<void(const dht::KeptContacts&)> kept;
    std::function<void(const dht::Observation&)> observed;
    std::function<void(const std::string& what)> failed;  // each may be empty; must not throw
  };

  DhtDriver(boost::asio::io_context& io, dht::NodeConfig config, Listener listener);
  ~DhtDriver();
  DhtDriver(const DhtDriver&) = delete;
  DhtDriver& operator=(const DhtDriver&) = delete;

  // Opens the socket at `local` and starts the machine. Unavailable: UdpSocket::Open's reasons.
  // REQUIRES: called once.
  base::Status Start(const dht::Endpoint& local, const dht::Started& started);
  // No effect once closed. REQUIRES: started.
  void Ask(const dht::Ask& ask);
  // No datagram goes out or comes in after it, and no callback comes.
  void Close();

  // REQUIRES: started, not closed.
  dht::Endpoint local() const { return socket_.local(); }
  dht::Progress progress() const { return node_->progress(); }
  std::uint64_t dropped() const { return socket_.dropped(); }

 private:
  void Step(const dht::Input& input);
  void StepMachine(const dht::Input& input);
  // Runs a function, under D4.
  template <typename Function>
  void Guard(Function&& function);
  void Perform(const machine::SendDatagram<dht::Endpoint>& send);
  void Perform(const machine::SetTimer& timer);
  void Perform(const machine::CancelTimer& timer);
  void Perform(const machine::Store<dht::KeptContacts>& store);
  void Perform(const dht::Answered& answered);
  void Perform(const machine::Observe<dht::Observation>& observe);
  // Later, outside the step that caused it.
  void Post(std::function<void()> call);

  boost::asio::io_context& io_;
  std::unique_ptr<dht::Node> node_;
  machine::Contract<dht::DhtKind> contract_;
  Listener listener_;
  UdpSocket socket_;
  os::Timer timer_;
  std::shared_ptr<bool> alive_;  // false once closed or destroyed: for calls that are posted
};

}  // namespace ostraka::net
