// SPDX-License-Identifier: MIT
#include "config/plan_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/foreign_text.h"
#include "base/text.h"
#include "config/key_remarks.h"
#include "config/kind_in_plan.h"
#include "config/value.h"

namespace paceline::config {
namespace {

using Kind = YamlNode::Kind;

constexpr std::size_t kMaxWorkloads = 1000;

std::string_view shape_name(Kind kind) {
  constexpr std::array<std::string_view, 4> kNames{"nothing", "a single value", "a list", "a map"};
  return kNames[static_cast<std::size_t>(kind)];
}

const YamlNode* member(const YamlNode& map, std::string_view key) {
  for (std::size_t i = 0; i < map.keys.size(); ++i)
    if (map.keys[i].kind == Kind::kScalar && map.keys[i].text == key) return &map.items[i];
  return nullptr;
}

// Flattens one map of a plan into settings.
class SettingReader {
 public:
  SettingReader(unsigned kinds, std::string where, std::vector<Diagnostic>& problems)
      : kinds_(kinds), where_(std::move(where)), problems_(problems) {}

  std::vector<RawSetting> read(const YamlNode& map) {
    read_map(map, "");
    report_same_option_twice();
    return std::move(settings_);
  }
  [[nodiscard]] std::vector<std::string> remarks() const { return remarks_; }
  void skip(const Overridden& overridden) { overridden_ = &overridden; }
  // Marks a key that the caller reads itself.
  void ignore(std::string_view key) { ignored_ = key; }

 private:
  void report(const Place& place, std::string message) {
    problems_.push_back(diagnostic(place, std::move(message)));
  }

  void read_map(const YamlNode& map, const std::string& prefix) {
    Seen seen;
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
      const YamlNode& key = map.keys[i];
      if (problems_.size() > kMostMistakes) return;
      if (problems_.size() == kMostMistakes)
        return report(key.place, "further mistakes are not shown: from here on nothing was read");
      if (key.kind != Kind::kScalar) {
        report(key.place, fmt::format("{} where a key belongs", shape_name(key.kind)));
        continue;
      }
      if (is_duplicate(seen, key) || (prefix.empty() && key.text == ignored_)) continue;
      read_entry(prefix + key.text, key, map.items[i]);
    }
  }

  // Lines of the keys seen so far in one map.
  using Seen = std::map<std::string_view, int>;

  bool is_duplicate(Seen& seen, const YamlNode& key) {
    const auto [first, is_new] = seen.try_emplace(key.text, key.place.line);
    if (!is_new)
      report(key.place,
             fmt::format("duplicate key '{}', first on line {}; keep one", key.text, first->second));
    return !is_new;
  }

  void read_entry(const std::string& path, const YamlNode& key, const YamlNode& value) {
    const Option* option = find_option(path, kinds_);
    const auto section = section_keys(path, kinds_);
    const KeyRemark* remark = find_key_remark(path, kinds_);
    const bool is_section = !section.empty() || has_key_remarks(path, kinds_);
    if (is_overridden(option ? option->name : remark ? remark->keys : "")) return;
    if (value.kind == Kind::kNull) {
      if (!option && !remark && !is_section && !is_shorthand(path, kinds_)) return report_unknown(path, key);
      const bool missing = value.text.empty();  // it is there, though wrong
      if (missing && option && !option->is_map() && option->form != OptionForm::kSingle)
        settings_.push_back(
            {.name = std::string(option->name), .written = path, .place = key.place, .values = {}});
      return check_null(path, key, value);
    }
    if (value.kind == Kind::kMap && is_section) return read_map(value, path + ".");
    if (remark) return read_remark(*remark, path, value);
    if (is_shorthand(path, kinds_)) return read_shorthand(path, key, value);
    if (option && option->is_map()) return read_names(*option, path, key, value);
    if (option) return read_values(*option, std::string(option->name), path, key, value, option->form);
    if (section.empty()) return report_unknown(path, key);
    report(value.place, fmt::format("{} where a section belongs: '{}' has {}", shape_name(value.kind), path,
                                    join(section, ", ")));
  }

  [[nodiscard]] bool is_overridden(std::string_view name) const {
    return overridden_ && !name.empty() && overridden_->contains(name);
  }

