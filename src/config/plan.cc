// SPDX-License-Identifier: MIT
#include "config/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/lower_case.h"
#include "base/text.h"
#include "config/key_remarks.h"
#include "config/kind_in_plan.h"
#include "config/notes.h"
#include "config/plan_reader.h"
#include "config/plan_text.h"
#include "config/settings_builder.h"
#include "config/yaml_tree.h"

namespace paceline::config {
namespace {

bool is_safe_name(std::string_view name) {
  const auto legal = [](char c) { return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; };
  return !name.empty() && name.size() <= 100 && name[0] != '.' && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), legal);
}

// Standard input and pipes of a shell have no name of their own.
bool is_nameless(const std::string& source) {
  return source == "standard input" || source == "/dev/stdin" || source.starts_with("/dev/fd/") ||
         source.starts_with("/proc/");
}

std::string name_from(const std::string& source) {
  if (is_nameless(source)) return "plan";
  std::string name = std::filesystem::path(source).stem().string();
  for (char& c : name)
    if (!is_safe_name(std::string("a") + c)) c = '_';
  name = name.substr(0, 100);
  return is_safe_name(name) ? name : "plan";
}

std::vector<RawSetting> chosen(std::span<const RawSetting> settings, unsigned kinds) {
  std::vector<RawSetting> out;
  std::copy_if(settings.begin(), settings.end(), std::back_inserter(out),
               [&](const RawSetting& s) { return row_of(s.name, kinds) != nullptr; });
  return out;
}

bool exclude_each_other(std::string_view one, std::string_view other, unsigned kinds) {
  const Option *a = row_of(one, kinds), *b = row_of(other, kinds);
  return a && b && (a->excludes == b->name || b->excludes == a->name);
}

bool opens_names(const Settings& plan_settings) {
  return !plan_settings.list("plugin").empty();
}

class Assembler {
 public:
  Assembler(const FlagSet& flags, const ExtraNames& extra)
      : flags_(flags), names_{&extra, false, flags.meant}, problems_(flags.problems) {}

  std::vector<Diagnostic>& problems() { return problems_; }

  Plan assemble(RawPlan raw, const std::string& source) {
    Plan plan;
    plan.source = source;
    plan.command_line = build(chosen(flags_.settings, kCommandLine), kCommandLine);
    plan.remarks = remarks_of(raw);
    raw.settings = with_flags(std::move(raw.settings), kPlanLevel);
    settle_notes(raw.settings, problems_);
    plan.settings = build(raw.settings, kPlanLevel);
    names_.open = opens_names(plan.settings);
    set_name(plan, raw);
    report_flags_without_workload(raw);
    for (auto& workload : raw.workloads)
      if (workload.kind) plan.workloads.push_back(assemble_workload(workload));
    plan.remarks.insert(plan.remarks.end(), remarks_.begin(), remarks_.end());
    return plan;
  }

 private:
  Settings build(std::span<const RawSetting> raw, unsigned kinds) {
    return build_settings(raw, kinds, names_, problems_);
  }

  std::vector<RawSetting> with_flags(std::vector<RawSetting> settings, unsigned kinds) const {
    for (const auto& flag : chosen(flags_.settings, kinds)) {
      const auto same = [&](const RawSetting& s) {
        return !s.on_command_line && (s.name == flag.name || exclude_each_other(s.name, flag.name, kinds));
      };
      settings.erase(std::remove_if(settings.begin(), settings.end(), same), settings.end());
      settings.push_back(flag);
    }
    return settings;
  }

  [[nodiscard]] std::vector<RawSetting> with_implied(std::vector<RawSetting> settings, unsigned kinds) const {
    for (const auto& implied : flags_.implied) {
      const bool written = std::any_of(settings.begin(), settings.end(),
                                       [&](const RawSetting& s) { return s.name == implied.name; });
      if (!written && row_of(implied.name, kinds)) settings.push_back(implied);
    }
    return settings;
  }

  [[nodiscard]] std::vector<std::string> remarks_of(const RawPlan& raw) const {
    auto remarks = raw.remarks;
    for (const auto& workload : raw.workloads)
      remarks.insert(remarks.end(), workload.remarks.begin(), workload.remarks.end());
    remarks.insert(remarks.end(), flags_.remarks.begin(), flags_.remarks.end());
    return remarks;
  }

  Workload assemble_workload(const RawWorkload& raw) {
    Workload workload;
    workload.kind = *raw.kind;
    const unsigned kinds = kind_bit(workload.kind);
    const auto& kind = in_plan(workload.kind);
    auto settings = with_implied(with_flags(raw.settings, kinds), kinds);
    kind.drop(settings);
    workload.settings = build(settings, kinds);
    imply_engines(workload.settings, settings, problems_);
    WorkloadDraft draft{workload.kind, workload.settings, settings, raw.place, names_, problems_, remarks_};
    kind.imply(draft);
    check_workload(draft);
    kind.settle(draft);
    workload.settings.set("kind", std::string(traits_of(workload.kind).name));
    return workload;
  }

