#include "node/base/version.h"

namespace ostraka::base {

std::string ProgramVersion() { return OSTRAKA_VERSION; }

}  // namespace ostraka::base
