// Numbers as graph files have them.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ostraka::exact {

// The shortest scientific notation that reads back as `value`: "2e-02", "1.25e-01".
std::string FloatText(float value);

// Null unless all of `text` is a finite number in scientific notation.
std::optional<float> ParseFloat(std::string_view text);

// Null unless all of `text` is an integer of 64 bits.
std::optional<std::int64_t> ParseInteger(std::string_view text);

}  // namespace ostraka::exact
