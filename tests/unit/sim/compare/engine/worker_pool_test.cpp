#include "sim/compare/engine/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <set>

namespace ostraka::compare::worker_pool_test {
namespace {

using testing::HasSubstr;

struct Ran {
  base::Status status;
  std::map<std::size_t, TaskDone> tasks;
};

Ran RunAll(std::size_t count, std::size_t workers, std::function<std::string(std::size_t)> work) {
  Ran ran;
  PoolOptions options;
  options.workers = workers;
  options.work = std::move(work);
  options.done = [&ran](const TaskDone& done) {
    EXPECT_TRUE(ran.tasks.emplace(done.task, done).second) << done.task;
    return base::OkStatus();
  };
  ran.status = RunTasks(count, options);
  return ran;
}

TEST(WorkerPool, EveryTaskRunsOnceInAnotherProcess) {
  const pid_t own = getpid();
  const Ran ran = RunAll(20, 3, [](std::size_t task) {
    return std::to_string(task * task) + " " + std::to_string(getpid());
  });
  ASSERT_TRUE(ran.status.ok()) << ran.status.ToString();
  ASSERT_EQ(ran.tasks.size(), 20u);
  for (const auto& [task, done] : ran.tasks) {
    EXPECT_FALSE(done.died);
    EXPECT_EQ(done.text.substr(0, done.text.find(' ')), std::to_string(task * task));
    EXPECT_NE(done.text.substr(done.text.find(' ') + 1), std::to_string(own));
    EXPECT_GE(done.cost.seconds, 0);
    EXPECT_GT(done.cost.peak_memory_bytes, 0u);
  }
}

TEST(WorkerPool, ATaskIsPreparedInItsProcess) {
  std::size_t prepared = 0;
  std::map<std::size_t, std::string> answers;
  PoolOptions options;
  options.workers = 2;
  options.prepare = [&prepared](std::size_t task) { prepared = task + 100; };
  options.work = [&prepared](std::size_t) { return std::to_string(prepared); };
  options.done = [&answers](const TaskDone& done) {
    answers[done.task] = done.text;
    return base::OkStatus();
  };
  ASSERT_TRUE(RunTasks(3, options).ok());
  EXPECT_EQ(answers, (std::map<std::size_t, std::string>{{0, "100"}, {1, "101"}, {2, "102"}}));
  EXPECT_EQ(prepared, 0u) << "not in this process";
}

TEST(WorkerPool, LongAnswersAndSpacesArrive) {
  const Ran ran = RunAll(2, 1, [](std::size_t) { return std::string(1 << 20, 'x') + " y"; });
  ASSERT_EQ(ran.tasks.size(), 2u);
  EXPECT_EQ(ran.tasks.at(1).text.size(), (1u << 20) + 2);
}

// A task that crashes is reported as such, and a new process runs the others.
TEST(WorkerPool, ACrashEndsOneTask) {
  const Ran ran = RunAll(6, 2, [](std::size_t task) {
    if (task == 1) raise(SIGKILL);
    if (task == 4) _exit(3);
    return std::string("fine");
  });
  ASSERT_TRUE(ran.status.ok()) << ran.status.ToString();
  ASSERT_EQ(ran.tasks.size(), 6u);
  EXPECT_THAT(ran.tasks.at(1).text, HasSubstr("signal 9: out of memory?"));
  EXPECT_THAT(ran.tasks.at(4).text, HasSubstr("status 3"));
  for (const std::size_t task : {0, 2, 3, 5}) EXPECT_EQ(ran.tasks.at(task).text, "fine") << task;
}

TEST(WorkerPool, AnErrorOfTheCallerStopsAll) {
  PoolOptions options;
  options.work = [](std::size_t) { return std::string(); };
  std::size_t seen = 0;
  options.done = [&seen](const TaskDone&) {
    ++seen;
    return base::Unavailable("the disk is full");
  };
  EXPECT_EQ(base::MessageOf(RunTasks(5, options)), "the disk is full");
  EXPECT_EQ(seen, 1u);
}

TEST(WorkerPool, NoTasksIsOk) {
  EXPECT_TRUE(RunAll(0, 2, [](std::size_t) { return std::string(); }).status.ok());
  EXPECT_GE(CoreCount(), 1u);
}

}  // namespace
}  // namespace ostraka::compare::worker_pool_test
