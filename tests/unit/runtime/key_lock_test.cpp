#include "node/runtime/key_lock.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <utility>

#include "crypto/sign.h"

namespace ostraka::runtime {
namespace {

using ::testing::HasSubstr;

// The lock is the machine's: random ids keep tests that run side by side apart.
class KeyLockTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(crypto::Initialize().ok()); }
  void SetUp() override {
    crypto::FillRandom(run_.bytes);
    crypto::FillRandom(key_.bytes);
  }
  base::Digest run_;
  base::PeerId key_;
};

TEST_F(KeyLockTest, OneHolderAKeyAndRun) {
  auto held = KeyLock::Claim(run_, key_);
  ASSERT_TRUE(held.ok()) << held.status();
  const auto second = KeyLock::Claim(run_, key_);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(base::MessageOf(second.status()),
              HasSubstr("in use for this run by process " + std::to_string(getpid())));
  EXPECT_EQ(base::MessageOf(second.status()).find('\n'), std::string::npos);
  // Asking who holds it costs the holder nothing, however often.
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(KeyLock::Claim(run_, key_).ok());
}

TEST_F(KeyLockTest, OtherRunsAndKeysAreFree) {
  const auto held = KeyLock::Claim(run_, key_);
  ASSERT_TRUE(held.ok());
  base::Digest other_run = run_;
  other_run.bytes[0] ^= 1;
  base::PeerId other_key = key_;
  other_key.bytes[0] ^= 1;
  EXPECT_TRUE(KeyLock::Claim(other_run, key_).ok());
  EXPECT_TRUE(KeyLock::Claim(run_, other_key).ok());
}

TEST_F(KeyLockTest, IsFreeOnceItsHolderLetsGo) {
  {
    auto held = KeyLock::Claim(run_, key_);
    ASSERT_TRUE(held.ok());
    const KeyLock moved = *std::move(held);
    EXPECT_FALSE(KeyLock::Claim(run_, key_).ok()) << "moving let go of it";
  }
  EXPECT_TRUE(KeyLock::Claim(run_, key_).ok());
}

TEST_F(KeyLockTest, IsFreeOnceItsHolderIsKilled) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto held = KeyLock::Claim(run_, key_);
    const char ok = held.ok() ? 1 : 0;
    if (write(ready[1], &ok, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char ok = 0;
  ASSERT_EQ(read(ready[0], &ok, 1), 1);
  EXPECT_EQ(ok, 1);
  EXPECT_THAT(base::MessageOf(KeyLock::Claim(run_, key_).status()),
              HasSubstr("process " + std::to_string(child)));
  ASSERT_EQ(kill(child, SIGKILL), 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(KeyLock::Claim(run_, key_).ok());
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace ostraka::runtime
