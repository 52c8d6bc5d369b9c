// When a node rests: while `ostraka pause` says so, by a file in the node's data folder, and
// outside the hours of `--hours`.
//
// A node that rests has left its run: it has no role, nobody waits for it, its seat is kept for
// some time, and coming back takes no use of an invite.
//
// Thread safety: none; one owner. Other processes may write the file at any time.
#pragma once

#include <ctime>
#include <optional>
#include <string>

#include "node/base/status.h"
#include "node/os/descriptor.h"

namespace ostraka::cli {

// Hours of each day, by this machine's clock: "22-7" is from ten in the evening to seven.
class Hours {
 public:
  // "22-7", "22:30-7:15". InvalidArgument: another form, or two equal times.
  static base::StatusOr<Hours> Parse(const std::string& text);

  // REQUIRES: 0 <= minute < 24 * 60, since midnight.
  bool Has(int minute) const {
    return first_ < end_ ? first_ <= minute && minute < end_ : first_ <= minute || minute < end_;
  }
  std::string Text() const;
  // Of each day.
  int minutes() const { return first_ < end_ ? end_ - first_ : 24 * 60 - first_ + end_; }

 private:
  Hours(int first, int end) : first_(first), end_(end) {}
  // Minutes since midnight, not equal; `end_` is no part.
  int first_;
  int end_;
};

// The file in a data folder that says that its node shall rest.
std::string PauseFileOf(const std::string& data_dir);
bool IsPaused(const std::string& data_dir);
// NotFound: no node has used the folder. Unavailable: it cannot be written.
base::Status Pause(const std::string& data_dir);
// False: it was not paused. NotFound: no node has used the folder. Unavailable: the file cannot be
// removed.
base::StatusOr<bool> Resume(const std::string& data_dir);

// A file that a resting node keeps locked (flock(2)), for other processes: a node that was killed
// leaves no lock.
class RestSign {
 public:
  explicit RestSign(const std::string& data_dir);
  ~RestSign();
  RestSign(const RestSign&) = delete;
  RestSign& operator=(const RestSign&) = delete;

  // A folder that does not exist yet gets no sign. FailedPrecondition: another node rests there.
  // Unavailable: the sign cannot be written.
  base::Status Show(const std::string& why);

 private:
  base::Status Open();

  const std::string data_dir_;
  os::Descriptor file_{-1};
};

// Why a node rests in the folder; nullopt: none does.
std::optional<std::string> WhyRestsIn(const std::string& data_dir);

class Pauses {
 public:
  Pauses(std::string data_dir, std::optional<Hours> hours)
      : data_dir_(std::move(data_dir)), hours_(hours) {}

  // Why the node rests now, and until when: one line. Nullopt: it does not.
  std::optional<std::string> WhyNow() const { return WhyAt(std::time(nullptr)); }
  std::optional<std::string> WhyAt(std::time_t now) const;

 private:
  const std::string data_dir_;
  const std::optional<Hours> hours_;
};

}  // namespace ostraka::cli
