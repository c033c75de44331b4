// SPDX-License-Identifier: MIT
#include "config/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/lower_case.h"
#include "base/text.h"
#include "config/plan_reader.h"
#include "config/plan_text.h"
#include "config/settings_builder.h"
#include "config/vocabulary.h"
#include "config/yaml_tree.h"

namespace paceline::config {
namespace {

constexpr std::string_view kDefaultTrainingModel = "resnet50";

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

bool opens_names(const Settings& plan_settings) {
  return !plan_settings.list("plugin").empty();
}

class Assembler {
 public:
  Assembler(const FlagSet& flags, const ExtraNames& extra)
      : flags_(flags), names_{&extra, false}, problems_(flags.problems) {}

  std::vector<Diagnostic>& problems() { return problems_; }

  Plan assemble(RawPlan raw, const std::string& source) {
    Plan plan;
    plan.source = source;
    plan.command_line = build(chosen(flags_.settings, kCommandLine), kCommandLine);
    plan.remarks = remarks_of(raw);
    raw.settings = with_flags(std::move(raw.settings), kPlanLevel);
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
      const auto same = [&](const RawSetting& s) { return s.name == flag.name && !s.on_command_line; };
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
    auto settings = with_implied(with_flags(raw.settings, kinds), kinds);
    drop_unmeasured(settings);
    workload.settings = build(settings, kinds);
    imply_engines(workload.settings, settings, problems_);
    if (workload.kind == WorkloadKind::kInference) imply_folders(workload.settings, settings, problems_);
    check_workload(workload.settings, settings, raw.place, kinds, problems_);
    complete(workload.settings, settings);
    if (workload.kind == WorkloadKind::kInference)
      settle_inputs(workload.settings, settings, raw.place, names_, problems_, remarks_);
    workload.settings.set("kind", std::string(traits_of(workload.kind).name));
    return workload;
  }

  // benchmark.measure_by chooses among the lengths of a plan; those of the command line stand.
  static void drop_unmeasured(std::vector<RawSetting>& settings) {
    const auto chosen = std::find_if(settings.begin(), settings.end(), [](const RawSetting& s) {
      return s.name == "benchmark.measure_by" && s.values.size() == 1;
    });
    if (chosen == settings.end()) return;
    const bool by_time = chosen->values.front().text == "time";
    if (!by_time && chosen->values.front().text != "steps") return;
    const std::string_view dropped = by_time ? "benchmark.measure_steps" : "benchmark.measure_seconds";
    std::erase_if(settings, [&](const RawSetting& s) { return s.name == dropped && !s.on_command_line; });
  }

