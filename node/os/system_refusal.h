// Exceptions by which libraries say that the operating system refused memory, a thread or a file.
//
// Thread safety: pure functions.
#pragma once

#include <exception>
#include <optional>

namespace ostraka::os {

// The errno of `error`: ENOMEM for std::bad_alloc, else that of a std::system_error or of Boost's.
// Nullopt for any other exception, and for none.
std::optional<int> RefusalOf(const std::exception_ptr& error);

}  // namespace ostraka::os
