// Numbers as people read them.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace ostraka::cli {

std::string SpanText(double seconds);        // "340 ms", "3.4 s", "65 s", "11 min", "3 h 20 min"
std::string BytesText(std::uint64_t bytes);  // "412 B", "1.2 MB": powers of 1000
std::string CountText(std::uint64_t count);  // "12,345"
std::string PercentText(double share);       // "12.5 %"
std::string FourDigits(double number);       // "0.1234", "1.3e+10"; "no number" if it is not finite

}  // namespace ostraka::cli
