#include "node/net/fetch/curl_api.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <utility>

namespace ostraka::net::curl::curl_api_test {
namespace {

TEST(CurlApiTest, AMachineWithoutItSaysWhatToInstall) {
  const auto none = LoadCurl({"libostraka-has-none.so.4", "libostraka-has-none.so.5"});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(base::MessageOf(none.status()).find("install libcurl4"), std::string::npos);
  EXPECT_EQ(base::MessageOf(none.status()).find('\n'), std::string::npos);
}

TEST(CurlApiTest, ALibraryThatLacksAFunctionIsTooOld) {
  const auto other = LoadCurl({"libc.so.6"});
  EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(base::MessageOf(other.status()).find("older than 7.66"), std::string::npos);
}

TEST(CurlApiTest, ASecondNameIsTried) {
  const auto api = SharedCurl();
  if (!api.ok()) GTEST_SKIP() << "NOT TESTED: " << api.status();
  auto names = Libraries();
  names.insert(names.begin(), {"libostraka-has-none.so.4", "libc.so.6"});
  EXPECT_TRUE(LoadCurl(names).ok());
}

// Numbers that this room writes out are those of the library that is here.
TEST(CurlApiTest, NumbersOfOptionsAreTheLibrarys) {
  struct Option {
    const char* name;
    int id;
  };
  void* library = nullptr;
  for (const std::string& name : Libraries()) {
    if (library == nullptr) library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) GTEST_SKIP() << "NOT TESTED: there is no libcurl";
  const auto by_name =
      reinterpret_cast<const Option* (*)(const char*)>(dlsym(library, "curl_easy_option_by_name"));
  if (by_name == nullptr) GTEST_SKIP() << "NOT TESTED: libcurl is older than 7.73";
  for (const auto& [name, id] : {
           std::pair{"NETRC", kNetrc},
           {"FOLLOWLOCATION", kFollowLocation},
           {"SSLVERSION", kSslVersion},
           {"SSL_VERIFYPEER", kSslVerifyPeer},
           {"SSL_VERIFYHOST", kSslVerifyHost},
           {"HTTPGET", kHttpGet},
           {"HTTP_VERSION", kHttpVersion},
           {"NOSIGNAL", kNoSignal},
           {"CONNECTTIMEOUT_MS", kConnectTimeoutMs},
           {"PROTOCOLS", kProtocols},
           {"HTTP09_ALLOWED", kHttp09Allowed},
           {"QUICK_EXIT", kQuickExit},
           {"URL", kUrl},
           {"PROXY", kProxy},
           {"RANGE", kRange},
           {"USERAGENT", kUserAgent},
           {"CAINFO", kCaInfo},
           {"PROTOCOLS_STR", kProtocolsText},
           {"WRITEDATA", kWriteData},
           {"HEADERDATA", kHeaderData},
           {"OPENSOCKETDATA", kOpenSocketData},
           {"WRITEFUNCTION", kWriteFunction},
           {"HEADERFUNCTION", kHeaderFunction},
           {"OPENSOCKETFUNCTION", kOpenSocketFunction},
       }) {
    const Option* const option = by_name(name);
    const bool newer = id == kQuickExit || id == kProtocolsText;
    if (option == nullptr && newer) continue;
    ASSERT_NE(option, nullptr) << name;
    EXPECT_EQ(option->id, id) << name;
  }
}

}  // namespace
}  // namespace ostraka::net::curl::curl_api_test
