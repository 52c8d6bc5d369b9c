// A file of every frame that a node received, for audits of a run from outside.
//
// Each frame follows its length (u32, little-endian). The file grows over restarts. A killed
// process may leave a partial last frame; the next Open removes it, so readers find only whole
// frames.
//
// Thread safety: none; one owner.
#pragma once

#include <fstream>
#include <string>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::store {

class FrameLog {
 public:
  // Appends to an existing file. Unavailable: it cannot be read or written.
  static base::StatusOr<FrameLog> Open(const std::string& path);

  // When this returns OK, the operating system has the frame. Returns Unavailable once: neither
  // this frame nor any later one is in the log.
  base::Status Append(const base::Bytes& frame);

 private:
  FrameLog(std::string path, std::ofstream file);

  std::string path_;
  std::ofstream file_;
};

}  // namespace ostraka::store
