#include "node/cli/terminal/human.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace ostraka::cli {
namespace {

template <typename... Values>
std::string Print(const char* format, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

}  // namespace

std::string SpanText(double seconds) {
  if (!(seconds >= 0)) return "0 ms";  // also not a number
  if (seconds < 0.9995) return Print("%.0f ms", seconds * 1e3);
  if (seconds < 9.95) return Print("%.1f s", seconds);
  if (seconds < 119.5) return Print("%.0f s", seconds);
  constexpr double kLongest = 1e12;  // a count of minutes that fits
  const auto minutes = static_cast<long long>(std::min(seconds, kLongest) / 60);
  if (minutes < 120) return Print("%lld min", minutes);
  if (minutes < 48 * 60) return Print("%lld h %lld min", minutes / 60, minutes % 60);
  return Print("%lld d %lld h", minutes / 1440, minutes / 60 % 24);
}

std::string BytesText(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 999.5 && unit + 1 < kUnits.size()) {
    amount /= 1e3;
    ++unit;
  }
  return Print(unit == 0 || amount >= 99.5 ? "%.0f %s" : "%.1f %s", amount, kUnits.at(unit));
}

std::string CountText(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string PercentText(double share) { return Print("%.1f %%", share * 100); }

std::string FourDigits(double number) {
  if (!std::isfinite(number)) return "no number";
  return std::abs(number) < 1e5 ? Print("%.4f", number) : Print("%.1e", number);
}

}  // namespace ostraka::cli