  // null is an option that is not set; a missing value is a mistake.
  void check_null(const std::string& path, const YamlNode& key, const YamlNode& value) {
    if (value.text.empty()) report(key.place, fmt::format("'{}' has no value", path));
  }

  void read_remark(const KeyRemark& row, const std::string& path, const YamlNode& value) {
    const auto words = remark_text(row, path, value.text);
    if (words.empty()) return;
    if (row.refused)
      report(value.place, words);
    else
      remarks_.push_back(diagnostic(value.place, words).text());
  }

  void report_unknown(const std::string& path, const YamlNode& key) {
    report(key.place, fmt::format("unknown key '{}' {}{}", path, where_, key_hint(path, kinds_)));
  }

  void read_shorthand(const std::string& path, const YamlNode& key, const YamlNode& value) {
    const Shorthand* row =
        value.kind == Kind::kScalar && !value.quoted ? find_shorthand(path, value.text) : nullptr;
    if (!row)
      return report(value.place, fmt::format("{} {}is neither true nor false", path,
                                             value.text.empty() ? "" : "'" + value.text + "' "));
    RawSetting setting;
    setting.name = row->option;
    setting.written = path;
    setting.place = key.place;
    setting.values.push_back({std::string(row->value), value.place, false});
    settings_.push_back(std::move(setting));
  }

  void read_names(const Option& option, const std::string& path, const YamlNode& key, const YamlNode& value) {
    if (value.kind != Kind::kMap)
      return report(value.place,
                    fmt::format("{} where a map belongs: {}: {{NAME: value}}", shape_name(value.kind), path));
    const auto form = option.form == OptionForm::kAxisMap ? OptionForm::kAxis : OptionForm::kSingle;
    Seen seen;
    for (std::size_t i = 0; i < value.keys.size(); ++i) {
      const YamlNode& name = value.keys[i];
      if (name.kind != Kind::kScalar || name.text.empty()) {
        report(name.place, fmt::format("{} where a name belongs", shape_name(name.kind)));
        continue;
      }
      const std::string full = fmt::format("{}.{}", option.name, name.text);
      if (!is_duplicate(seen, name)) read_values(option, full, full, name, value.items[i], form);
    }
    if (value.keys.empty()) report(key.place, fmt::format("'{}' is empty; leave it out", path));
  }

  void read_values(const Option& option, std::string name, const std::string& path, const YamlNode& key,
                   const YamlNode& value, OptionForm form) {
    RawSetting setting;
    setting.name = std::move(name);
    setting.written = path;
    setting.place = key.place;
    setting.is_list = value.kind == Kind::kList;
    if (value.kind == Kind::kNull) return check_null(path, key, value);
    if (value.kind == Kind::kMap || (value.kind == Kind::kList && form == OptionForm::kSingle)) {
      if (form != OptionForm::kSingle) settings_.push_back(std::move(setting));  // it is there, though wrong
      return report(value.place, fmt::format("{} where {} belongs, in '{}'", shape_name(value.kind),
                                             expected_text(option), path));
    }
    if (value.kind == Kind::kScalar) setting.values.push_back({value.text, value.place, value.quoted});
    for (const auto& item : value.items) {
      if (item.kind != Kind::kScalar) {
        report(item.place, fmt::format("{} where {} belongs, in the list '{}'", shape_name(item.kind),
                                       expected_text(option), path));
        continue;
      }
      setting.values.push_back({item.text, item.place, item.quoted});
    }
    if (value.items.empty() && value.kind == Kind::kList)
      report(value.place, fmt::format("'{}' is an empty list", path));
    settings_.push_back(std::move(setting));
  }

  void report_same_option_twice() {
    std::map<std::string_view, const RawSetting*> seen;
    for (const auto& setting : settings_) {
      const auto [first, is_new] = seen.try_emplace(setting.name, &setting);
      if (!is_new)
        report(setting.place,
               fmt::format("'{}' and '{}' (line {}) set the same option; keep one", setting.written,
                           first->second->written, first->second->place.line));
    }
  }

