#include "node/os/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace ostraka::os {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

constexpr std::string_view kEveryAddress = "*";

// " with --listen", for the end of a sentence that says what to choose.
std::string With(std::string_view option) {
  return option.empty() ? "" : " with " + std::string(option);
}

base::StatusOr<SocketAddress> NumericAddress(const HostPort& where, std::string_view option) {
  SocketAddress address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, where.host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(where.port);
    address.size = sizeof(sockaddr_in);
  } else if (inet_pton(AF_INET6, where.host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(where.port);
    address.size = sizeof(sockaddr_in6);
  } else {
    return base::InvalidArgument("cannot listen on \"" + where.host +
                                 "\": give an address such as *, 127.0.0.1 or [::]" + With(option));
  }
  return address;
}

// Names have no case (RFC 4343).
bool IsLocalhost(std::string_view host) {
  constexpr std::string_view kName = "localhost";
  return std::equal(host.begin(), host.end(), kName.begin(), kName.end(), [](char c, char lower) {
    return (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) == lower;
  });
}

base::Status CannotListen(std::string_view address, int error, std::string_view option) {
  const std::string where(address);
  if (error == EADDRINUSE) {
    return base::Unavailable("cannot listen on " + where +
                             ": the port is taken; stop the program that has it (ss -ltnp shows "
                             "which) or choose another port" +
                             With(option));
  }
  if (error == EADDRNOTAVAIL) {
    return base::Unavailable(
        "cannot listen on " + where +
        ": this machine does not have that address; choose one that it has, or "
        "* for all of them," +
        (option.empty() ? " instead" : With(option)));
  }
  if (error == EACCES) {
    return base::Unavailable("cannot listen on " + where +
                             ": not allowed; choose a port above 1023" + With(option));
  }
  return base::Unavailable("cannot listen on " + where + ": " + std::strerror(error));
}

// A listening socket; or -1, and `error` is the system's.
int Listen(SocketAddress& bound, int& error) {
  const int fd = socket(bound.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  const int off = 0;
  // Lets a restarted node take its port back while old connections linger in TIME_WAIT.
  bool good = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0;
  // [::] means IPv4 too, whatever net.ipv6.bindv6only is.
  if (good && bound.get()->sa_family == AF_INET6) {
    good = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0;
  }
  if (good && bind(fd, bound.get(), bound.size) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
  error = errno;
  if (fd >= 0) close(fd);
  return -1;
}

}  // namespace

base::StatusOr<HostPort> ParseHostPort(std::string_view text) {
  std::string quoted(1, '"');  // not "\"" + ...: GCC 12 falsely warns of an overlap
  quoted.append(text).push_back('"');
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    return base::InvalidArgument(quoted + " is no address: write host:port");
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  HostPort result;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), result.port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return base::InvalidArgument(quoted + " has no port from 0 to 65535 after its last colon");
  }
  if (host.front() == '[' && host.back() == ']' && host.size() > 2) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return base::InvalidArgument(quoted + ": write an IPv6 address in brackets, [address]:port");
  }
  result.host = std::string(host);
  return result;
}

std::string FormatHostPort(const HostPort& where) {
  const bool is_v6 = where.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + where.host + "]" : where.host) + ":" + std::to_string(where.port);
}

std::string WithPort(std::string_view address, std::uint16_t port) {
  return std::string(address.substr(0, address.rfind(':') + 1)) + std::to_string(port);
}

bool IsLoopbackHost(std::string_view host) {
  const std::string text(host);
  if (IsLocalhost(host)) return true;
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    constexpr std::uint32_t kLoopbackNet = 127;
    return ntohl(v4.s_addr) >> 24 == kLoopbackNet;
  }
  in6_addr v6{};
  return inet_pton(AF_INET6, text.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

base::StatusOr<int> ListenOn(std::string_view address, std::string_view option) {
  ASSIGN_OR_RETURN(HostPort where, ParseHostPort(address));
  const bool every = where.host == kEveryAddress;
  if (every) where.host = "::";
  ASSIGN_OR_RETURN(SocketAddress bound, NumericAddress(where, option));
  int error = 0;
  int fd = Listen(bound, error);
  if (fd < 0 && every && (error == EAFNOSUPPORT || error == EADDRNOTAVAIL)) {  // no IPv6 here
    where.host = "0.0.0.0";
    ASSIGN_OR_RETURN(bound, NumericAddress(where, option));
    fd = Listen(bound, error);
  }
  if (fd < 0) return CannotListen(address, error, option);
  return fd;
}

base::StatusOr<std::string> ListeningAddressFor(std::string_view announced) {
  ASSIGN_OR_RETURN(const HostPort where, ParseHostPort(announced));
  if (IsLocalhost(where.host)) return WithPort("127.0.0.1:", where.port);
  return IsLoopbackHost(where.host) ? std::string(announced) : WithPort("*:", where.port);
}

std::string AddressGroup(const std::string& host) {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return host;
  in6_addr v6{};
  // A scope ("fe80::1%eth0") is part of the text only: drop it.
  if (inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &v6) != 1) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    return inet_ntop(AF_INET, &v6.s6_addr[12], text.data(), text.size());
  }
  if (IN6_IS_ADDR_LOOPBACK(&v6)) return "::1";
  std::fill(&v6.s6_addr[8], &v6.s6_addr[16], std::uint8_t{0});
  return std::string(inet_ntop(AF_INET6, &v6, text.data(), text.size())) + "/64";
}

std::string AddressPrefix(const std::string& host) {
  const std::string group = AddressGroup(host);
  const std::string address = group.substr(0, group.find('/'));
  std::array<char, INET6_ADDRSTRLEN> text{};
  in_addr v4{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) {
    return address.substr(0, address.rfind('.')) + ".0/24";
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, address.c_str(), &v6) != 1) return "";
  std::fill(&v6.s6_addr[6], &v6.s6_addr[16], std::uint8_t{0});
  return std::string(inet_ntop(AF_INET6, &v6, text.data(), text.size())) + "/48";
}

bool IsIpv6(int fd) {
  int family = AF_INET;
  socklen_t size = sizeof(family);
  // Fails only if `fd` is no socket, which the next user of the descriptor will detect.
  getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family == AF_INET6;
}

base::StatusOr<HostPort> ListeningAddress(int fd) {
  int is_listening = 0;
  socklen_t size = sizeof(is_listening);
  SocketAddress address;
  address.size = sizeof(address.storage);
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) != 0 || is_listening == 0 ||
      getsockname(fd, address.get(), &address.size) != 0) {
    return base::InvalidArgument("file descriptor " + std::to_string(fd) +
                                 " is not a listening socket");
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
    inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    return HostPort{text.data(), ntohs(v4->sin_port)};
  }
  if (address.storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
    inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    return HostPort{text.data(), ntohs(v6->sin6_port)};
  }
  return base::InvalidArgument("file descriptor " + std::to_string(fd) + " is not a TCP socket");
}

base::StatusOr<std::uint16_t> ListeningPort(int fd) {
  ASSIGN_OR_RETURN(const HostPort where, ListeningAddress(fd));
  return where.port;
}

base::StatusOr<ListeningSocket> ListenOnLoopback() {
  ASSIGN_OR_RETURN(const int fd, ListenOn("127.0.0.1:0"));
  base::StatusOr<std::uint16_t> port = ListeningPort(fd);
  if (!port.ok()) {
    close(fd);
    return port.status();
  }
  return ListeningSocket{fd, *port};
}

}  // namespace ostraka::os
