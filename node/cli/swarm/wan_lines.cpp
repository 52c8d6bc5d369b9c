#include "node/cli/swarm/wan_lines.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <utility>

#include "node/base/check.h"

namespace ostraka::cli {
namespace {

constexpr std::string_view kForm = "must be bits a second and a delay, as 20M:50ms";

// Nullopt unless `text` is a whole number and then one of the units, of which each is a factor.
std::optional<std::uint64_t> Scaled(
    std::string_view text,
    std::initializer_list<std::pair<std::string_view, std::uint64_t>> units) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > 1'000'000'000) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& [name, factor] : units) {
    if (unit == name) return number * factor;
  }
  return std::nullopt;
}

}  // namespace

base::StatusOr<WanLine> ParseWanLine(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return base::InvalidArgument(std::string(kForm));
  const auto rate = Scaled(text.substr(0, colon),
                           {{"", 1}, {"K", 1'000}, {"M", 1'000'000}, {"G", 1'000'000'000}});
  const auto delay = Scaled(text.substr(colon + 1), {{"ms", 1}, {"s", 1'000}});
  // Links are given up that take seconds for a handshake (node/net/link/link_options.h).
  if (!rate || !delay || *rate < 200'000 || *delay > 500) {
    return base::InvalidArgument(std::string(kForm) + ": 200K at least, and 500ms at most");
  }
  return WanLine{*rate, base::Milliseconds(static_cast<std::int64_t>(*delay))};
}

std::string WanLineText(const WanLine& line) {
  const bool mega = line.bits_per_second % 1'000'000 == 0;
  const std::uint64_t rate = line.bits_per_second / (mega ? 1'000'000 : 1'000);
  return std::to_string(rate) + (mega ? " Mbit/s, " : " kbit/s, ") +
         std::to_string(line.delay.ns / 1'000'000) + " ms";
}

WanLines::WanLines(const WanLine& line, std::size_t nodes) : line_(line), up_(nodes), down_(nodes) {
  OSTRAKA_CHECK(line.bits_per_second > 0);
}

base::Duration WanLines::TimeOf(std::size_t bytes) const {
  const double seconds =
      8.0 * static_cast<double>(bytes) / static_cast<double>(line_.bits_per_second);
  return {static_cast<std::int64_t>(seconds * 1e9)};
}

WanLines::Passage WanLines::Send(base::Time now, std::size_t from, std::size_t to,
                                 std::size_t bytes) {
  const base::Duration time = TimeOf(bytes);
  up_[from] = std::max(now, up_[from]) + time;
  down_[to] = std::max(up_[from] + line_.delay, down_[to] + time);
  return {up_[from], down_[to]};
}

}  // namespace ostraka::cli
