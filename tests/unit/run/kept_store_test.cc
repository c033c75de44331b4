// SPDX-License-Identifier: MIT
// Files that one run keeps for the next: whole or not at all, and never more than the limit.
#include "run/case/kept_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline::run {
namespace {

namespace fs = std::filesystem;

class Kept : public ::testing::Test {
 protected:
  // The stem of files with this content.
  fs::path made(const std::string& name, const std::string& content) {
    write_file_atomic(scratch_.path() / name, content);
    write_file_atomic(scratch_.path() / (name + ".1"), content + content);
    return scratch_.path() / name;
  }
  [[nodiscard]] fs::path folder() const { return scratch_.path() / "kept"; }
  [[nodiscard]] KeptStore::Taken take(const KeptStore& store, const std::string& key) const {
    return store.take(key, {scratch_.path() / "looked-at"});
  }
  [[nodiscard]] std::string taken(const KeptStore& store, const std::string& key) const {
    const auto target = scratch_.path() / "again";
    fs::remove(target);
    if (!store.take(key, {target}).about) return "";
    return read_file(target) + "|" + read_file(target.string() + ".1");
  }

  const ScratchFolder scratch_ = ScratchFolder::below_temp("paceline-kept-store");
};

TEST_F(Kept, FilesComeBackUnderOtherNames) {
  const KeptStore store(folder());
  store.keep("k", {{"what", 1}}, {made("a", "abc")});
  EXPECT_EQ(take(store, "k").about->at("what"), 1);
  EXPECT_EQ(taken(store, "k"), "abc|abcabc");
  EXPECT_FALSE(take(store, "other").about);
  EXPECT_EQ(take(store, "other").problem, "");
}

TEST_F(Kept, AnEntryMayBeRefusedForWhatIsSaidOfIt) {
  const KeptStore store(folder());
  store.keep("k", {{"what", 1}}, {made("a", "abc")});
  const auto target = scratch_.path() / "again";
  const auto refused = store.take("k", {target}, [](const auto& about) {
    return about.at("what") == 1 ? std::string("no") : std::string();
  });
  EXPECT_FALSE(refused.about);
  EXPECT_EQ(refused.problem, "no");
  EXPECT_FALSE(fs::exists(target));
}

TEST_F(Kept, AnEntryThatIsCutOrAlteredIsNotUsed) {
  const KeptStore store(folder());
  store.keep("k", {}, {made("a", "abc")});
  const auto whole = read_file(folder() / "k");
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    write_file_atomic(folder() / "k", whole.substr(0, bytes));
    EXPECT_FALSE(take(store, "k").about) << bytes;
    EXPECT_NE(take(store, "k").problem, "") << bytes;
    EXPECT_EQ(taken(store, "k"), "") << bytes;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto altered = whole;
    altered[at] = static_cast<char>(altered[at] ^ 1);
    write_file_atomic(folder() / "k", altered);
    EXPECT_FALSE(take(store, "k").about) << at;
    EXPECT_EQ(taken(store, "k"), "") << at;
  }
  store.keep("k", {}, {made("a", "abc")});
  EXPECT_EQ(taken(store, "k"), "abc|abcabc");
}

TEST_F(Kept, AnEntryUnderAnotherNameIsNotUsed) {
  const KeptStore store(folder());
  store.keep("k", {}, {made("a", "abc")});
  fs::copy_file(folder() / "k", folder() / "l");
  EXPECT_FALSE(take(store, "l").about);
  EXPECT_EQ(take(store, "l").problem, "it belongs to something else");
}

TEST_F(Kept, TheLeastRecentlyUsedMakeRoom) {
  const std::string content(1000, 'x');  // with the second file 3000 bytes
  const KeptStore store(folder(), 10'000);
  for (const auto* key : {"a", "b", "c"}) {
    store.keep(key, {}, {made("f", content)});
    const timespec old[2] = {{100 + *key, 0}, {100 + *key, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder() / key).c_str(), old, 0), 0);
  }
  EXPECT_NE(taken(store, "a"), "");  // used now
  store.keep("d", {}, {made("f", content)});
  EXPECT_FALSE(take(store, "b").about);
  for (const auto* key : {"a", "c", "d"}) EXPECT_TRUE(take(store, key).about) << key;
  store.keep("large", {}, {made("f", std::string(5000, 'x'))});
  EXPECT_FALSE(take(store, "large").about) << "more than half of the room";
}

TEST_F(Kept, AnUnfinishedEntryOfADeadProcessGoes) {
  const KeptStore store(folder());
  fs::create_directories(folder());
  const auto dead = folder() / "k.part1";
  write_file_atomic(dead, "x");
  store.keep("a", {}, {made("f", "x")});
  EXPECT_TRUE(fs::exists(dead)) << "it may be written now";
  const timespec old[2] = {{100, 0}, {100, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, dead.c_str(), old, 0), 0);
  store.keep("b", {}, {made("f", "x")});
  EXPECT_FALSE(fs::exists(dead));
}

TEST_F(Kept, AFolderThatCannotBeWrittenKeepsNothing) {
  for (const auto& folder : {fs::path(), fs::path("/proc/nowhere"), made("file", "x") / "below"}) {
    const KeptStore store(folder);
    store.keep("k", {}, {made("a", "abc")});
    EXPECT_FALSE(take(store, "k").about) << folder;
    EXPECT_EQ(take(store, "k").problem, "") << folder;
  }
}

TEST_F(Kept, ProcessesThatWriteAtOnceLeaveAWholeEntry) {
  const KeptStore store(folder());
  const auto stem = made("f", std::string(300'000, 'y'));
  std::vector<pid_t> writers;
  for (int i = 0; i < 4; ++i) {
    const auto pid = ::fork();
    if (pid == 0) {
      for (int n = 0; n < 10; ++n) store.keep("k", {}, {stem});
      ::_exit(0);
    }
    writers.push_back(pid);
  }
  int found = 0;
  for (int n = 0; n < 50; ++n) {
    const auto entry = take(store, "k");
    EXPECT_EQ(entry.problem, "");
    found += entry.about ? 1 : 0;
  }
  for (const auto pid : writers) {
    int status = -1;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(take(store, "k").about) << found;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace paceline::run
