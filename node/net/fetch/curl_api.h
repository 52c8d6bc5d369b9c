// The functions of libcurl that a reader needs, found when the program runs: nothing is linked, and
// a machine without libcurl reads no files of servers.
//
// The names are those of the library's manual with their types written out, so that no header of it
// is needed to build. Numbers are those of its public interface, which are fixed for ever;
// curl_api_test.cpp compares those of options with what a loaded library says of them.
//
// What an attacker can do here: nothing; no byte of a server comes through.
//
// Thread safety: LoadCurl is safe from any thread. An Api is immutable.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "node/base/status.h"

namespace ostraka::net::curl {

struct EasyObject;
struct MultiObject;
using Easy = EasyObject*;
using Multi = MultiObject*;
using Code = int;  // of an Easy; 0: success

inline constexpr Code kOk = 0;
inline constexpr Code kUnsupportedProtocol = 1;
inline constexpr Code kNoHost = 6;  // CURLE_COULDNT_RESOLVE_HOST
inline constexpr Code kNoConnection = 7;
inline constexpr Code kWeirdReply = 8;
inline constexpr Code kPartialFile = 18;
inline constexpr Code kWriteError = 23;  // a function of ours ended the transfer
inline constexpr Code kOutOfMemory = 27;
inline constexpr Code kTimedOut = 28;
inline constexpr Code kTlsFailed = 35;
inline constexpr Code kUnknownOption = 48;
inline constexpr Code kGotNothing = 52;
inline constexpr Code kPeerNotVerified = 60;
inline constexpr Code kBadEncoding = 61;
inline constexpr Code kBadAuthorities = 77;  // CURLE_SSL_CACERT_BADFILE
inline constexpr Code kIssuerError = 83;
inline constexpr Code kInvalidCertStatus = 91;
inline constexpr Code kTooLarge = 100;

// Options with a number take a long.
inline constexpr int kNetrc = 51;
inline constexpr int kFollowLocation = 52;
inline constexpr int kSslVersion = 32;
inline constexpr int kSslVerifyPeer = 64;
inline constexpr int kHttpGet = 80;
inline constexpr int kSslVerifyHost = 81;
inline constexpr int kHttpVersion = 84;
inline constexpr int kNoSignal = 99;
inline constexpr int kTimeoutMs = 155;
inline constexpr int kConnectTimeoutMs = 156;
inline constexpr int kProtocols = 181;
inline constexpr int kHttp09Allowed = 285;
inline constexpr int kQuickExit = 322;  // does not wait for the thread that resolves a name
// These take a text, which is copied; null: none.
inline constexpr int kUrl = 10002;
inline constexpr int kProxy = 10004;
inline constexpr int kRange = 10007;
inline constexpr int kUserAgent = 10018;
inline constexpr int kCaInfo = 10065;
inline constexpr int kProtocolsText = 10318;  // CURLOPT_PROTOCOLS_STR
// These take a function and what it gets as its last, or first, argument.
inline constexpr int kWriteData = 10001;
inline constexpr int kHeaderData = 10029;
inline constexpr int kOpenSocketData = 10164;
inline constexpr int kWriteFunction = 20011;
inline constexpr int kHeaderFunction = 20079;
inline constexpr int kOpenSocketFunction = 20163;

inline constexpr long kHttp11 = 2;        // CURL_HTTP_VERSION_1_1
inline constexpr long kTls12 = 6;         // CURL_SSLVERSION_TLSv1_2: that, or a newer one
inline constexpr long kHttpBit = 1 << 0;  // CURLPROTO_HTTP
inline constexpr long kHttpsBit = 1 << 1;
inline constexpr long kGlobalDefault = 3;     // CURL_GLOBAL_DEFAULT
inline constexpr int kRedirectUrl = 1048607;  // CURLINFO_REDIRECT_URL
inline constexpr int kDone = 1;               // CURLMSG_DONE
inline constexpr int kNoSocket = -1;          // CURL_SOCKET_BAD

using DataFunction = std::size_t (*)(char* data, std::size_t one, std::size_t size, void* self);
// The library's CURL_SOCKADDR; of `address` only `size` bytes are there.
struct SocketAddress {
  int family;
  int kind;
  int protocol;
  unsigned int size;
  sockaddr_storage address;
};
using OpenSocketFunction = int (*)(void* self, int purpose, SocketAddress* address);

struct Message {
  int kind;
  Easy easy;
  union {
    void* any;
    Code code;
  } data;
};

struct Api {
  Code (*curl_global_init)(long) = nullptr;
  Easy (*curl_easy_init)() = nullptr;
  void (*curl_easy_cleanup)(Easy) = nullptr;
  Code (*curl_easy_setopt)(Easy, int, ...) = nullptr;
  Code (*curl_easy_getinfo)(Easy, int, ...) = nullptr;
  Multi (*curl_multi_init)() = nullptr;
  int (*curl_multi_cleanup)(Multi) = nullptr;
  int (*curl_multi_add_handle)(Multi, Easy) = nullptr;
  int (*curl_multi_remove_handle)(Multi, Easy) = nullptr;
  int (*curl_multi_perform)(Multi, int*) = nullptr;
  int (*curl_multi_poll)(Multi, void*, unsigned int, int, int*) = nullptr;
  Message* (*curl_multi_info_read)(Multi, int*) = nullptr;
};

// The names under which libraries are looked for, the first first.
std::vector<std::string> Libraries();

// Loads the first of `libraries` that is there, with names of its own (RTLD_LOCAL), for good, and
// readies it. FailedPrecondition: there is none, or it is older than 7.66; the line says what to
// install. Internal: it cannot be readied.
base::StatusOr<Api> LoadCurl(const std::vector<std::string>& libraries);

// LoadCurl(Libraries()), once in this process; after a failure it is tried again.
base::StatusOr<Api> SharedCurl();

}  // namespace ostraka::net::curl
