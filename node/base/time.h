// Time as plain integers. The protocol never reads a clock: its driver passes Time in.
//
// Thread safety: plain values.
#pragma once

#include <compare>
#include <cstdint>

namespace ostraka::base {

struct Duration {
  std::int64_t ns = 0;
  auto operator<=>(const Duration&) const = default;
  double seconds() const { return static_cast<double>(ns) * 1e-9; }
};

constexpr Duration Nanoseconds(std::int64_t n) { return {n}; }
constexpr Duration Microseconds(std::int64_t n) { return {n * 1'000}; }
constexpr Duration Milliseconds(std::int64_t n) { return {n * 1'000'000}; }
constexpr Duration Seconds(std::int64_t n) { return {n * 1'000'000'000}; }

constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
constexpr Duration operator*(Duration a, std::int64_t k) { return {a.ns * k}; }

// Nanoseconds since an origin that the driver chose; comparable only within one driver.
struct Time {
  std::int64_t ns = 0;
  auto operator<=>(const Time&) const = default;
};

constexpr Time operator+(Time t, Duration d) { return {t.ns + d.ns}; }
constexpr Duration operator-(Time a, Time b) { return {a.ns - b.ns}; }

}  // namespace ostraka::base
