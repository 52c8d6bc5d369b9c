#include "node/net/fetch/failures.h"

#include <string>

#include "node/base/check.h"

namespace ostraka::net {

base::Status FailureOfStatus(int status) {
  OSTRAKA_CHECK(status < 200 || status > 299);
  const std::string answer = "the server answers " + std::to_string(status) + ": ";
  switch (status) {
    case 404:
    case 410:
      return base::NotFound(answer + "it has no such file; see whether the address is right");
    case 401:
    case 403:
    case 407:
      return base::InvalidArgument(answer + "it does not hand the file out; take a public source");
    case 416:
      return base::InvalidArgument(answer + "the file there is shorter; take another source");
    case 408:
    case 425:
    case 429:
      return base::Unavailable(answer + "it has no time for this node; try again later");
    default:
      break;
  }
  if (status >= 500) return base::Unavailable(answer + "it fails; try again later");
  return base::InvalidArgument(answer + "it has no file for this node; take another source");
}

base::Status FailureOfCode(curl::Code code) {
  OSTRAKA_CHECK(code != curl::kOk);
  switch (code) {
    case curl::kNoHost:
      return base::Unavailable(
          "the host's name leads to no address; see whether it is right and this machine has a "
          "network");
    case curl::kNoConnection:
      return base::Unavailable("the host takes no connection; try again later");
    case curl::kTimedOut:
      return base::Unavailable("the host does not answer in time; try again later");
    case curl::kTlsFailed:
      return base::Unavailable("the host and this node find no common TLS; try again later");
    case curl::kPeerNotVerified:
    case curl::kIssuerError:
    case curl::kInvalidCertStatus:
      return base::InvalidArgument(
          "the host's certificate is not good for its name, or this machine does not know who "
          "signed it; take another source, or bring ca-certificates up to date");
    case curl::kBadAuthorities:
      return base::FailedPrecondition(
          "this machine has no list of certificates: install ca-certificates");
    case curl::kUnsupportedProtocol:
    case curl::kWeirdReply:
    case curl::kBadEncoding:
      return base::InvalidArgument("the server does not answer as HTTP does; take another source");
    case curl::kOutOfMemory:
    case curl::kTooLarge:
      return base::InvalidArgument(
          "a line of the server's answer is too long, or memory has run out");
    case curl::kPartialFile:
    case curl::kGotNothing:
      return base::Unavailable("the answer ended early; try again");
    default:
      return base::Unavailable("the transfer failed (libcurl's code " + std::to_string(code) +
                               "); try again later");
  }
}

}  // namespace ostraka::net
