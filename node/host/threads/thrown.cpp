#include "node/host/threads/thrown.h"

#include <algorithm>
#include <new>

namespace ostraka::host {

std::string DescribeThrown(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return "out of memory: use a smaller model or batch, or a computer with more memory";
  } catch (const std::exception& error) {
    std::string line = std::string("a library failed: ") + error.what();
    const auto is_control = [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; };
    std::replace_if(line.begin(), line.end(), is_control, ' ');
    return line;
  } catch (...) {
    return "a library threw something that is no exception";
  }
}

}  // namespace ostraka::host
