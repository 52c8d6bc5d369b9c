#include "node/os/stop_signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace ostraka::os::stop_signals_test {
namespace {

using ::testing::IsEmpty;

// In children, because the default handlers end the process.
TEST(StopSignalsTest, TheFirstSignalIsACallAndTheSecondEndsTheProcess) {
  const auto twice = [](int signal, const std::string& name) {
    boost::asio::io_context io;
    std::vector<std::string> calls;
    const StopSignals signals(io, [&](const std::string& said) {
      calls.push_back(said);
      return false;
    });
    ::raise(signal);
    io.run();
    if (calls != std::vector{name}) ::_exit(1);
    ::raise(signal);
  };
  EXPECT_EXIT(twice(SIGINT, "Ctrl-C"), ::testing::KilledBySignal(SIGINT), "");
  EXPECT_EXIT(twice(SIGTERM, "SIGTERM"), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(twice(SIGHUP, "SIGHUP"), ::testing::KilledBySignal(SIGHUP), "");
}

TEST(StopSignalsTest, AProgramThatGoesOnIsToldOfTheNextSignal) {
  const auto thrice = [] {
    boost::asio::io_context io;
    std::vector<std::string> calls;
    const StopSignals signals(io, [&](const std::string& said) {
      calls.push_back(said);
      if (calls.size() == 1) ::raise(SIGTERM);
      return calls.size() == 1;
    });
    ::raise(SIGINT);
    io.run();
    if (calls != std::vector<std::string>{"Ctrl-C", "SIGTERM"}) ::_exit(1);
    ::raise(SIGINT);
  };
  EXPECT_EXIT(thrice(), ::testing::KilledBySignal(SIGINT), "");
}

TEST(StopSignalsTest, AClosedPipeRefusesAndEndsNothing) {
  const auto write = [](bool ignored) {
    if (ignored) IgnoreClosedPipes();
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(9);
    ::close(ends[0]);
    ::_exit(::write(ends[1], "x", 1) == -1 && errno == EPIPE ? 0 : 1);
  };
  EXPECT_EXIT(write(false), ::testing::KilledBySignal(SIGPIPE), "");
  EXPECT_EXIT(write(true), ::testing::ExitedWithCode(0), "");
}

TEST(StopSignalsTest, UnderNohupAHangupStaysIgnored) {
  const auto hung_up = [] {
    ::signal(SIGHUP, SIG_IGN);
    boost::asio::io_context io;
    const StopSignals signals(io,
                              [](const std::string& said) -> bool { ::_exit(said == "SIGTERM"); });
    ::raise(SIGHUP);
    ::raise(SIGTERM);
    io.run();
    ::_exit(2);
  };
  EXPECT_EXIT(hung_up(), ::testing::ExitedWithCode(1), "");
}

TEST(StopSignalsTest, AfterItNoSignalIsHeld) {
  const auto after = [] {
    boost::asio::io_context io;
    {
      const StopSignals signals(io, [](const std::string&) -> bool { ::_exit(1); });
    }
    ::raise(SIGINT);
  };
  EXPECT_EXIT(after(), ::testing::KilledBySignal(SIGINT), "");
}

TEST(StopSignalsTest, NothingIsCalledAfterItIsGone) {
  boost::asio::io_context io;
  std::vector<std::string> calls;
  std::optional<StopSignals> signals;
  signals.emplace(io, [&](const std::string& said) {
    calls.push_back(said);
    return false;
  });
  boost::asio::post(io, [&] {
    ::raise(SIGTERM);
    // The call is in the queue of the io_context when this runs.
    boost::asio::post(io, [&] { boost::asio::post(io, [&] { signals.reset(); }); });
  });
  io.run();
  EXPECT_THAT(calls, IsEmpty());
}

}  // namespace
}  // namespace ostraka::os::stop_signals_test
