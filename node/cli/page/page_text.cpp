#include "node/cli/page/page_text.h"

#include "node/cli/terminal/exit_code.h"

namespace ostraka::cli {

namespace {

std::string Escaped(std::string_view printable) {
  std::string escaped;
  for (const char c : printable) {
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

}  // namespace

std::string Html(std::string_view text) { return Escaped(PrintableLine(text)); }

std::string HtmlLines(std::string_view text) {
  return Escaped(PrintableText(text, /*whole=*/true));
}

}  // namespace ostraka::cli
