#include "node/os/system_refusal.h"

#include <gtest/gtest.h>

#include <boost/system/system_error.hpp>
#include <cerrno>
#include <future>
#include <new>
#include <stdexcept>
#include <system_error>

namespace ostraka::os::system_refusal_test {
namespace {

TEST(RefusalOf, IsTheErrorOfTheSystem) {
  EXPECT_EQ(RefusalOf(std::make_exception_ptr(std::bad_alloc())), ENOMEM);
  EXPECT_EQ(RefusalOf(std::make_exception_ptr(std::bad_array_new_length())), ENOMEM);
  EXPECT_EQ(RefusalOf(std::make_exception_ptr(std::system_error(EAGAIN, std::system_category()))),
            EAGAIN);
  EXPECT_EQ(RefusalOf(std::make_exception_ptr(
                std::system_error(std::make_error_code(std::errc::too_many_files_open)))),
            EMFILE);
  EXPECT_EQ(RefusalOf(std::make_exception_ptr(
                boost::system::system_error(EMFILE, boost::system::system_category(), "epoll"))),
            EMFILE);
}

TEST(RefusalOf, IsNoneForOurOwnBugs) {
  EXPECT_EQ(RefusalOf(nullptr), std::nullopt);
  EXPECT_EQ(RefusalOf(std::make_exception_ptr(std::out_of_range("at"))), std::nullopt);
  EXPECT_EQ(RefusalOf(std::make_exception_ptr(std::length_error("vector"))), std::nullopt);
  EXPECT_EQ(RefusalOf(std::make_exception_ptr(
                std::system_error(std::make_error_code(std::future_errc::no_state)))),
            std::nullopt);
  EXPECT_EQ(RefusalOf(std::make_exception_ptr(7)), std::nullopt);
}

}  // namespace
}  // namespace ostraka::os::system_refusal_test
