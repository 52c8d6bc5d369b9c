// toml++ as configured for this layer. Only .cpp files that read TOML include it, because it shows
// a library.
#pragma once

// toml++ 3.3 asserts properties of a user's text that its next lines refuse properly ("[[[" is such
// a text). With NDEBUG the compiler may assume them, so NDEBUG is off here and the text is refused.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>
