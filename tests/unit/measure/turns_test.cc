// SPDX-License-Identifier: MIT
#include "measure/turns.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "base/ask_until.h"

// Turns of real processes, of which some are killed.
namespace paceline::measure {
namespace {

FileDescriptor duplicate(int fd) {
  return FileDescriptor(::dup(fd));
}

// A process that writes its letter into a pipe each time it has the turn, `rounds` times.
class Worker {
 public:
  Worker(const Turns& turns, int seat, int rounds, int pipe_fd) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    Turns mine(duplicate(turns.file()), seat);
    const auto write = [&](char letter) { (void)!::write(pipe_fd, &letter, 1); };
    mine.get_ready();
    mine.begin();
    for (int i = 0; i < rounds; ++i) {
      write(static_cast<char>('a' + seat));
      if (i + 1 < rounds) mine.hand_over();
    }
    mine.end();
    write(static_cast<char>('A' + seat));
    mine.leave();
    ::_exit(0);
  }
  [[nodiscard]] int pid() const { return pid_; }
  void wait() const {
    int status = 0;
    ASSERT_EQ(::waitpid(pid_, &status, 0), pid_);
  }

 private:
  int pid_ = -1;
};

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~Pipe() { ::close(ends[0]); }
  // Everything that was written, once nobody can write any more.
  std::string all() {
    ::close(ends[1]);
    std::string text;
    for (char letter = 0; ::read(ends[0], &letter, 1) == 1;) text += letter;
    return text;
  }
  int ends[2]{};
};

void wait_until_ready(const Turns& turns, int seat) {
  EXPECT_TRUE(ask_until(deadline_in(20), {std::chrono::milliseconds(1), std::chrono::milliseconds(1)},
                        [&] { return turns.ready(seat); }));
}

// Small letters: measuring; capitals: what comes after it, when none measures any more.
TEST(Turns, ProcessesWorkOneByOneAndFinishWhenNoneMeasures) {
  const Turns turns(3);
  Pipe pipe;
  std::vector<Worker> workers;
  for (int seat = 0; seat < 3; ++seat) {
    workers.emplace_back(turns, seat, seat == 1 ? 2 : 4, pipe.ends[1]);
    wait_until_ready(turns, seat);
  }
  for (const auto& worker : workers) worker.wait();
  EXPECT_EQ(pipe.all(), "abcabcacacCAB");
}

TEST(Turns, AProcessThatIsKilledLeavesTheOthersToWork) {
  Turns turns(2);
  Pipe pipe;
  const Worker first(turns, 0, 1'000'000'000, pipe.ends[1]);
  wait_until_ready(turns, 0);
  const Worker second(turns, 1, 3, pipe.ends[1]);
  for (int seen = 0; seen < 3;) {  // then the second has measured, and waits for the first
    char letter = 0;
    ASSERT_EQ(::read(pipe.ends[0], &letter, 1), 1);
    seen += letter == 'b';
  }
  ::kill(first.pid(), SIGKILL);
  first.wait();
  turns.leave(0);
  second.wait();
  EXPECT_TRUE(pipe.all().ends_with('B'));
}

TEST(Turns, AProcessThatNeverBecomesReadyIsNotWaitedFor) {
  Turns turns(2);
  Pipe pipe;
  const Worker first(turns, 0, 3, pipe.ends[1]);
  wait_until_ready(turns, 0);
  turns.leave(1);  // it failed to load
  first.wait();
  EXPECT_EQ(pipe.all(), "aaaA");
}

TEST(Turns, TheHolderOfTheTurnMayDie) {
  Turns turns(2);
  Pipe pipe;
  Turns held(duplicate(turns.file()), 0);  // takes the first turn, and never gives it back
  held.get_ready();
  EXPECT_EQ(turns.holder(), -1);  // the other one is not ready
  const Worker second(turns, 1, 2, pipe.ends[1]);
  wait_until_ready(turns, 1);
  held.begin();
  EXPECT_EQ(turns.holder(), 0);
  turns.leave(0);
  EXPECT_EQ(turns.holder(), 1);
  second.wait();
  EXPECT_EQ(pipe.all(), "bbB");
}

// Two processes whose second thread counts without a pause, as pools spin: in no turn of the other.
TEST(Turns, ThreadsOfAWaitingProcessDoNotRun) {
  const Turns turns(2);
  const auto file = shared_memory_file("counts", 2 * sizeof(std::atomic<std::int64_t>));
  const SharedMapping mapping(file.get(), 0, 2 * sizeof(std::atomic<std::int64_t>));
  auto* counts = static_cast<std::atomic<std::int64_t>*>(mapping.data());
  Pipe pipe;
  std::vector<int> pids;
  for (int seat = 0; seat < 2; ++seat) {
    pids.push_back(::fork());
    if (pids.back() != 0) {
      wait_until_ready(turns, seat);
      continue;
    }
    std::thread([&counts, seat] {
      for (;;) ++counts[seat];
    }).detach();
    Turns mine(duplicate(turns.file()), seat);
    mine.get_ready();
    mine.begin();
    for (int i = 0; i < 20; ++i) {
      const auto others = counts[1 - seat].load();
      const auto own = counts[seat].load();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      const char seen = counts[1 - seat] != others ? 'x' : counts[seat] == own ? '?' : '.';
      (void)!::write(pipe.ends[1], &seen, 1);
      mine.hand_over();
    }
    mine.leave();
    ::_exit(0);
  }
  for (const int pid : pids) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  }
  const auto seen = pipe.all();
  EXPECT_EQ(seen.size(), 40U);
  EXPECT_EQ(seen.find('x'), std::string::npos) << seen;
  EXPECT_NE(seen.find('.'), std::string::npos) << seen;
}

TEST(Turns, NamesTheOtherProcesses) {
  Turns turns(2);
  Turns one(duplicate(turns.file()), 0), other(duplicate(turns.file()), 1);
  one.get_ready();
  EXPECT_TRUE(one.other_processes().empty());
  EXPECT_TRUE(one.is_alone());
  other.get_ready();
  EXPECT_EQ(one.other_processes(), std::vector<int>{::getpid()});
  EXPECT_FALSE(one.is_alone());
}

}  // namespace
}  // namespace paceline::measure
