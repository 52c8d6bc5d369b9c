#include "node/net/fetch/https_reader.h"

#include <limits>
#include <utility>

#include "node/net/fetch/failures.h"
#include "node/net/fetch/getter.h"
#include "node/net/fetch/url.h"

namespace ostraka::net {
namespace {

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

class HttpsReader final : public base::RangeReader {
 public:
  HttpsReader(SourceUrl base, bool allow_private, std::unique_ptr<Getter> getter)
      : base_(std::move(base)), allow_private_(allow_private), getter_(std::move(getter)) {}

  const std::string& place() const override { return base_.text; }

  base::StatusOr<base::Bytes> Read(const std::string& file, std::uint64_t begin, std::uint64_t size,
                                   const Unwanted& unwanted) override {
    if (size == 0 || begin > std::numeric_limits<std::uint64_t>::max() - size) {
      return base::InvalidArgument(base_.text + ": no file has the bytes that are asked for");
    }
    return Fetch(file, {begin, size, false}, unwanted);
  }

  base::StatusOr<base::Bytes> ReadWhole(const std::string& file, std::uint64_t most,
                                        const Unwanted& unwanted) override {
    return Fetch(file, {0, most, true}, unwanted);
  }

 private:
  base::StatusOr<base::Bytes> Fetch(const std::string& file, const Wanted& wanted,
                                    const Unwanted& unwanted) {
    if (const base::Status name = CheckFileName(file); !name.ok()) {
      return base::InvalidArgument(base_.text + ": " + base::MessageOf(name));
    }
    GetRequest request{base_, base_.host, wanted, std::chrono::steady_clock::now()};
    request.url.text += file;
    for (int redirects = 0;; ++redirects) {
      auto answer = getter_->Get(request, unwanted);
      if (!answer.ok()) return Named(file, answer.status());
      if (IsSuccess(answer->status)) return std::move(answer->body);
      if (!IsRedirect(answer->status)) return Named(file, FailureOfStatus(answer->status));
      if (redirects == kMostRedirects) {
        return Named(file, base::InvalidArgument("the server sends this node on more than " +
                                                 std::to_string(kMostRedirects) +
                                                 " times: take another source"));
      }
      auto next = Next(*answer);
      if (!next.ok()) return Named(file, next.status());
      request.url = *std::move(next);
      request.leads = "a redirect of " + base_.host;
    }
  }

  base::StatusOr<SourceUrl> Next(const GetAnswer& answer) const {
    if (answer.redirect.empty()) {
      return base::InvalidArgument(
          "the server sends this node on, and does not say where: take "
          "another source");
    }
    auto next = ParseRedirect(answer.redirect, allow_private_ && !base_.https);
    if (next.ok()) return next;
    return base::InvalidArgument("the server sends this node on to an address that is not taken: " +
                                 base::MessageOf(next.status()));
  }

  base::Status Named(const std::string& file, const base::Status& status) const {
    return base::MakeStatus(status.code(), base_.text + file + ": " + base::MessageOf(status));
  }

  const SourceUrl base_;
  const bool allow_private_;
  const std::unique_ptr<Getter> getter_;
};

}  // namespace

base::StatusOr<std::unique_ptr<base::RangeReader>> OpenHttps(const std::string& url,
                                                             HttpsOptions options) {
  return OpenHttpsWith(url, options, {});
}

base::StatusOr<std::unique_ptr<base::RangeReader>> OpenHttpsWith(const std::string& url,
                                                                 HttpsOptions options,
                                                                 FetchParts parts) {
  ASSIGN_OR_RETURN(SourceUrl base, ParseSourceUrl(url, options.allow_private));
  ASSIGN_OR_RETURN(const curl::Api api, curl::SharedCurl());
  ASSIGN_OR_RETURN(auto getter, Getter::Make(api, options.allow_private, std::move(parts)));
  std::unique_ptr<base::RangeReader> reader =
      std::make_unique<HttpsReader>(std::move(base), options.allow_private, std::move(getter));
  return reader;
}

}  // namespace ostraka::net
