#include "sim/page/html.h"

#include "sim/page/svg.h"

namespace ostraka::page {
namespace {

constexpr char kStyle[] = R"(
body { font: 15px/1.5 "DejaVu Sans", Verdana, sans-serif; color: #222; max-width: 1160px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 24px; } h2 { font-size: 19px; margin-top: 2em; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; font-size: 13px; margin: 1em 0; }
th, td { padding: 3px 9px; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
td.long { white-space: normal; }
td.best { font-weight: bold; } td small { color: #666; font-weight: normal; }
figure { margin: 1.5em 0; } figcaption { font-size: 13px; color: #444; max-width: 900px; }
figure svg { max-width: 100%; height: auto; }
pre { background: #f6f6f6; padding: 1em; font-size: 12px; overflow-x: auto; }
.scroll { overflow-x: auto; }
html { color-scheme: light dark; background: #fff; }
/* Figures stay on white, as the files of a comparison show them. */
@media (prefers-color-scheme: dark) {
html { background: #17191c; } body { color: #ddd; } figcaption, td small { color: #aaa; }
h2, th, td { border-color: #444; } pre { background: #24272b; }
figure svg { border-radius: 6px; }
}
)";

}  // namespace

std::string Tag(const std::string& name, const std::string& inside, const std::string& kind) {
  const std::string attribute = kind.empty() ? "" : " class=\"" + kind + "\"";
  return "<" + name + attribute + ">" + inside + "</" + name + ">";
}

std::string Figure(const std::string& svg, std::string_view caption) {
  return Tag("figure", svg + Tag("figcaption", Escaped(caption))) + "\n";
}

std::string Table(const std::string& rows) {
  return "<div class=\"scroll\">" + Tag("table", rows) + "</div>\n";
}

std::string Document(std::string_view title, const std::string& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n" +
         Tag("title", Escaped(title)) + "\n" + Tag("style", kStyle) + "\n</head>\n" +
         Tag("body", "\n" + body) + "\n</html>\n";
}

}  // namespace ostraka::page
