// Colour for words that matter, where a person reads them on a terminal.
//
// Coloured only if the stream is a terminal, NO_COLOR is unset or empty, and TERM is not "dumb".
// Colour repeats what the words say, so nothing is lost without it.
//
// Thread safety: a plain value; its construction reads the environment.
#pragma once

#include <string>
#include <string_view>

namespace ostraka::cli {

class Ink {
 public:
  // For what is written to `descriptor`.
  explicit Ink(int descriptor);
  // `on` decides, for tests.
  static Ink Always(bool on);

  std::string Good(std::string_view text) const { return Painted("32", text); }
  std::string Bad(std::string_view text) const { return Painted("1;31", text); }
  std::string Warn(std::string_view text) const { return Painted("33", text); }
  std::string Quiet(std::string_view text) const { return Painted("2", text); }
  bool on() const { return on_; }

 private:
  struct Decided {
    bool on;
  };
  explicit Ink(Decided decided) : on_(decided.on) {}
  std::string Painted(std::string_view code, std::string_view text) const;

  bool on_;
};

// Whether to colour what is written to `descriptor`, by the rule above.
bool WantsColor(int descriptor, const char* no_color, const char* term);

}  // namespace ostraka::cli
