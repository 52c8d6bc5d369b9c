// Any text as a key file: it must be refused with one line, or open as the key that it names.
#include <cstdint>
#include <string>
#include <string_view>

#include "crypto/key_file.h"
#include "node/base/check.h"

namespace ostraka::crypto {
namespace {

// The passphrase of the corpus's encrypted files.
constexpr std::string_view kPassphrase = "fuzz";

// Argon2id within its limits may take 1 GiB and seconds: right for a user, too slow here.
bool IsCheap(const KdfCost& cost) { return cost.ops <= 2 && cost.memory_kib <= 64; }

void CheckOneLine(const base::Status& status) {
  OSTRAKA_CHECK(!status.message().empty());
  OSTRAKA_CHECK(base::MessageOf(status).find('\n') == std::string::npos);
}

// A key that opened must survive writing and reading, encrypted or not as before.
void CheckOpened(const SigningKey& key, const KeyFileInfo& info) {
  OSTRAKA_CHECK(key.id() == info.id);
  const auto text = info.encrypted ? EncodeKeyFile(key, kPassphrase, info.cost)
                                   : EncodeKeyFile(key, std::nullopt);
  OSTRAKA_CHECK(text.ok());
  const auto again =
      DecodeKeyFile(*text, [] { return base::StatusOr<std::string>(std::string(kPassphrase)); });
  OSTRAKA_CHECK(again.ok() && again->id() == key.id());
}

void RunOne(std::string_view text) {
  const auto info = InspectKeyFile(text);
  bool asked = false;
  const auto key = DecodeKeyFile(text, [&]() -> base::StatusOr<std::string> {
    asked = true;
    OSTRAKA_CHECK(info.ok() && info->encrypted);
    if (!IsCheap(info->cost)) return base::Unavailable("too slow to fuzz");
    return std::string(kPassphrase);
  });
  if (!info.ok()) {
    OSTRAKA_CHECK(!key.ok() && !asked);
    CheckOneLine(info.status());
    return;
  }
  OSTRAKA_CHECK(asked == info->encrypted);
  if (key.ok()) return CheckOpened(*key, *info);
  CheckOneLine(key.status());
}

}  // namespace
}  // namespace ostraka::crypto

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool initialized = ostraka::crypto::Initialize().ok();
  OSTRAKA_CHECK(initialized);
  ostraka::crypto::RunOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
