// The file of a recording (node/protocol/recording), and the folder that holds it.
//
//   <folder>/<run>-<peer>-<number>.recording, mode 0600:
//     "ostraka recording 2 begun\n" ("steps" for "begun" once a step was completed), then entries:
//     length (u32, little-endian), the first four bytes of the bytes' hash, bytes.
//
// Each start of a node begins a file: a machine's memory is in no store, so a replay can begin
// where a machine began and nowhere else. A file ends with the step in which it has reached its
// limits; its head and the store at the start do not count. Of one run and key the newest files are
// kept: `keep` in which a step was completed, since a node that has crashed is often started again
// before anybody looks, and `keep` of the others, which starts that fail make. Neither sort pushes
// out the other.
//
// Promises:
//   F1  A file holds whole entries, unless the disk failed or the power did: the head, and for each
//       call what was given and what was asked for.
//   F2  Nobody but the owner can read a file.
//
// Memory: one entry. What an attacker can do here: fill a file, which then ends.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/os/descriptor.h"
#include "node/wire/recording_codec.h"

namespace ostraka::store {

struct RecordingLimits {
  std::uint64_t bytes = std::uint64_t{64} << 20;
  std::uint64_t steps = 0;  // 0: no limit but that of bytes
  std::uint64_t keep = 2;   // files of each sort. REQUIRES: at least 1
};

class RecordingFile {
 public:
  // Nothing is written before Begin.
  RecordingFile(std::string folder, const RecordingLimits& limits)
      : folder_(std::move(folder)), limits_(limits) {}

  // Makes the folder if need be, writes the head, and removes old files. Unavailable: the folder or
  // the file cannot be made or written. InvalidArgument: the head is larger than an entry may be.
  // REQUIRES: called once, first.
  base::Status Begin(const base::Digest& run_id, const wire::RecordingHead& head);

  // False: the recording is over, and why is told by TakeNotice.
  bool Append(const wire::RecordedInput& turn);
  bool Append(const wire::RecordedOutcome& outcome, bool ends_step);
  // For people, once: why the recording is over.
  std::optional<std::string> TakeNotice();
  const std::string& path() const { return path_; }

 private:
  base::Status Write(const base::Bytes& bytes);
  bool GoesOn(const base::Status& written);
  base::Status MarkSteps();
  void RemoveOld();

  const std::string folder_;
  std::string beginning_;  // of the names of this run and key
  const RecordingLimits limits_;
  std::string path_;
  os::Descriptor file_{-1};
  std::uint64_t bytes_ = 0;
  std::uint64_t steps_ = 0;
  bool over_ = false;
  std::optional<std::string> notice_;
};

struct RecordingContent {
  wire::RecordingHead head;
  std::vector<wire::RecordedCall> calls;
  bool cut = false;  // the file ends within an entry, which is left out
};

// Unavailable: it cannot be read. InvalidArgument, with a reason and a remedy: it is no recording,
// is of another version of ostraka, or is damaged.
base::StatusOr<RecordingContent> ReadRecording(const std::string& path);

}  // namespace ostraka::store
