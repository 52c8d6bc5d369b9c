#include "node/cli/options/peer_addresses.h"

#include "node/os/endpoint.h"

namespace ostraka::cli {

base::StatusOr<std::map<base::PeerId, std::string>> PeerAddresses(
    const std::vector<std::string>& texts) {
  std::map<base::PeerId, std::string> addresses;
  for (const std::string& text : texts) {
    const std::size_t at = text.find('@');
    const auto id = base::PeerId::FromHexDigits(text.substr(0, at));
    if (!id || at == std::string::npos) {
      return base::InvalidArgument("--peers '" + text + "': write ID@HOST:PORT");
    }
    const std::string address = text.substr(at + 1);
    const auto parsed = os::ParseHostPort(address);
    if (!parsed.ok()) return base::InvalidArgument("--peers " + base::MessageOf(parsed.status()));
    addresses[*id] = address;
  }
  return addresses;
}

}  // namespace ostraka::cli
