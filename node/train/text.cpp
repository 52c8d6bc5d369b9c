#include "node/train/text.h"

#include <algorithm>
#include <array>
#include <string>

namespace ostraka::train {
namespace {

constexpr std::size_t kMinTextBytes = 1000;

// Maps bytes to symbols; sets `count` to the number of distinct bytes.
base::Bytes SymbolsOf(base::ByteView text, std::uint32_t& count) {
  std::array<bool, 256> occurs{};
  for (const std::uint8_t byte : text) occurs[byte] = true;
  std::array<std::uint8_t, 256> symbol_of{};
  count = 0;
  for (std::size_t byte = 0; byte < occurs.size(); ++byte) {
    if (occurs[byte]) symbol_of[byte] = static_cast<std::uint8_t>(count++);
  }
  base::Bytes symbols;
  symbols.reserve(text.size());
  for (const std::uint8_t byte : text) symbols.push_back(symbol_of[byte]);
  return symbols;
}

// At most `most` windows of a stretch, at equal distances.
Examples WindowsOf(std::span<const std::uint8_t> symbols, std::size_t most) {
  const std::size_t windows = symbols.size() - kTextWindow;
  const std::size_t count = std::min(windows, most);
  Examples examples{.value_count = kTextWindow, .values = {}, .labels = {}};
  examples.values.reserve(count * kTextWindow);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * windows / count;
    examples.Add(symbols.subspan(begin, kTextWindow), symbols[begin + kTextWindow]);
  }
  return examples;
}

}  // namespace

base::StatusOr<Dataset> TextDataset(base::ByteView text) {
  if (text.size() < kMinTextBytes) {
    return base::InvalidArgument("too short: " + std::to_string(text.size()) +
                                 " bytes, a text needs at least " + std::to_string(kMinTextBytes));
  }
  Dataset data{.name = "text",
               .shape = {1, 1, kTextWindow},
               .class_count = 0,
               .max_value = kSymbols,
               .training = {},
               .validation = {},
               .test = {}};
  const base::Bytes symbols = SymbolsOf(text, data.class_count);
  if (data.class_count < 2) return base::InvalidArgument("is one byte, over and over: no text");
  const std::span<const std::uint8_t> all = symbols;
  const std::size_t tenth = all.size() / 10;
  const std::size_t trained = all.size() - 2 * tenth;
  data.training = WindowsOf(all.first(trained), trained);
  data.validation = WindowsOf(all.subspan(trained, tenth), kMaxHeldOutWindows);
  data.test = WindowsOf(all.subspan(trained + tenth), kMaxHeldOutWindows);
  return data;
}

}  // namespace ostraka::train
