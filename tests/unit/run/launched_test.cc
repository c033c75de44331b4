// SPDX-License-Identifier: MIT
// Two processes of a launch, one that leads and one that follows, on ranks that are played and a store in
// memory.
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <thread>

#include "base/ask_until.h"
#include "base/clock.h"
#include "base/error.h"
#include "cluster/peer_failure.h"
#include "run/follower.h"
#include "run/ranks/launch.h"
#include "run/schedule.h"
#include "support/fake_store.h"
#include "unit/run/coordinated.h"

namespace paceline::run {
namespace {

namespace fs = std::filesystem;
using pass::PassKind;
using process::WorkerRequest;
using testing::fails;
using testing::FakeExecutor;
using testing::Played;
using MaybePlayed = std::optional<Played>;
using Script = std::function<MaybePlayed(const WorkerRequest&)>;

constexpr int kRanksEach = 2;
constexpr Pauses kPauses{std::chrono::milliseconds(5), std::chrono::milliseconds(20)};

// Ranks of both processes wait for each other, as those of a group do.
class Meeting {
 public:
  void wait_for_the_other(std::size_t pass) {
    std::unique_lock lock(mutex_);
    ++here_[pass];
    changed_.notify_all();
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(15), [&] { return here_[pass] == 2; }))
        << "pass " << pass << " is one process's alone";
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, int> here_;
};

class Launched : public Coordinated {
 protected:
  // Two repetitions of a case for each of these batches and worlds.
  [[nodiscard]] std::string plan(const std::string& batches = "[8]", const std::string& lines = "",
                                 const std::string& worlds = "[4]") const {
    return "kind: training\nmodel: tiny_cnn\nthreads: 1\nrepetitions: 2\nidle_wait_s: 0\noutput_dir: " +
           (scratch_.path() / "out").string() + "\nbatch_sizes: " + batches + "\ngpu_counts: " + worlds +
           "\n" + lines;
  }

  // Ranks of one process: `script` comes first; then those of a pass of both have met, and it goes well.
  FakeExecutor ranks(Script script) {
    return FakeExecutor([this, script = std::move(script)](const WorkerRequest& r) {
      auto played = script ? script(r) : std::nullopt;
      if (meets_ && r.spec.world_size > kRanksEach) meeting_.wait_for_the_other(r.number);
      return played;
    });
  }

  std::unique_ptr<Launch> join(int rank, int attempt = 0) {
    cluster::LaunchPlace p;
    p.launcher = "test", p.identity = "launch-7", p.address = "127.0.0.1", p.port = 29500;
    p.rank = rank, p.ranks = kRanksEach, p.world = 2 * kRanksEach, p.local_world = 2 * kRanksEach;
    p.local_rank = rank, p.attempt = attempt;
    return std::make_unique<Launch>(p, store_, 20, "plan");
  }
  void meet(int attempt = 0) {
    auto other = std::async(std::launch::async, [&] { return join(kRanksEach, attempt); });
    leader_ = join(0, attempt);
    follower_ = other.get();
  }

  // Both walk through the plan; what the leader has written.
  result::RunResult play(const std::string& plan, Script leads = {}, Script follows = {}) {
    if (!leader_) meet();
    leading_ = ranks(std::move(leads)), following_ = ranks(std::move(follows));
    auto other = std::async(std::launch::async, [&] { return follow(plan); });
    leader_->name_run("the-run");
    auto setup = setup_of(plan, {}, leader_.get());
    setup.schedule = schedule_;
    const auto done = run(std::move(setup), leading_);
    leader_->finish();
    well_ = other.get();
    return done;
  }
  bool follow(const std::string& plan) {
    const auto setup = setup_of(plan, {}, follower_.get());
    const std::jthread nobody_waits_for_ever([this](const std::stop_token& over) {
      if (!ask_until(deadline_in(30), kPauses, [&] { return over.stop_requested(); }))
        follower_interrupt_ = true;
    });
    return follow_plan(setup, heard_, follower_interrupt_, following_);
  }
  // Why ranks of a process failed last; empty: none have.
  static std::string failure_of(const std::unique_ptr<Launch>& launch) {
    return launch->failure() ? launch->failure()->reason_code : std::string();
  }
  // Returns rank 0's sentence about a failed pass.
  std::string told(std::size_t pass) {
    cluster::PrefixedStore of_pass(store_, "pass_" + std::to_string(pass) + "/");
    return cluster::reported_failure(of_pass, 0);
  }

