#include "node/net/fetch/getter.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <utility>

#include "node/base/check.h"
#include "node/net/fetch/failures.h"

namespace ostraka::net {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooks{100};        // how often `unwanted` is asked; G4
constexpr std::size_t kMostIgnored = 16 * 1024;   // of a body that is no success
constexpr std::uint64_t kMostReserved = 1 << 20;  // before a byte has come

// While it lives a connection that the other side has closed raises no SIGPIPE in this thread,
// which libcurl leaves to its user.
class QuietPipes {
 public:
  QuietPipes() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t waiting;
    sigpending(&waiting);
    was_waiting_ = sigismember(&waiting, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~QuietPipes() {
    const timespec now{};
    while (!was_waiting_ && sigtimedwait(&pipe_, nullptr, &now) == SIGPIPE) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  QuietPipes(const QuietPipes&) = delete;
  QuietPipes& operator=(const QuietPipes&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_waiting_ = false;
};

// Says when a transfer has moved too little for too long.
class StallWatch {
 public:
  StallWatch(const FetchLimits& limits, Clock::time_point now) : limits_(limits), since_(now) {}

  bool Stalls(std::uint64_t moved, Clock::time_point now) {
    OSTRAKA_CHECK(moved >= before_);
    if (moved - before_ >= limits_.stall_bytes) {
      before_ = moved;
      since_ = now;
    }
    return now - since_ >= limits_.stall;
  }

 private:
  const FetchLimits& limits_;
  Clock::time_point since_;
  std::uint64_t before_ = 0;
};

}  // namespace

// Its static functions are called by libcurl: within Run, on the thread of Get.
class Getter::Impl {
 public:
  Impl(const curl::Api& api, bool allow_private, FetchParts parts)
      : api_(api),
        allow_private_(allow_private),
        parts_(std::move(parts)),
        easy_(api_.curl_easy_init()),
        multi_(api_.curl_multi_init()) {}

  ~Impl() {
    const QuietPipes quiet;  // an open connection of TLS says goodbye
    if (easy_ != nullptr) api_.curl_easy_cleanup(easy_);
    if (multi_ != nullptr) api_.curl_multi_cleanup(multi_);
  }

  // What stays the same for all requests. False: libcurl does not do as it is told.
  bool Prepare() {
    if (easy_ == nullptr || multi_ == nullptr) return false;
    Set(curl::kQuickExit, 1L);  // since 7.87; an older one may wait for its resolver
    return Set(curl::kSslVerifyPeer, 1L) && Set(curl::kSslVerifyHost, 2L) &&
           Set(curl::kSslVersion, curl::kTls12) && Set(curl::kProxy, "") && Set(curl::kNetrc, 0L) &&
           Set(curl::kFollowLocation, 0L) && Set(curl::kNoSignal, 1L) && Set(curl::kHttpGet, 1L) &&
           Set(curl::kHttpVersion, curl::kHttp11) && Set(curl::kHttp09Allowed, 0L) &&
           Set(curl::kUserAgent, "ostraka") &&
           Set(curl::kConnectTimeoutMs, static_cast<long>(parts_.limits.connect.count())) &&
           (parts_.authorities.empty() || Set(curl::kCaInfo, parts_.authorities.c_str())) &&
           Set(curl::kWriteFunction, static_cast<curl::DataFunction>(&OnBody)) &&
           Set(curl::kWriteData, static_cast<void*>(this)) &&
           Set(curl::kHeaderFunction, static_cast<curl::DataFunction>(&OnLine)) &&
           Set(curl::kHeaderData, static_cast<void*>(this)) &&
           Set(curl::kOpenSocketFunction, static_cast<curl::OpenSocketFunction>(&OnSocket)) &&
           Set(curl::kOpenSocketData, static_cast<void*>(this));
  }

  base::StatusOr<GetAnswer> Get(const GetRequest& request,
                                const base::RangeReader::Unwanted& unwanted) {
    OSTRAKA_CHECK(now_ == nullptr);  // G1
    Transfer transfer(request, parts_.limits.head_bytes);
    if (!Ask(request)) return base::Internal("libcurl does not take the request");
    now_ = &transfer;
    const base::Status ended = Run(unwanted);
    now_ = nullptr;
    RETURN_IF_ERROR(ended);
    return Answer(transfer);
  }

 private:
  struct Transfer {
    Transfer(const GetRequest& what, std::size_t head_bytes) : request(what), head(head_bytes) {}

    const GetRequest& request;
    AnswerHead head;
    base::Bytes body;
    std::size_t ignored = 0;  // bytes of a body that nobody wants
    base::Status refusal;     // of this node, which ended the transfer
    base::Status closed;      // why an address was not connected to
    bool connects = false;    // an address was
  };

  template <typename T>
  bool Set(int option, T value) {
    return api_.curl_easy_setopt(easy_, option, value) == curl::kOk;
  }

  bool SetProtocols(bool https) {
    const curl::Code code = api_.curl_easy_setopt(
        easy_, curl::kProtocolsText, static_cast<const char*>(https ? "https" : "http"));
    if (code != curl::kUnknownOption) return code == curl::kOk;
    return Set(curl::kProtocols, https ? curl::kHttpsBit : curl::kHttpBit);
  }

  bool Ask(const GetRequest& request) {
    const Wanted& wanted = request.wanted;
    if (!SetProtocols(request.url.https) || !Set(curl::kUrl, request.url.text.c_str()))
      return false;
    if (wanted.whole) return Set(curl::kRange, static_cast<const char*>(nullptr));
    const std::string range =
        std::to_string(wanted.begin) + "-" + std::to_string(wanted.begin + wanted.size - 1);
    return Set(curl::kRange, range.c_str());
  }

  // Ok: there is a head, and all of the body that is wanted.
  base::Status Run(const base::RangeReader::Unwanted& unwanted) {
    if (api_.curl_multi_add_handle(multi_, easy_) != 0) {
      return base::Internal("libcurl does not begin the request");
    }
    const QuietPipes quiet;
    base::Status ended = Wait(unwanted);
    if (ended.ok()) ended = Judge(Ending());
    api_.curl_multi_remove_handle(multi_, easy_);  // G1; closes a connection in the middle
    return ended;
  }

  // Ok: libcurl has no more to do.
  base::Status Wait(const base::RangeReader::Unwanted& unwanted) {
    const Transfer& transfer = *now_;
    StallWatch watch(parts_.limits, Clock::now());
    Clock::time_point asked{};
    for (;;) {
      const auto now = Clock::now();
      if (unwanted && now - asked >= kBetweenLooks) {
        asked = now;
        if (unwanted()) return base::Cancelled("nobody wants the bytes any more");
      }
      int running = 0;
      if (api_.curl_multi_perform(multi_, &running) != 0) {
        return base::Internal("libcurl fails in the middle of a request");
      }
      if (running == 0) return base::OkStatus();
      if (IsLate(transfer.request, now)) {
        return base::Unavailable("the server takes too long; try again later");
      }
      if (watch.Stalls(transfer.head.bytes() + transfer.body.size() + transfer.ignored, now)) {
        return base::Unavailable("the server sends too little; try again later");
      }
      const int wait = static_cast<int>(kBetweenLooks.count());
      if (api_.curl_multi_poll(multi_, nullptr, 0, wait, nullptr) != 0) {
        return base::Internal("libcurl fails in the middle of a request");
      }
    }
  }

  bool IsLate(const GetRequest& request, Clock::time_point now) const {
    const FetchLimits& limits = parts_.limits;
    const auto taken = std::chrono::duration_cast<milliseconds>(now - request.begun);
    if (taken < limits.least_whole) return false;
    const auto over = static_cast<std::uint64_t>((taken - limits.least_whole).count());
    return over / 1000 >= request.wanted.size / limits.bytes_a_second;
  }

  curl::Code Ending() {
    int left = 0;
    while (const curl::Message* const message = api_.curl_multi_info_read(multi_, &left)) {
      if (message->kind == curl::kDone && message->easy == easy_) return message->data.code;
    }
    return curl::kGotNothing;
  }

  base::Status Judge(curl::Code code) {
    const Transfer& transfer = *now_;
    const AnswerHead& head = transfer.head;
    RETURN_IF_ERROR(transfer.refusal);
    if (head.complete() && !IsSuccess(head.status())) return base::OkStatus();
    if (code == curl::kNoConnection && !transfer.closed.ok() && !transfer.connects) {
      return transfer.closed;
    }
    if (code != curl::kOk) return FailureOfCode(code);
    if (!head.complete()) return FailureOfCode(curl::kPartialFile);
    const Wanted& wanted = transfer.request.wanted;
    OSTRAKA_CHECK(transfer.body.size() <= wanted.size);  // G2
    if (!wanted.whole && transfer.body.size() < wanted.size) {
      return FailureOfCode(curl::kPartialFile);
    }
    return base::OkStatus();
  }

  GetAnswer Answer(Transfer& transfer) {
    GetAnswer answer{transfer.head.status(), std::move(transfer.body), {}};
    const char* redirect = nullptr;
    if (api_.curl_easy_getinfo(easy_, curl::kRedirectUrl, &redirect) == curl::kOk &&
        redirect != nullptr) {
      answer.redirect = redirect;
    }
    return answer;
  }

  // The functions that libcurl calls. Less than `size` back ends the transfer.
  static std::size_t OnLine(char* data, std::size_t one, std::size_t size, void* self) {
    OSTRAKA_CHECK(one == 1);
    Transfer& transfer = *static_cast<Impl*>(self)->now_;
    transfer.refusal = transfer.head.Feed({data, size});
    if (transfer.refusal.ok() && transfer.head.complete() && IsSuccess(transfer.head.status())) {
      transfer.refusal = JudgeHead(transfer.head, transfer.request.wanted);
    }
    return transfer.refusal.ok() ? size : 0;
  }

  static std::size_t OnBody(char* data, std::size_t one, std::size_t size, void* self) {
    OSTRAKA_CHECK(one == 1);
    Transfer& transfer = *static_cast<Impl*>(self)->now_;
    transfer.head.BodyBegins();
    if (!transfer.head.complete()) {
      transfer.refusal = FailureOfCode(curl::kWeirdReply);
      return 0;
    }
    if (!IsSuccess(transfer.head.status())) {
      transfer.ignored += size;
      return transfer.ignored <= kMostIgnored ? size : 0;
    }
    const Wanted& wanted = transfer.request.wanted;
    if (size > wanted.size - transfer.body.size()) {
      transfer.refusal = base::InvalidArgument(
          wanted.whole ? "the file has more than " + std::to_string(wanted.size) +
                             " bytes, which is the most that is read"
                       : "the server sends more bytes than were asked for: take another source");
      return 0;
    }
    if (transfer.body.empty()) transfer.body.reserve(std::min(wanted.size, kMostReserved));
    transfer.body.insert(transfer.body.end(), data, data + size);
    return size;
  }

  static int OnSocket(void* self, int purpose, curl::SocketAddress* to) {
    auto& impl = *static_cast<Impl*>(self);
    Transfer& transfer = *impl.now_;
    const auto address = IpOf(to->family, to->address, to->size);
    if (purpose != 0 || to->kind != SOCK_STREAM || !address) return curl::kNoSocket;
    transfer.closed = impl.CheckAddress(transfer.request, *address);
    if (!transfer.closed.ok()) return curl::kNoSocket;
    transfer.connects = true;
    return socket(to->family, to->kind | SOCK_CLOEXEC, to->protocol);
  }

  base::Status CheckAddress(const GetRequest& request, const IpAddress& address) const {
    const std::string leads = request.leads + " leads to " + TextOf(address) + ", ";
    if (!request.url.https && !IsLoopback(address)) {  // G3
      return base::InvalidArgument(leads + "which is no loopback address: take https://");
    }
    const std::string_view why = WhyNotPublic(address);
    const bool may =
        parts_.may_connect ? parts_.may_connect(address) : why.empty() || allow_private_;
    if (may) return base::OkStatus();
    return base::InvalidArgument(
        leads + std::string(why) +
        ", which sources may have with --allow-private-sources alone (of a manifest's: "
        "--sources private)");
  }

  const curl::Api api_;
  const bool allow_private_;
  const FetchParts parts_;
  const curl::Easy easy_;
  const curl::Multi multi_;
  Transfer* now_ = nullptr;  // within Run
};

Getter::Getter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Getter::~Getter() = default;

base::StatusOr<std::unique_ptr<Getter>> Getter::Make(const curl::Api& api, bool allow_private,
                                                     FetchParts parts) {
  auto impl = std::make_unique<Impl>(api, allow_private, std::move(parts));
  if (!impl->Prepare()) return base::Internal("libcurl does not take an option that it must know");
  return std::unique_ptr<Getter>(new Getter(std::move(impl)));
}

base::StatusOr<GetAnswer> Getter::Get(const GetRequest& request,
                                      const base::RangeReader::Unwanted& unwanted) {
  return impl_->Get(request, unwanted);
}

}  // namespace ostraka::net
