// Every frame that came, in a file: for those who audit a run from outside.
//
// The file is frames, each behind its length (u32, little-endian), and grows over restarts too. A
// kill may cut off the last one, which the next Open takes away: what is read later is frames.
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
  // Goes on where the file ends. Unavailable: it cannot be read or written.
  static base::StatusOr<FrameLog> Open(const std::string& path);

  // The frame is with the system when this returns. Unavailable, once: it is not, and neither it
  // nor any later one is in the log.
  base::Status Append(const base::Bytes& frame);

 private:
  FrameLog(std::string path, std::ofstream file);

  std::string path_;
  std::ofstream file_;
};

}  // namespace ostraka::store