  test::FakeStore store_;
  Meeting meeting_;
  bool meets_ = true;
  std::unique_ptr<Launch> leader_, follower_;
  FakeExecutor leading_, following_;
  Notes heard_;  // by the follower
  std::atomic<bool> follower_interrupt_{false};
  bool well_ = false;
  Schedule* schedule_ = nullptr;  // of the leader; null: the usual order
};

TEST_F(Launched, BothStartTheirRanksOfEveryPassInOneOrder) {
  const auto done = play(plan("[8, 16]"));
  EXPECT_EQ(done.outcome, "ok");
  EXPECT_TRUE(well_);
  EXPECT_EQ(leading_.order(), following_.order());
  ASSERT_EQ(leading_.requests.size(), 4U);
  std::set<std::string> prefixes;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto &one = leading_.requests.at(i), &other = following_.requests.at(i);
    EXPECT_EQ(one.number, i);
    EXPECT_EQ(other.number, i);
    EXPECT_EQ(one.spec.ranks.rendezvous.prefix, other.spec.ranks.rendezvous.prefix);
    prefixes.insert(one.spec.ranks.rendezvous.prefix);
  }
  EXPECT_EQ(prefixes.size(), 4U);  // a pass meets nobody of another
}

class Listed : public Schedule {
 public:
  explicit Listed(std::vector<TimedSlot> slots) : slots_(std::move(slots)) {}
  std::optional<Proposal> next(const CaseRuns&) override {
    return next_ < slots_.size() ? std::optional(slots_[next_++]) : std::nullopt;
  }
  [[nodiscard]] std::size_t expected() const override { return slots_.size(); }

 private:
  std::vector<TimedSlot> slots_;
  std::size_t next_ = 0;
};

TEST_F(Launched, OthersFollowAScheduleThatTheLeaderAloneHas) {
  Listed listed({{1, 1}, {0, 0}, {1, 0}});
  schedule_ = &listed;
  const auto done = play(plan("[8, 16]"));
  EXPECT_TRUE(well_);
  const auto &first = done.cases[0].case_id, &second = done.cases[1].case_id;
  EXPECT_EQ(leading_.order(), (std::vector{second + " train 1", first + " train 0", second + " train 0"}));
  EXPECT_EQ(following_.order(), leading_.order());
  EXPECT_EQ(done.cases[0].repetitions.size(), 1U);
  EXPECT_TRUE(done.cases[0].complete);
}

TEST_F(Launched, EachStartsItsShareOfTheRanks) {
  play(plan());
  int first = 0;
  for (const auto* side : {&leading_, &following_}) {
    const auto& r = side->requests.at(0);
    EXPECT_EQ(r.spec.world_size, 4);
    EXPECT_EQ(r.share.first, first);
    EXPECT_EQ(r.share.count, 2);
    EXPECT_EQ(r.share.local_first, first);
    EXPECT_EQ(r.share.cpus_first, first);  // both may use every CPU of this machine
    EXPECT_EQ(r.share.cpus_ranks, 4);
    EXPECT_EQ(r.spec.ranks.launcher, "test");
    EXPECT_EQ(r.spec.ranks.rendezvous.port, 29500);
    EXPECT_FALSE(r.spec.ranks.rendezvous.serve);
    first += 2;
  }
  EXPECT_FALSE(leading_.requests.at(0).record_file.empty());
  EXPECT_TRUE(following_.requests.at(0).record_file.empty());
  EXPECT_EQ(following_.requests.at(0).log.parent_path().filename(), "the-run");
}

TEST_F(Launched, SmallerWorldsAreTheLeadersAloneAndLargerOnesNobodys) {
  const auto done = play(plan("[8]", "", "[2, 3, 8]"));
  EXPECT_TRUE(well_);
  EXPECT_EQ(leading_.requests.size(), 4U);
  ASSERT_EQ(following_.requests.size(), 2U);
  EXPECT_EQ(following_.requests.at(0).spec.world_size, 3);
  EXPECT_EQ(following_.requests.at(0).share.count, 1);
  EXPECT_EQ(std::get<result::Training>(done.cases[0].payload).ranks.size(), 2U);
  EXPECT_EQ(std::get<result::Training>(done.cases[1].payload).ranks.size(), 3U);
  EXPECT_EQ(done.cases[2].reason_code, "unavailable");
  EXPECT_EQ(done.cases[2].reason, "8 ranks are asked for, and test has started 4 ranks");
}

// The first pass of a plan of two cases fails in both processes.
Script fails_first(const std::string& code, const std::string& reason) {
  return [=](const WorkerRequest& r) -> MaybePlayed {
    if (r.number == 0) return fails(code, reason);
    return std::nullopt;
  };
}