  // Fills in defaults that follow from other options.
  static void complete(Settings& settings, std::span<const RawSetting> written) {
    const auto has = [&](std::string_view name) {
      return std::any_of(written.begin(), written.end(), [&](const RawSetting& s) { return s.name == name; });
    };
    if (!settings.has("warmup.mode")) return;
    if (has("warmup_iterations") && !has("warmup.mode")) settings.set("warmup.mode", std::string("fixed"));
    if (settings.text("warmup.mode") == "fixed" && !settings.has("warmup_iterations"))
      settings.set("warmup_iterations", std::int64_t{10});
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

// `train` without a model trains ResNet-50, as the scripts of older training suites do.
FlagSet with_training_model(FlagSet flags) {
  const auto named = [](const RawSetting& s) { return s.name == "models"; };
  if (std::any_of(flags.settings.begin(), flags.settings.end(), named)) return flags;
  RawSetting model;
  model.name = model.written = "models";
  model.values = {{std::string(kDefaultTrainingModel), {}, false}};
  model.on_command_line = true;
  flags.settings.push_back(std::move(model));
  return flags;
}

// What `infer` uses as long as nothing typed asks for more.
struct FirstLook {
  std::string_view name, value,
      of_many;  // `of_many`: of processes that are enough for an interval of their own
  std::span<const std::string_view> unless;
};
constexpr std::int64_t kManyProcesses = 6;

// Options about the length, and gates, which need what a plan measures.
constexpr std::array<std::string_view, 11> kLengths{"stop.t_max_s",
                                                    "stop.n_min",
                                                    "stop.n_max",
                                                    "iterations",
                                                    "stop.rel_halfwidth_p50",
                                                    "stop.rel_halfwidth_p90",
                                                    "stop.quantiles",
                                                    "stop.rel_halfwidth_p99",
                                                    "strict",
                                                    "expect",
                                                    "slo"};
// Claims, lower precisions, labels and own inputs need all available inputs.
constexpr std::array<std::string_view, 7> kEvidence{
    "accuracy.samples", "accuracy.max_top1_change", "precisions", "labels", "image_dir", "load_inputs",
    "repetitions"};
// On a busy machine times may never be steady.
constexpr std::array<std::string_view, 7> kWarmup{
    "warmup_iterations",     "warmup.mode",           "warmup.max_time_s", "warmup.min_time_s",
    "warmup.max_iterations", "warmup.min_iterations", "stop.t_max_s"};
constexpr std::array<FirstLook, 3> kFirstLook{{{"stop.t_max_s", "3", "1.5", kLengths},
                                               {"warmup.max_time_s", "5", "2", kWarmup},
                                               {"accuracy.samples", "16", "16", kEvidence}}};

bool names_one_of(const FlagSet& flags, std::span<const std::string_view> names) {
  return std::any_of(flags.settings.begin(), flags.settings.end(), [&](const RawSetting& s) {
    return std::find(names.begin(), names.end(), s.name) != names.end();
  });
}

// Whether a file has a lower precision is only known later.
bool takes_built_in_models(const FlagSet& flags) {
  return std::all_of(flags.settings.begin(), flags.settings.end(), [](const RawSetting& s) {
    return s.name != "models" || std::all_of(s.values.begin(), s.values.end(),
                                             [](const RawValue& v) { return find_model(v.text) != nullptr; });
  });
}

// The check after the timed loop needs inputs of a second batch.
bool batches_fit_twice(const FlagSet& flags, long long samples) {
  return std::all_of(flags.settings.begin(), flags.settings.end(), [&](const RawSetting& s) {
    return s.name != "batch_sizes" || std::all_of(s.values.begin(), s.values.end(), [&](const RawValue& v) {
             const auto batch = parse_int(v.text);
             return batch && 2 * *batch <= samples;
           });
  });
}

// The last value that was typed for an option; null when there is none.
const RawSetting* typed_setting(const FlagSet& flags, std::string_view name) {
  const auto found = std::find_if(flags.settings.rbegin(), flags.settings.rend(),
                                  [&](const RawSetting& s) { return s.name == name && !s.values.empty(); });
  return found == flags.settings.rend() ? nullptr : &*found;
}

// None where the option is not set, or the value of the row does not fit what was typed.
std::optional<std::string> first_look_value(const FirstLook& row, const FlagSet& typed) {
  if (row.name == "accuracy.samples") {
    const bool fits = takes_built_in_models(typed) && batches_fit_twice(typed, *parse_int(row.value));
    return fits ? std::optional(std::string(row.value)) : std::nullopt;
  }
  const auto* repetitions = typed_setting(typed, "repetitions");
  const bool many = repetitions && parse_int(repetitions->values.back().text).value_or(0) >= kManyProcesses;
  const std::string value(many ? row.of_many : row.value);
  if (row.name == "warmup.max_time_s") return value;
  const auto* setting = typed_setting(typed, "scenario");
  const auto scenario = setting ? parse_scenario(setting->values.front().text) : std::nullopt;
  if (scenario && traits_of(*scenario).open_loop) return std::nullopt;  // it has its own lengths
  // As in other tools, a duration means about that long.
  const auto* least = typed_setting(typed, "stop.t_min_s");
  const auto seconds = least ? parse_double(least->values.front().text) : std::nullopt;
  if (seconds && *seconds > *parse_double(value)) return least->values.front().text;
  return value;
}

// `infer` without options is a first look: it ends sooner than a case of a plan, and checks fewer inputs.
FlagSet with_first_look(const FlagSet& typed) {
  FlagSet flags = typed;
  for (const auto& row : kFirstLook) {
    if (names_one_of(typed, row.unless)) continue;
    const auto value = first_look_value(row, typed);
    if (!value) continue;
    RawSetting setting;
    setting.name = setting.written = row.name;
    setting.on_command_line = true;
    setting.values = {{*value, setting.place, false}};
    flags.settings.push_back(std::move(setting));
  }
  return flags;
}

Plan checked(Plan plan, const std::vector<Diagnostic>& problems, ErrorCode code) {
  if (!problems.empty()) throw ConfigErrors(problems, code);
  plan.settings.share();
  for (auto& workload : plan.workloads) workload.settings.share();
  return plan;
}

// The commands whose flags are a plan, and what they leave out that is added.
struct CommandKind {
  unsigned command;
  WorkloadKind kind;
  const char* name;
  FlagSet (*complete)(FlagSet flags);
};
constexpr std::array kCommandKinds{
    CommandKind{kInfer, WorkloadKind::kInference, "infer",
                [](FlagSet flags) { return with_first_look(flags); }},
    CommandKind{kTrain, WorkloadKind::kTraining, "train", with_training_model},
    CommandKind{kTrain | kProfile, WorkloadKind::kTraining, "profile", with_training_model},
    CommandKind{kComm, WorkloadKind::kCollective, "comm", [](FlagSet flags) { return flags; }}};

}  // namespace

bool same_plan(const Plan& a, const Plan& b) {
  return a.experiment_name == b.experiment_name && a.settings == b.settings && a.workloads == b.workloads;
}

Plan load_plan_text(std::string_view yaml, const std::string& source, const FlagSet& overrides,
                    const ExtraNames& extra) {
  const YamlNode root = parse_yaml(yaml, source);
  const FlagSet with_world = with_world_size(overrides);
  Assembler assembler(with_world, extra);
  RawPlan raw = read_plan(root, assembler.problems());
  Plan plan = assembler.assemble(std::move(raw), source);
  return checked(std::move(plan), assembler.problems(), ErrorCode::kConfig);
}

Plan plan_from_flags(const FlagSet& flags, const ExtraNames& extra) {
  const auto& row = *std::find_if(kCommandKinds.begin(), kCommandKinds.end(),
                                  [&](const auto& r) { return r.command == flags.command; });
  RawPlan raw;
  raw.workloads.push_back({row.kind, {}, {}, {}});
  const FlagSet completed = with_world_size(row.complete(flags));
  Assembler assembler(completed, extra);
  Plan plan = assembler.assemble(std::move(raw), row.name);
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

}  // namespace paceline::config
