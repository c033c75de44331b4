// SPDX-License-Identifier: MIT
#include "host/checks/fleet.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/foreign_text.h"
#include "host/checks/differences.h"
#include "host/checks/fleet_answer.h"

namespace paceline::host {
namespace {

Machine one_of_fleet(double quota = 0, const std::string& library = "1", double bf16 = 700e12) {
  Machine machine{"0.1.0", "host", "2026-11-27T12:00:00Z", {}, {}};
  machine.facts = {{"CPU model", "AMD EPYC", {}}, {"library spin", library, {}}, {"CPU quota", {}, kNoLimit}};
  if (quota > 0) machine.facts[2] = {"CPU quota", quota, {}};
  machine.load = {{"cuda:0", "product bf16", "FLOP/s", bf16, 0.99 * bf16, 1.01 * bf16, 10}};
  return machine;
}

std::string all_of(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (const auto number : numbers) text += std::to_string(number) + " ";
  return text;
}

TEST(Fleet, OfEqualHostsSharesEverything) {
  const auto view = compare_fleet({one_of_fleet(), one_of_fleet(), one_of_fleet()});
  EXPECT_TRUE(view.differences.empty());
  ASSERT_EQ(view.alike.size(), 3U);
  EXPECT_EQ(view.alike[0], std::pair(std::string("CPU model"), std::string("AMD EPYC")));
  EXPECT_TRUE(compare_fleet({}).differences.empty());
  EXPECT_TRUE(compare_fleet({one_of_fleet()}).differences.empty());
}

TEST(Fleet, AnAnswerOfMoreFactsThanAMachineHasIsRefused) {
  auto machine = one_of_fleet();
  for (std::size_t i = 0; i < kMostFacts; ++i) machine.facts.push_back({"f" + std::to_string(i), 1, {}});
  const auto text =
      nlohmann::json{{"checks", nlohmann::json::array()}, {"machine", to_json(machine)}}.dump(1);
  try {
    (void)fleet_answer(text, "node0");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(
        e.what(),
        "the answer of node0 is no machine as validate --save writes it: it has more than 2000 facts");
  }
  EXPECT_FALSE(fleet_answer(std::string(1000, '[') + "\n{\n", "node0"));
  EXPECT_FALSE(fleet_answer("motd\n{\n\"machine\": " + std::string(10'000'000, '['), "node0"));
}

TEST(Fleet, ChecksAreAListOfLimitedLength) {
  const auto machine = to_json(one_of_fleet());
  const auto why = [&](const nlohmann::json& checks) {
    try {
      (void)fleet_answer(nlohmann::json{{"checks", checks}, {"machine", machine}}.dump(1), "node0");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const nlohmann::json one{{"name", "n"}, {"status", "FAIL"}, {"text", "t"}, {"fix", "f"}};
  EXPECT_EQ(why(nlohmann::json::array({one})), "");
  EXPECT_EQ(why(nullptr), "its checks are no list");
  EXPECT_EQ(why(nlohmann::json(kMostFacts + 1, one)), "it has more than 2000 checks");
  auto old = machine;
  old["format_version"] = -1;
  EXPECT_THROW((void)machine_from_json(old, "m.json"), Error);
}

TEST(Fleet, AVersionThatIsNewerIsNamedHoweverLargeItIs) {
  for (const std::uint64_t version : {std::uint64_t{2}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    auto saved = to_json(one_of_fleet());
    saved["format_version"] = version;
    EXPECT_THROW((void)machine_from_json(saved, "m.json"), Error) << version;
  }
}

TEST(Fleet, TheMinorityIsTheOutlier) {
  const auto view = compare_fleet({one_of_fleet(), one_of_fleet(0.5), one_of_fleet(), one_of_fleet(0, "2")});
  ASSERT_EQ(view.differences.size(), 2U);
  const auto &library = view.differences[0], &quota = view.differences[1];
  EXPECT_EQ(library.name, "library spin");
  EXPECT_EQ(all_of(library.outliers), "3 ");
  EXPECT_EQ(library.usual, "1");
  EXPECT_EQ(quota.name, "CPU quota");
  EXPECT_EQ(all_of(quota.outliers), "1 ");
  EXPECT_EQ(quota.values, (std::vector<std::string>{"no limit", "0.5 CPUs", "no limit", "no limit"}));
  EXPECT_EQ(quota.status, Verdict::kNo);
  EXPECT_FALSE(quota.fix.empty());
}

TEST(Fleet, FactsWithoutAMajorityHaveNoOutlier) {
  for (const auto& machines :
       {std::vector{one_of_fleet(), one_of_fleet(0.5)},
        std::vector{one_of_fleet(), one_of_fleet(0.5), one_of_fleet(), one_of_fleet(0.5)},
        std::vector{one_of_fleet(), one_of_fleet(0.5), one_of_fleet(0.25)}}) {
    const auto view = compare_fleet(machines);
    ASSERT_EQ(view.differences.size(), 1U);
    EXPECT_TRUE(view.differences[0].outliers.empty());
    EXPECT_EQ(view.differences[0].usual, "");
    EXPECT_EQ(view.differences[0].status, Verdict::kNo) << "whichever is right, one is not";
  }
}

TEST(Fleet, AMissingFactIsADifferenceUnlessItsVersionDoesNotKnowIt) {
  auto lacks = one_of_fleet();
  lacks.facts.erase(lacks.facts.begin(), lacks.facts.begin() + 2);  // the model and the library
  const auto view = compare_fleet({one_of_fleet(), one_of_fleet(), lacks});
  ASSERT_EQ(view.differences.size(), 1U);
  EXPECT_EQ(view.differences[0].values[2], "not there");
}

TEST(Fleet, ASlowHostIsTheOutlierOfThree) {
  const auto slow = [](double figure) { return one_of_fleet(0, "1", figure); };
  const auto view = compare_fleet({slow(700e12), slow(220e12), slow(690e12)});
  ASSERT_EQ(view.differences.size(), 1U);
  EXPECT_EQ(view.differences[0].name, "cuda:0: product bf16");
  EXPECT_EQ(all_of(view.differences[0].outliers), "1 ");
  EXPECT_TRUE(compare_fleet({slow(700e12), slow(670e12), slow(690e12)}).differences.empty());
  const auto two = compare_fleet({slow(700e12), slow(220e12)});
  ASSERT_EQ(two.differences.size(), 1U);
  EXPECT_TRUE(two.differences[0].outliers.empty());
  auto gone = slow(700e12);
  gone.load.clear();
  EXPECT_EQ(compare_fleet({slow(700e12), slow(690e12), gone}).differences[0].values[2], "not measured");
}

TEST(Fleet, FiguresWithoutAMajorityHaveNoOutlier) {
  const auto slow = [](double figure) { return one_of_fleet(0, "1", figure); };
  auto second = slow(700e12);
  second.load.push_back({"cuda:1", "product bf16", "FLOP/s", 700e12, 690e12, 710e12, 10});
  const auto halves = compare_fleet({slow(700e12), slow(220e12), slow(700e12), slow(220e12)});
  ASSERT_EQ(halves.differences.size(), 1U);
  EXPECT_TRUE(halves.differences[0].outliers.empty());
  EXPECT_EQ(halves.differences[0].usual, "");
  EXPECT_EQ(halves.differences[0].status, Verdict::kNo);
  const auto extra = compare_fleet({slow(700e12), second, slow(700e12)});
  ASSERT_EQ(extra.differences.size(), 1U);
  EXPECT_TRUE(extra.differences[0].outliers.empty());
  EXPECT_EQ(extra.differences[0].status, Verdict::kReservedly) << "nothing is slow";
  EXPECT_EQ(usual_machine({slow(700e12), second, slow(700e12)}).load.size(), 1U);
  EXPECT_TRUE(usual_machine({slow(700e12), slow(220e12)}).load.empty());
}

TEST(Fleet, CoreSetsThatNeighboursDisturbedDoNotFail) {
  const auto cores = [](double rate, bool disturbed) {
    auto machine = one_of_fleet();
    machine.load = {{"CPU 0", "copy", "B/s", rate, 0.99 * rate, 1.01 * rate, 10}};
    machine.load_disturbed = disturbed;
    return machine_from_json(to_json(machine), "host");
  };
  const auto status = [](const std::vector<Machine>& machines) {
    return compare_fleet(machines).differences.at(0).status;
  };
  EXPECT_EQ(status({cores(9e9, false), cores(2e9, true), cores(9e9, false)}), Verdict::kReservedly);
  EXPECT_EQ(status({cores(9e9, true), cores(2e9, false), cores(9e9, true)}), Verdict::kNo);
  EXPECT_EQ(status({cores(9e9, false), cores(2e9, true)}), Verdict::kReservedly);
  EXPECT_EQ(differences(cores(2e9, true), cores(9e9, false)).at(0).status, Verdict::kReservedly);
  EXPECT_EQ(differences(cores(2e9, false), cores(9e9, true)).at(0).status, Verdict::kNo);
  auto gpu = one_of_fleet(0, "1", 220e12);
  gpu.load_disturbed = true;
  EXPECT_EQ(status({one_of_fleet(), gpu, one_of_fleet()}), Verdict::kNo) << "of GPUs it says nothing";
}

TEST(Fleet, AHigherLimitThanMostHaveWarns) {
  const auto higher = compare_fleet({one_of_fleet(2), one_of_fleet(2), one_of_fleet(4)});
  ASSERT_EQ(higher.differences.size(), 1U);
  EXPECT_EQ(all_of(higher.differences[0].outliers), "2 ");
  EXPECT_EQ(higher.differences[0].status, Verdict::kReservedly);
  const auto both =
      compare_fleet({one_of_fleet(2), one_of_fleet(1), one_of_fleet(2), one_of_fleet(4), one_of_fleet(2)});
  EXPECT_EQ(both.differences[0].status, Verdict::kNo);
  EXPECT_EQ(both.differences[0].verdicts, (std::vector{Verdict::kNo, Verdict::kReservedly}));
}

TEST(Fleet, TheUsualMachineHasWhatMostHave) {
  const auto usual = usual_machine(
      {one_of_fleet(0.5, "1", 700e12), one_of_fleet(0, "2", 220e12), one_of_fleet(0, "1", 690e12)});
  EXPECT_TRUE(differences(one_of_fleet(0, "1", 690e12), usual).empty());
  EXPECT_EQ(differences(one_of_fleet(0.5, "2", 220e12), usual).size(), 3U);
  const auto undecided = usual_machine({one_of_fleet(0.5), one_of_fleet(0)});
  EXPECT_EQ(find_fact(undecided, "CPU quota"), nullptr);
}

}  // namespace
}  // namespace paceline::host
