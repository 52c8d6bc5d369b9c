// ZIP archives with stored (uncompressed) members, as NumPy's .npz uses. Format: PKWARE APPNOTE
// 6.3, without ZIP64, encryption or dates (all are 1980-01-01, so that equal members make equal
// bytes).
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "node/base/bytes.h"

namespace ostraka::compare {

struct ZipFile {
  std::string name;
  base::Bytes bytes;
};

// REQUIRES: fewer than 65,535 files, 4 GiB in all; distinct names in ASCII.
base::Bytes ZipOf(const std::vector<ZipFile>& files);

}  // namespace ostraka::compare
