#include "node/cli/terminal/ink.h"

#include <unistd.h>

#include <cstdlib>

namespace ostraka::cli {

bool WantsColor(int descriptor, const char* no_color, const char* term) {
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return isatty(descriptor) != 0;
}

Ink::Ink(int descriptor)
    : on_(WantsColor(descriptor, std::getenv("NO_COLOR"), std::getenv("TERM"))) {}

Ink Ink::Always(bool on) { return Ink(Decided{on}); }

std::string Ink::Painted(std::string_view code, std::string_view text) const {
  if (!on_) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace ostraka::cli
