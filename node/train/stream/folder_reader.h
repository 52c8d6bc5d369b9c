// The files of a folder of this machine.
#pragma once

#include <memory>
#include <string>

#include "node/base/range_reader.h"

namespace ostraka::train {

// Opens each file when it is read.
std::unique_ptr<base::RangeReader> ReadFolder(const std::string& folder);

}  // namespace ostraka::train