TEST_F(Launched, ACaseThatFailedIsPassedOverByBoth) {
  const auto done =
      play(plan("[8, 16]"), fails_first("crash", "rank 0 died"), fails_first("peer", "rank 0 is gone"));
  const auto failed = leading_.requests.at(0).spec.case_id;
  EXPECT_EQ(case_named(done, failed).reason_code, "crash");
  EXPECT_EQ(leading_.order(), following_.order());
  EXPECT_EQ(leading_.requests.size(), 3U);  // nothing more of it; the other case has both its repetitions
  EXPECT_EQ(count_of(following_, failed), 1);
  EXPECT_EQ(told(0), "rank 0 died");
  EXPECT_FALSE(well_);
  EXPECT_EQ(failure_of(leader_), "crash");
  EXPECT_EQ(failure_of(follower_), "peer");
}

TEST_F(Launched, ARankOfTheFollowerThatFailsIsNamedToTheLeader) {
  const auto done = play(plan("[8, 16]"), fails_first("peer", "rank 3 is gone"),
                         fails_first("killed", "rank 3 on there: killed by SIGKILL"));
  EXPECT_EQ(case_named(done, leading_.requests.at(0).spec.case_id).reason_code, "peer");
  EXPECT_EQ(told(0), "rank 3 on there: killed by SIGKILL");
  cluster::PrefixedStore of_pass(store_, "pass_0/");  // where rank 0 may still call the roll
  EXPECT_THROW(cluster::roll_call(of_pass, cluster::this_process(0, 4, ""), 20), cluster::PeerFailure);
  EXPECT_EQ(told(1), "");
  EXPECT_EQ(heard_.warnings.size(), 1U);
  EXPECT_FALSE(well_);  // the follower's exit code is that of its rank
  EXPECT_EQ(failure_of(follower_), "killed");
}

// Its launcher restarts all processes.
TEST_F(Launched, NobodyRestartsRanksOfALaunch) {
  const auto saved = "max_restarts: 3\ncheckpoint: {dir: " + (scratch_.path() / "saved").string() + "}\n";
  const auto done = play(plan("[8]", saved), fails_first("crash", "gone"), fails_first("peer", "gone"));
  EXPECT_EQ(leading_.requests.size(), 1U);
  EXPECT_EQ(following_.requests.size(), 1U);
  EXPECT_FALSE(std::get<pass::TrainSpec>(leading_.requests.at(0).spec.task).checkpoint.resume);
  EXPECT_EQ(done.cases[0].outcome, result::Outcome::kFailed);
}

TEST_F(Launched, RanksThatTheLauncherRestartedGoOnFromTheCheckpointWithoutTheirFault) {
  meet(/*attempt=*/1);
  play(plan("[4]",
            "inject: kill:rank=1,step=3\ncheckpoint: {dir: " + (scratch_.path() / "saved").string() + "}\n"));
  for (const auto* side : {&leading_, &following_}) {
    const auto& train = std::get<pass::TrainSpec>(side->requests.at(0).spec.task);
    EXPECT_TRUE(train.checkpoint.resume);
    EXPECT_EQ(train.inject, "");
  }
}

TEST_F(Launched, RanksRestartedWithoutCheckpointsBeginAgain) {
  meet(/*attempt=*/1);
  play(plan());
  EXPECT_FALSE(std::get<pass::TrainSpec>(following_.requests.at(0).spec.task).checkpoint.resume);
}

TEST_F(Launched, AProfileIsAPassOfBothAfterTheTimedOnes) {
  const auto fail_profile = [](const WorkerRequest& r) -> MaybePlayed {
    if (r.spec.kind == PassKind::kTrainProfile) return fails("crash", "the profiler died");
    return std::nullopt;
  };
  const auto done = play(plan("[8]", "profiling: {enabled: true}\n"), fail_profile, fail_profile);
  EXPECT_EQ(leading_.order(), following_.order());
  EXPECT_EQ(following_.order().back(), done.cases[0].case_id + " train_profile 0");
  EXPECT_EQ(following_.requests.back().number, 2U);
  EXPECT_TRUE(done.cases[0].complete);
  EXPECT_TRUE(well_);  // it costs what it was for
  EXPECT_FALSE(leader_->failure());
}

TEST_F(Launched, AnInterruptOfAllEndsBothAndKeepsWhatIsFinished) {
  const auto interrupts = [](std::atomic<bool>& flag) -> Script {
    return [&flag](const WorkerRequest& r) -> MaybePlayed {
      if (r.number == 1) flag = true;
      return std::nullopt;
    };
  };
  Played working;
  working.until_asked = true;
  const auto done = play(plan("[8, 16]"), interrupts(interrupt_), [&](const WorkerRequest& r) -> MaybePlayed {
    if (r.number != 1) return std::nullopt;
    follower_interrupt_ = true;
    return working;
  });
  EXPECT_EQ(done.outcome, "interrupted");
  EXPECT_EQ(leading_.requests.size(), 2U);
  EXPECT_EQ(following_.requests.size(), 2U);
  EXPECT_TRUE(heard_.warnings.empty());
}

