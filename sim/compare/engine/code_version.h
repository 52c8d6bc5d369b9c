// The version of this code: "0.1.0+g3c4b83e1a2b3", with "-dirty." and a hash if files were changed
// after that commit; "0.1.0" if it was not built from a git repository.
#pragma once

#include <string>

namespace ostraka::compare {

std::string CodeVersion();

}  // namespace ostraka::compare
