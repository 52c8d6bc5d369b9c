#include "node/store/key_lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "crypto/sign.h"
#include "tests/unit/os/temp_folder.h"

namespace ostraka::store::key_lock_test {
namespace {

using ::testing::HasSubstr;

class KeyLockTest : public os::TempFolderTest {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(crypto::Initialize().ok()); }
  void SetUp() override {
    TempFolderTest::SetUp();
    crypto::FillRandom(run_.bytes);
    crypto::FillRandom(key_.bytes);
  }
  base::StatusOr<KeyLock> Claim() const { return KeyLock::Claim(run_, key_, {dir_}); }
  std::size_t Files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(dir_), {}));
  }
  // The result of `work` as user `uid`, in its own process.
  static int As(uid_t uid, const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) _exit(setuid(uid) == 0 ? work() : 99);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
  }

  base::Digest run_;
  base::PeerId key_;
};

TEST_F(KeyLockTest, OneHolderForEachKeyAndRun) {
  auto held = Claim();
  ASSERT_TRUE(held.ok()) << held.status();
  const auto second = Claim();
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(base::MessageOf(second.status()),
              HasSubstr("in use for this run by process " + std::to_string(getpid())));
  EXPECT_EQ(base::MessageOf(second.status()).find('\n'), std::string::npos);
  // Failed claims cost the holder nothing, however many there are.
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(Claim().ok());
}

TEST_F(KeyLockTest, OtherRunsAndKeysAreFree) {
  const auto held = Claim();
  ASSERT_TRUE(held.ok());
  base::Digest other_run = run_;
  other_run.bytes[0] ^= 1;
  base::PeerId other_key = key_;
  other_key.bytes[0] ^= 1;
  EXPECT_TRUE(KeyLock::Claim(other_run, key_, {dir_}).ok());
  EXPECT_TRUE(KeyLock::Claim(run_, other_key, {dir_}).ok());
}

TEST_F(KeyLockTest, IsFreeOnceItsHolderReleasesIt) {
  {
    auto held = Claim();
    ASSERT_TRUE(held.ok());
    const KeyLock moved = *std::move(held);
    EXPECT_FALSE(Claim().ok()) << "moving let go of it";
  }
  EXPECT_TRUE(Claim().ok());
}

TEST_F(KeyLockTest, IsFreeOnceItsHolderIsKilled) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto held = Claim();
    const char ok = held.ok() ? 1 : 0;
    if (write(ready[1], &ok, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char ok = 0;
  ASSERT_EQ(read(ready[0], &ok, 1), 1);
  EXPECT_EQ(ok, 1);
  EXPECT_THAT(base::MessageOf(Claim().status()), HasSubstr("process " + std::to_string(child)));
  ASSERT_EQ(kill(child, SIGKILL), 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(Claim().ok());
  close(ready[0]);
  close(ready[1]);
}

TEST_F(KeyLockTest, LeavesNoFileBehind) {
  {
    const auto held = Claim();
    ASSERT_TRUE(held.ok());
    EXPECT_EQ(Files(), 1U);
    EXPECT_FALSE(Claim().ok());
    EXPECT_EQ(Files(), 1U);
  }
  EXPECT_EQ(Files(), 0U);
}

// The key by another path: the lock in the home folder detects it. An unusable folder is skipped.
TEST_F(KeyLockTest, OneSharedFolderIsEnough) {
  const std::string home = dir_ + "/home";
  const std::string open = dir_ + "/open";
  std::filesystem::create_directories(home);
  std::filesystem::create_directories(open);
  ASSERT_EQ(chmod(open.c_str(), 0777), 0);
  const auto held = KeyLock::Claim(run_, key_, {dir_, home});
  ASSERT_TRUE(held.ok()) << held.status();
  EXPECT_FALSE(KeyLock::Claim(run_, key_, {open, home}).ok());
  EXPECT_FALSE(KeyLock::Claim(run_, key_, {dir_, dir_ + "/none"}).ok());
  const auto none = KeyLock::Claim(run_, key_, {open, dir_ + "/none"});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::MessageOf(none.status()), HasSubstr("set HOME"));
  EXPECT_EQ(base::MessageOf(none.status()).find('\n'), std::string::npos);
}

// Half of run and key is public, so another user knows the lock's name, which must be useless to
// that user.
TEST_F(KeyLockTest, AnotherUserCanNeitherTakeNorBlockIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  ASSERT_EQ(chmod(dir_.c_str(), 0755), 0);
  ASSERT_EQ(chown(dir_.c_str(), 65533, 65533), 0);
  const std::string name = "ostraka/" + run_.Hex().substr(0, 32) + "/" + key_.Hex().substr(0, 32);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const int squatter = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // The name of the lock of older versions.
  ASSERT_EQ(bind(squatter, reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())),
            0);
  const auto mine = [this] { return Claim().ok() ? 0 : 1; };
  const auto others = [this] { return Claim().ok() ? 1 : 0; };
  const auto open_it = [this] {
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
      if (open(entry.path().c_str(), O_RDONLY) >= 0) return 1;
    }
    return 0;
  };
  EXPECT_EQ(As(65533, mine), 0);
  EXPECT_EQ(As(65534, others), 0) << "another user locks in our folder";
  {
    const auto held = Claim();  // root's, on the same file
    ASSERT_TRUE(held.ok()) << held.status();
    EXPECT_EQ(As(65533, mine), 1);
    EXPECT_EQ(As(65534, open_it), 0) << "another user opens the lock";
  }
  EXPECT_EQ(As(65533, mine), 0);
  close(squatter);
}

}  // namespace
}  // namespace ostraka::store::key_lock_test
