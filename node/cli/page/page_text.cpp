#include "node/cli/page/page_text.h"

#include "node/cli/terminal/exit_code.h"

namespace ostraka::cli {

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

}  // namespace ostraka::cli
