// The transport of machines that talk over datagrams, such as a DHT over UDP: no links, no order,
// no blobs, and nobody is authenticated.
//
// `Address` is the kind's own plain value for the other end, such as an IP address with a port. It
// is a parameter because this layer knows no socket, and a test can use a small integer.
//
// Promises of the driver
//   D1 A datagram arrives whole, and any number of times: lost, repeated, out of order.
//   D2 A machine is not told whether a datagram arrived, or whether anybody listens.
//   D3 `from` is what the packet's header says, and nothing was checked. What an attacker can do
//      here: write any address into it. A machine that answers an address with more bytes than
//      that address has proven to ask for is an amplifier for attacks on third parties.
//
// Thread safety: plain values.
#pragma once

#include "node/base/bytes.h"
#include "node/machine/parts.h"

namespace ostraka::machine {

template <typename Address>
struct DatagramReceived {
  Address from;
  base::SharedBytes bytes;
};
template <typename Address>
struct SendDatagram {
  Address to;
  base::SharedBytes bytes;
};

template <typename Address>
struct Datagrams {
  using Inputs = Types<DatagramReceived<Address>>;
  using Actions = Types<SendDatagram<Address>>;
};

}  // namespace ostraka::machine
