#include "node/cli/page/page_text.h"

#include "node/cli/page/page_data.h"
#include "node/cli/terminal/exit_code.h"

namespace ostraka::cli {
namespace {

constexpr std::size_t kShortDigits = 8;

}  // namespace

std::string Html(std::string_view text) {
  std::string escaped;
  for (const char c : PrintableLine(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string ShownName(const PagePeer& peer) {
  const std::string digits = peer.id.substr(0, kShortDigits);
  return peer.name.empty() ? digits : peer.name + " (" + digits + ")";
}

}  // namespace ostraka::cli