// A launcher signals all processes of a job, but not at one moment: ranks may hear of it before the leader.
TEST_F(Launched, RanksThatHeardOfAnInterruptFirstWereNotKilled) {
  meet();
  meets_ = false;
  std::thread late;
  leading_ = ranks([&](const WorkerRequest& r) -> MaybePlayed {
    auto played = testing::plays_steps(r.spec, 5);
    played.records.push_back(pass::interrupted_record(/*asked=*/false));
    played.verdict = process::Verdict{"killed", "a rank elsewhere was asked to end"};
    late = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      interrupt_ = true;
    });
    return played;
  });
  const auto done = run(setup_of(plan(), {}, leader_.get()), leading_);
  late.join();
  EXPECT_EQ(done.outcome, "interrupted");
  EXPECT_EQ(done.cases[0].reason_code, "interrupted");
  EXPECT_EQ(told(0), "");
}

// A follower on its own: the leader's words are put on the store by hand.
class Following : public Launched {
 protected:
  void SetUp() override {
    meet();
    meets_ = false;
  }
  // Announces the plan's first case.
  void announce(std::size_t number, std::int64_t repetition = 0) {
    store_.set("pass", text_of({number, setup_of(plan("[8, 16]")).cases.front().id, repetition}));
  }
  static MaybePlayed works(const WorkerRequest&) {
    Played played;
    played.until_asked = true;
    return played;
  }
};

TEST_F(Following, RanksEndWhenTheLeaderHasGoneOnWithoutThem) {
  following_ = ranks([&](const WorkerRequest& r) -> MaybePlayed {
    if (r.number == 0)
      announce(1);
    else
      store_.set("pass", "end");
    return r.number == 0 ? works(r) : std::nullopt;
  });
  announce(0);
  EXPECT_FALSE(follow(plan()));
  ASSERT_EQ(following_.requests.size(), 2U);  // it takes part in the next
  EXPECT_EQ(failure_of(follower_), "peer");
  EXPECT_NE(heard_.warnings.at(0).find(": rank 0 has ended this pass, or is gone"), std::string::npos);
  EXPECT_EQ(told(0), "");  // it did not fail by itself
}

TEST_F(Following, RanksEndWhenTheLeaderIsGone) {
  following_ = ranks([&](const WorkerRequest& r) {
    store_.break_now();
    return works(r);
  });
  announce(0);
  EXPECT_THROW(follow(plan()), Error);
  EXPECT_EQ(following_.requests.size(), 1U);
  EXPECT_EQ(failure_of(follower_), "peer");
}

TEST_F(Following, ALeaderThatIsGoneBeforeItsFirstPassIsNoEnd) {
  store_.break_now();
  EXPECT_THROW(follow(plan()), Error);
  EXPECT_TRUE(following_.requests.empty());
}

TEST_F(Following, PassesThatTheLeaderLeftOutAreLeftOut) {
  following_ = ranks([&](const WorkerRequest& r) -> MaybePlayed {
    if (r.number == 1)
      announce(3, 1);
    else
      store_.set("pass", "end");
    return std::nullopt;
  });
  announce(1);
  EXPECT_TRUE(follow(plan("[8, 16]")));
  ASSERT_EQ(following_.requests.size(), 2U);
  EXPECT_EQ(following_.requests.at(0).number, 1U);
  EXPECT_EQ(following_.requests.at(1).number, 3U);
  EXPECT_EQ(following_.requests.at(1).spec.repetition, 1);
}

TEST_F(Following, TheEndIsTheEndAndIsAnswered) {
  store_.set("pass", "end");
  EXPECT_TRUE(follow(plan()));
  EXPECT_TRUE(following_.requests.empty());
  EXPECT_EQ(store_.get("left/2"), "yes");
}

TEST_F(Following, AnInterruptEndsTheWaitForTheLeader) {
  following_ = ranks([&](const WorkerRequest&) -> MaybePlayed {
    store_.set("pass", "end");
    return std::nullopt;
  });
  announce(0);
  follower_interrupt_ = true;
  EXPECT_TRUE(follow(plan()));
  EXPECT_TRUE(following_.requests.empty());
}

TEST_F(Following, AnInterruptEndsItsRanksWhileTheLeaderWorksOn) {
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  following_ = ranks([&](const WorkerRequest& r) {
    follower_interrupt_ = true;
    return works(r);
  });
  announce(0);
  EXPECT_TRUE(follow(plan()));
  EXPECT_EQ(following_.requests.size(), 1U);
  EXPECT_TRUE(heard_.warnings.empty());
  EXPECT_LT(clock.now_ns() - begin, 15'000'000'000);  // it would have worked for 20 s
}

}  // namespace
}  // namespace paceline::run
