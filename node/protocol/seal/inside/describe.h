// The line for people: what a seal waits for, from whom and since when, and which ECHOs differ.
//
// Thread safety: pure function.
#pragma once

#include <string>

#include "node/base/time.h"
#include "node/protocol/seal/inside/view.h"

namespace ostraka::protocol {

std::string DescribeSeal(const SealView& seal, base::Time now);

}  // namespace ostraka::protocol
