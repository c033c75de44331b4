// SPDX-License-Identifier: MIT
#include "config/option_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/text.h"
#include "config/value.h"

namespace paceline::config {
namespace {

template <typename Visit>
void for_each_option(Visit visit) {
  for (const auto& group : option_groups())
    for (const auto& option : group.options) visit(option);
}

TEST(OptionTable, EveryDefaultIsValid) {
  for_each_option([](const Option& option) {
    if (option.fallback.empty()) return;
    for (const auto& text : option.form == OptionForm::kSingle ? std::vector{std::string(option.fallback)}
                                                               : split(option.fallback, ','))
      EXPECT_TRUE(convert(option, {text, {}, false}).value) << option.name << " " << text;
  });
}

TEST(OptionTable, EveryRowIsExplainedAndPlaced) {
  for_each_option([](const Option& option) {
    EXPECT_TRUE(option.help.ends_with('.')) << option.name;
    EXPECT_NE(option.kinds, 0U) << option.name;
    const bool chooses = option.type == OptionType::kChoice || option.type == OptionType::kChoiceOrFile;
    EXPECT_EQ(chooses, !option.choices.empty()) << option.name;
    EXPECT_LE(option.range.min, option.range.max) << option.name;
    // A flag of a command and a key of a plan at once: only where `export` does what a workload also does.
    const bool both = (option.kinds & kCommandLine) && option.in_plan();
    EXPECT_TRUE(!both || (option.commands & kExport)) << option.name;
  });
}

TEST(OptionTable, AKeyMeansOneOptionAKind) {
  for (unsigned kind = 1; kind <= kPlanLevel; kind <<= 1) {
    std::map<std::string, int> rows;
    for_each_option([&](const Option& option) {
      if ((option.kinds & kind) == 0) return;
      ++rows[std::string(option.name)];
      for (const auto& alias : alias_names(option)) ++rows[alias];
    });
    for (const auto& [name, count] : rows) EXPECT_EQ(count, 1) << name << " in kind " << kind;
  }
}

TEST(OptionTable, AFlagMeansOneOptionNameACommand) {
  for (unsigned command = 1; command < kAnyCommand; command <<= 1) {
    std::map<std::string, std::set<std::string>> rows;
    for_each_option([&](const Option& option) {
      if (!serves(option, command)) return;
      for (const auto& flag : flag_names(option, command)) rows[flag].insert(std::string(option.name));
    });
    for (const auto& [flag, names] : rows) EXPECT_EQ(names.size(), 1U) << flag << " of command " << command;
  }
}

TEST(OptionTable, FindsByKeyAliasAndKind) {
  EXPECT_EQ(find_option("batch", kInference)->name, "batch_sizes");
  EXPECT_EQ(find_option("world_sizes", kTraining)->name, "gpu_counts");
  EXPECT_EQ(find_option("training.precision", kTraining)->name, "precisions");
  EXPECT_EQ(find_option("training.precision", kInference), nullptr);
  EXPECT_EQ(find_option("precisions", kInference)->choices.size(), 8U);
  EXPECT_EQ(find_option("precisions", kTraining)->choices.size(), 4U);
  EXPECT_EQ(find_option("yes", kAnyKind | kPlanLevel), nullptr);
  EXPECT_EQ(singular(*find_option("batch_sizes", kInference)), "batch");
  EXPECT_EQ(singular(*find_option("threads", kInference)), "threads");
  EXPECT_EQ(singular(*find_option("stop.t_max_s", kInference)), "stop.t_max_s");
}

TEST(OptionTable, FindsFlagsWithEitherDash) {
  EXPECT_EQ(find_flag("--stop.t-max-s", kRun)->name, "stop.t_max_s");
  EXPECT_EQ(find_flag("--stop.t_max_s", kRun)->name, "stop.t_max_s");
  EXPECT_EQ(find_flag("--output_dir", kInfer)->name, "output_dir");
  EXPECT_EQ(find_flag("-o", kReport)->name, "output");
  EXPECT_EQ(find_flag("-c", kInfer), nullptr);
  EXPECT_EQ(find_flag("--batch", kReport), nullptr);
}

TEST(OptionTable, KindsHaveNamesAndBits) {
  EXPECT_EQ(traits_of(WorkloadKind::kCollective).name, "collective");
  EXPECT_EQ(kind_bit(WorkloadKind::kInference), kInference);
  EXPECT_EQ(kind_bit(WorkloadKind::kTraining), kTraining);
  EXPECT_EQ(kinds_text(kInference | kind_bit(WorkloadKind::kCollective)), "inference, collective");
}

TEST(OptionTable, FactsOfARowNameOptionsOfItsKinds) {
  for_each_option([](const Option& option) {
    std::vector<std::string> named{std::string(option.at_most), std::string(option.excludes)};
    for (const auto& need : option.needs)
      for (auto& name : split(need.option, ',')) named.push_back(std::move(name));
    if (!option.scenario.empty()) named.emplace_back("scenario");
    for (const auto& name : named)
      EXPECT_TRUE(name.empty() || find_option(name, option.kinds & kAnyKind)) << option.name << " " << name;
    EXPECT_TRUE(option.idle.front() == Idle::kNever || (option.kinds & (kInference | kTraining)))
        << option.name;
  });
}

TEST(OptionTable, APlaceInNamesIsOfOneOption) {
  std::map<int, std::set<std::string>> options;
  for_each_option([&](const Option& option) {
    if (option.name_part.place > 0) options[option.name_part.place].emplace(option.name);
  });
  for (const auto& [place, names] : options) EXPECT_EQ(names.size(), 1U) << place;
}

TEST(OptionTable, ShorthandsLeadToValidValues) {
  for (const auto& row : shorthands()) {
    bool valid = false;  // for one kind at least
    for (const unsigned kind : {kInference, kTraining}) {
      const Option* option = find_option(row.option, kind);
      valid |= option && convert(*option, {std::string(row.value), {}, false}).value;
    }
    EXPECT_TRUE(valid) << row.key;
  }
}

}  // namespace
}  // namespace paceline::config