  unsigned kinds_;
  std::string where_;  // "in an inference workload"
  std::vector<Diagnostic>& problems_;
  std::string_view ignored_;
  const Overridden* overridden_ = nullptr;
  std::vector<RawSetting> settings_;
  std::vector<std::string> remarks_;
};

std::optional<WorkloadKind> named_kind(const YamlNode& value, std::vector<Diagnostic>& problems) {
  for (const auto& row : kWorkloadKinds)
    if (value.kind == Kind::kScalar && value.text == row.name) return row.kind;
  if (value.kind == Kind::kScalar) {
    const auto problem =
        convert(*find_option("kind", kAnyKind), {value.text, value.place, value.quoted}).problem;
    problems.push_back(diagnostic(value.place, problem));
  }
  return std::nullopt;  // other shapes are reported with the other keys
}

// The kind as `kind` says; else the one that the keys imply.
std::optional<WorkloadKind> kind_of(const YamlNode& map, std::vector<Diagnostic>& problems) {
  const YamlNode* kind = member(map, "kind");
  if (kind && kind->kind != Kind::kNull) return named_kind(*kind, problems);
  for (const auto& row : kWorkloadKinds)
    for (const auto key : in_plan(row.kind).implied_by)
      if (member(map, key)) return row.kind;
  std::string all;
  for (const auto& row : kWorkloadKinds)
    all += fmt::format("{}'kind: {}'",
                       all.empty()                      ? ""
                       : &row == &kWorkloadKinds.back() ? " or "
                                                        : ", ",
                       row.name);
  problems.push_back(diagnostic(map.place, "what kind of workload is this? add " + all));
  return std::nullopt;
}

std::string where_text(std::optional<WorkloadKind> kind) {
  if (!kind) return "in a workload";
  const auto name = traits_of(*kind).name;
  return fmt::format("in {} {} workload",
                     std::string_view("aeiou").find(name.front()) != std::string_view::npos ? "an" : "a",
                     name);
}

RawWorkload read_workload(const YamlNode& map, unsigned plan_bit, const Overridden& overridden,
                          std::vector<Diagnostic>& problems) {
  RawWorkload workload;
  workload.place = map.place;
  workload.kind = kind_of(map, problems);
  const unsigned kinds = workload.kind ? kind_bit(*workload.kind) : kAnyKind;
  SettingReader reader(kinds | plan_bit, where_text(workload.kind), problems);
  if (!workload.kind && member(map, "kind") && member(map, "kind")->kind == Kind::kScalar)
    reader.ignore("kind");
  reader.skip(overridden);
  workload.settings = reader.read(map);
  workload.remarks = reader.remarks();
  return workload;
}

RawPlan split_levels(RawWorkload workload) {
  RawPlan plan;
  auto& settings = workload.settings;
  plan.remarks = std::move(workload.remarks);
  const auto at_plan = [](const RawSetting& s) { return find_option(s.name, kPlanLevel) != nullptr; };
  std::copy_if(settings.begin(), settings.end(), std::back_inserter(plan.settings), at_plan);
  settings.erase(std::remove_if(settings.begin(), settings.end(), at_plan), settings.end());
  plan.workloads.push_back(std::move(workload));
  return plan;
}

}  // namespace

RawPlan read_plan(const YamlNode& root, std::vector<Diagnostic>& problems, const Overridden& overridden) {
  if (root.kind != Kind::kMap) {
    problems.push_back(diagnostic(
        root.place, fmt::format("a plan is a map of keys, and this is {}", shape_name(root.kind))));
    return {};
  }
  const YamlNode* list = member(root, "workloads");
  if (!list) return split_levels(read_workload(root, kPlanLevel, overridden, problems));
  RawPlan plan;
  SettingReader reader(kPlanLevel, "beside 'workloads'", problems);
  reader.ignore("workloads");
  reader.skip(overridden);
  plan.settings = reader.read(root);
  plan.remarks = reader.remarks();
  if (list->kind != Kind::kList || list->items.empty())
    problems.push_back(
        diagnostic(list->place, "'workloads' is a list with at least one workload: - kind: inference"));
  if (list->items.size() > kMaxWorkloads) {
    problems.push_back(diagnostic(list->place, fmt::format("'workloads' has {} entries, more than {}",
                                                           list->items.size(), kMaxWorkloads)));
    return plan;
  }
  for (const auto& item : list->items) {
    if (list->kind != Kind::kList) break;
    if (item.kind == Kind::kMap)
      plan.workloads.push_back(read_workload(item, 0, overridden, problems));
    else
      problems.push_back(diagnostic(
          item.place, fmt::format("{} where a workload (a map of keys) belongs", shape_name(item.kind))));
  }
  return plan;
}

}  // namespace paceline::config
