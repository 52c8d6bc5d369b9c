#include "node/os/system_refusal.h"

#include <boost/system/system_error.hpp>
#include <cerrno>
#include <new>
#include <system_error>

namespace ostraka::os {
namespace {

template <typename Category, typename Code>
std::optional<int> NumberOf(const Code& code, const Category& system, const Category& generic) {
  if (code.category() != system && code.category() != generic) return std::nullopt;
  return code.value();
}

}  // namespace

std::optional<int> RefusalOf(const std::exception_ptr& error) {
  if (error == nullptr) return std::nullopt;
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::system_error& refused) {
    return NumberOf(refused.code(), std::system_category(), std::generic_category());
  } catch (const boost::system::system_error& refused) {
    return NumberOf(refused.code(), boost::system::system_category(),
                    boost::system::generic_category());
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace ostraka::os
