// What sysinfo.cc and cordz_functions.cc of Abseil hold. Debian's archives have these two compiled
// for programs alone: their thread-local variables may not stand in a shared object, such as the
// Python module of a wheel. All of their functions are here, so that the linker takes neither from
// the archive; with another Abseil it says which it lacks.
#include <absl/base/internal/sysinfo.h>
#include <absl/strings/internal/cordz_functions.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <limits>

namespace absl {
ABSL_NAMESPACE_BEGIN
namespace base_internal {

int NumCPUs() { return static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)); }

// Abseil's own answer where it does not know. Only its cycle clock asks, which nothing here uses.
double NominalCPUFrequency() { return 1.0; }

pid_t GetTID() { return static_cast<pid_t>(syscall(SYS_gettid)); }

pid_t GetCachedTID() {
  static thread_local const pid_t id = GetTID();
  return id;
}

}  // namespace base_internal

// Statistics of Abseil's ropes: never sampled, as nobody reads them.
namespace cord_internal {
namespace {
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
}  // namespace

ABSL_CONST_INIT thread_local int64_t cordz_next_sample = kNever;

bool cordz_should_profile_slow() {
  cordz_next_sample = kNever;
  return false;
}

void cordz_set_next_sample_for_testing(int64_t next_sample) { cordz_next_sample = next_sample; }
int32_t get_cordz_mean_interval() { return 0; }
void set_cordz_mean_interval(int32_t /*mean_interval*/) {}

}  // namespace cord_internal
ABSL_NAMESPACE_END
}  // namespace absl