  void set_name(Plan& plan, const RawPlan& raw) {
    if (!plan.settings.has("experiment_name")) plan.settings.set("experiment_name", name_from(plan.source));
    plan.experiment_name = plan.settings.text("experiment_name");
    if (is_safe_name(plan.experiment_name)) return;
    for (const auto& setting : raw.settings)
      if (setting.name == "experiment_name")
        problems_.push_back(diagnostic(
            setting.values.front().place,
            fmt::format("experiment_name '{}' names a folder: letters, digits, '_', '-' and '.' only",
                        plan.experiment_name)));
  }

  void report_flags_without_workload(const RawPlan& raw) {
    for (const auto& flag : flags_.settings) {
      if (row_of(flag.name, kPlanLevel | kCommandLine)) continue;
      const auto takes = [&](const RawWorkload& w) {
        return !w.kind || row_of(flag.name, kind_bit(*w.kind));
      };
      if (std::none_of(raw.workloads.begin(), raw.workloads.end(), takes) && !raw.workloads.empty())
        problems_.push_back(
            diagnostic(flag.place, fmt::format("no workload of this plan takes '{}' (it is for kind {})",
                                               flag.name, kinds_text(row_of(flag.name, kAnyKind)->kinds))));
    }
  }

  const FlagSet& flags_;
  NameSpace names_;
  std::vector<Diagnostic> problems_;
  std::vector<std::string> remarks_;  // of inputs
};

Overridden overridden_by(const FlagSet& flags) {
  Overridden names;
  for (const auto& setting : flags.settings) names.insert(setting.name);
  for (const auto& implied : flags.implied)
    if (is_remark_setting(implied)) names.insert(implied.name);
  return names;
}

// torchrun gives the world as two numbers. Text that is not a number is left to the options to refuse.
FlagSet with_world_size(FlagSet flags) {
  const auto find = [&](std::string_view name) {
    return std::find_if(flags.settings.begin(), flags.settings.end(),
                        [&](const RawSetting& s) { return s.name == name; });
  };
  const auto here = find("nproc_per_node"), nodes = find("nnodes");
  const bool resumes = find("resume") != flags.settings.end();  // the worlds are in the stored plan
  if (resumes || here == flags.settings.end() || find("gpu_counts") != flags.settings.end()) return flags;
  const auto ranks = parse_int(here->values.front().text);
  const auto hosts = nodes == flags.settings.end() ? 1 : parse_int(nodes->values.front().text);
  if (!ranks || !hosts) return flags;
  RawSetting world = *here;
  world.name = "gpu_counts";
  world.values = {{fmt::format("{}", *ranks * *hosts), here->place, false}};
  flags.settings.push_back(std::move(world));
  return flags;
}

Plan checked(Plan plan, const std::vector<Diagnostic>& problems, ErrorCode code) {
  if (!problems.empty()) throw ConfigErrors(problems, code);
  plan.settings.share();
  for (auto& workload : plan.workloads) workload.settings.share();
  return plan;
}

}  // namespace

bool same_plan(const Plan& a, const Plan& b) {
  return a.experiment_name == b.experiment_name && a.settings == b.settings && a.workloads == b.workloads;
}

Plan load_plan_text(std::string_view yaml, const std::string& source, const FlagSet& overrides,
                    const ExtraNames& extra) {
  const YamlNode root = parse_yaml(yaml, source);
  const FlagSet with_world = with_world_size(overrides);
  Assembler assembler(with_world, extra);
  RawPlan raw = read_plan(root, assembler.problems(), overridden_by(with_world));
  Plan plan = assembler.assemble(std::move(raw), source);
  return checked(std::move(plan), assembler.problems(), ErrorCode::kConfig);
}

Plan plan_from_flags(const FlagSet& flags, const ExtraNames& extra) {
  const auto& command = *find_command_row(flags.command);
  const auto kind = std::ranges::find(kWorkloadKinds, command.kinds, [](const KindTraits& row) {
                      return kind_bit(row.kind);
                    })->kind;
  RawPlan raw;
  raw.workloads.push_back({kind, {}, {}, {}});
  const FlagSet completed = with_world_size(in_plan(kind).complete_flags(flags));
  Assembler assembler(completed, extra);
  Plan plan = assembler.assemble(std::move(raw), std::string(command.name));
  plan.source = "command line";
  return checked(std::move(plan), assembler.problems(), ErrorCode::kUsage);
}

Settings command_settings(const FlagSet& flags) {
  // Mistakes in the rest of a command line with a plan are reported together with those of the plan.
  std::vector<Diagnostic> problems =
      (flags.command & kRunsCases) != 0 ? std::vector<Diagnostic>{} : flags.problems;
  const Settings settings = build_settings(chosen(flags.settings, kCommandLine), kCommandLine, {}, problems);
  if (!problems.empty()) throw ConfigErrors(problems, ErrorCode::kUsage);
  return settings;
}

Settings plan_level_settings(const FlagSet& flags) {
  std::vector<Diagnostic> problems;
  const Settings settings = build_settings(chosen(flags.settings, kPlanLevel), kPlanLevel, {}, problems);
  if (!problems.empty()) throw ConfigErrors(problems, ErrorCode::kUsage);
  return settings;
}

}  // namespace paceline::config
