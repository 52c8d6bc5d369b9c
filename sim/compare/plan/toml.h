// toml++, as we use it. For .cpp files of this layer that read TOML only: it shows a library.
#pragma once

// toml++ 3.3 asserts of a user's text what its next lines then refuse as they should ("[[[" is such
// a text), and with NDEBUG it lets the compiler assume it. We want the refusal.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>
