// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/lower_case.h"
#include "base/pretrained_model.h"
#include "base/text.h"
#include "config/case_rules.h"
#include "config/engine_of_model.h"
#include "config/kind_in_plan.h"
#include "config/plan.h"
#include "config/plan_reader.h"
#include "config/precision_table.h"
#include "config/value.h"
#include "config/vocabulary.h"

// Expands a plan to its cases: the product of the axes in the order of the option table, values in file
// order.
namespace paceline::config {
namespace {

constexpr std::size_t kMaxId = 150;  // length of a folder name that leaves room for a number

struct Axis {
  std::string name;  // singular; "env.NAME" for an environment variable
  std::vector<Value> values;
};

std::vector<Axis> axes_of(const Workload& workload) {
  std::vector<Axis> axes;
  for (const Option* option : options_of(kind_bit(workload.kind)))
    if (option->form == OptionForm::kAxis && workload.settings.has(option->name))
      axes.push_back({std::string(singular(*option)), workload.settings.list(option->name)});
  for (const auto& [name, values] : workload.settings.all())
    if (name.starts_with("env.")) axes.push_back({name, values});
  return axes;
}

std::size_t saturating_product(std::size_t a, std::size_t b) {
  constexpr std::size_t kLimit = std::size_t{1} << 40;
  return b != 0 && a > kLimit / b ? kLimit : a * b;
}

// Options that are not axes and therefore shared by all cases of the workload.
Settings common_settings(const Workload& workload) {
  Settings common;
  const unsigned kind = kind_bit(workload.kind);
  for (const auto& [name, values] : workload.settings.all()) {
    const Option* option = row_of(name, kind);
    if (option && !option->is_axis()) common.set_list(name, values);
  }
  common.share();
  return common;
}

std::string sanitised(std::string_view text) {
  std::string out(text.substr(0, 60));
  for (char& c : out)
    if (!is_letter_or_digit(c) && c != '_' && c != '-' && c != '.') c = '_';
  return out;
}

std::vector<const Option*> ordered_name_parts(unsigned kind) {
  auto parts = options_of(kind);
  std::erase_if(parts, [](const Option* option) { return option->name_part.place == 0; });
  std::sort(parts.begin(), parts.end(),
            [](const Option* a, const Option* b) { return a->name_part.place < b->name_part.place; });
  return parts;
}

// The options that names of cases show, in their order there.
const std::vector<const Option*>& name_parts_of(WorkloadKind kind) {
  static const auto kParts = [] {
    std::vector<std::vector<const Option*>> parts;
    for (const auto& row : kWorkloadKinds) parts.push_back(ordered_name_parts(kind_bit(row.kind)));
    return parts;
  }();
  return kParts.at(static_cast<std::size_t>(kind));
}

// The product of the axes of one workload.
class Expander {
 public:
  Expander(const Workload& workload, std::size_t index)
      : workload_(workload), index_(index), axes_(axes_of(workload)) {
    for (const Option* option : options_of(kind_bit(workload.kind)))
      if (!option->owner.option.empty() && !option->fallback.empty()) owned_.push_back(option);
  }

  void append_to(std::vector<Case>& cases) {
    const Settings common = common_settings(workload_);
    const std::size_t begin = cases.size();
    std::vector<std::size_t> at(axes_.size(), 0);
    do {
      if (std::optional<Case> item = make(common, at)) cases.push_back(std::move(*item));
    } while (advance(at));
    name(cases, begin);
  }

 private:
  bool advance(std::vector<std::size_t>& at) const {
    for (std::size_t i = axes_.size(); i-- > 0;) {
      if (++at[i] < axes_[i].values.size()) return true;
      at[i] = 0;
    }
    return false;
  }

  // None where a model without sequences would repeat itself along the sequence axis.
  std::optional<Case> make(const Settings& common, const std::vector<std::size_t>& at) const {
    Case item;
    item.kind = workload_.kind;
    item.workload = index_;
    item.settings = common;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const Value& value = axes_[i].values[at[i]];
      if (axes_[i].name == "sequence_length" && !has_sequences(item)) {
        if (at[i] > 0) return std::nullopt;
        continue;
      }
      if (axes_[i].name.starts_with("env."))
        item.env[axes_[i].name.substr(4)] = value_text(value);
      else
        item.settings.set(axes_[i].name, value);
    }
    if (item.settings.has("engine") && item.settings.text("engine") == kEngineOfModel)
      item.settings.set("engine", engine_of_model(item.settings.text("model")));
    for (const Option* option : owned_) set_owned_default(item.settings, *option);
    if (has_sequences(item) && !item.settings.has("sequence_length"))
      item.settings.set("sequence_length", find_model(item.settings.text("model"))->default_sequence_length);
    if (!in_plan(item.kind).complete(item, places_of(at))) return std::nullopt;
    return item;
  }

  [[nodiscard]] std::vector<AxisPlace> places_of(const std::vector<std::size_t>& at) const {
    std::vector<AxisPlace> places;
    places.reserve(axes_.size());
    for (std::size_t i = 0; i < axes_.size(); ++i) places.push_back({axes_[i].name, axes_[i].values, at[i]});
    return places;
  }

  static bool has_sequences(const Case& item) {
    if (!item.settings.has("model")) return false;
    const Model* model = find_model(item.settings.text("model"));
    return model && model->default_sequence_length > 0;
  }

  [[nodiscard]] bool shown(const Option& option, const Case& item) const {
    const auto key = singular(option);
    if (!item.settings.has(key)) return false;
    if (key == "kind") return !traits_of(item.kind).in_case_names.empty();
    if (key == "precision" && item.settings.text(key) == kPrecisionOfFile) return false;
    if (option.name_part.shown == Shown::kAlways) return true;
    if (option.name_part.shown == Shown::kNotDefault)
      return !is_default(option, item.settings.list(key)) &&
             value_text(item.settings.list(key).front()) != option.name_part.hidden;
    const auto axis = std::find_if(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.name == key; });
    return axis != axes_.end() && axis->values.size() > 1;
  }

  // Shows a file or folder by its last name.
  static std::string shown_model(const std::string& text) {
    const Model* model = find_model(text);
    if (model) return model->folder.empty() ? text : folder_name(model->folder);
    return find_file_type(text) ? text.substr(text.rfind('/') + 1) : text;
  }

  [[nodiscard]] std::vector<std::string> name_parts(const Case& item) const {
    std::vector<std::string> parts;
    for (const Option* option : name_parts_of(item.kind))
      if (shown(*option, item)) {
        const auto key = singular(*option);
        std::string text = key == "kind" ? std::string(traits_of(item.kind).in_case_names)
                                         : value_text(item.settings.list(key).front());
        if (key == "model") text = shown_model(text);
        parts.push_back(std::string(option->name_part.prefix) + text);
      }
    for (const auto& axis : axes_)
      if (axis.name.starts_with("env.") && axis.values.size() > 1)
        parts.push_back(axis.name.substr(4) + "=" + item.env.at(axis.name.substr(4)));
    return parts;
  }

  void name(std::vector<Case>& cases, std::size_t begin) const {
    for (std::size_t i = begin; i < cases.size(); ++i) {
      auto parts = name_parts(cases[i]);
      cases[i].label = join(parts, " ");
      for (auto& part : parts) part = sanitised(part);
      cases[i].id = join(parts, "-").substr(0, kMaxId);
    }
  }

  const Workload& workload_;
  std::size_t index_;
  std::vector<Axis> axes_;
  std::vector<const Option*> owned_;  // with defaults
};

using Facts = std::map<std::string, std::string>;  // name of an option, or "env.NAME", to its value

// The part of a case's name that an option is; null: none.
const NamePart* name_part_of(const std::string& name, WorkloadKind kind) {
  for (const Option* option : name_parts_of(kind))
    if (singular(*option) == name) return &option->name_part;
  return nullptr;
}

// Facts that may distinguish cases of the same name: their axes, or all other options.
Facts facts_of(const Case& item, bool axes) {
  Facts facts;
  for (const auto& [name, values] : item.settings.all())
    if ((name_part_of(name, item.kind) != nullptr) == axes && !name.starts_with("baseline."))
      facts[name] = join(item.settings.texts(name), ",");
  if (axes)
    for (const auto& [name, value] : item.env) facts["env." + name] = value;
  return facts;
}

// "t2", "X=a", "iterations=9"; an axis without its own prefix is in the name already, though cut short.
std::string difference(const std::string& name, const std::string& value, WorkloadKind kind) {
  const NamePart* part = name_part_of(name, kind);
  if (part && part->shown != Shown::kAlways) return std::string(part->prefix) + value;
  return (name.starts_with("env.") ? name.substr(4) : name) + "=" + value;
}

// Appends to the names of some cases the facts that they do not all share.
void name_differences(const std::vector<Case*>& same, bool axes) {
  std::vector<Facts> facts;
  std::map<std::pair<std::string, std::string>, std::size_t> holders;
  for (const Case* item : same)
    for (const auto& fact : facts.emplace_back(facts_of(*item, axes))) ++holders[fact];
  for (std::size_t i = 0; i < same.size(); ++i)
    for (const auto& fact : facts[i]) {
      if (holders[fact] == same.size()) continue;
      const std::string part = difference(fact.first, fact.second, same[i]->kind);
      same[i]->label += " " + part;
      same[i]->id = (same[i]->id + "-" + sanitised(part)).substr(0, kMaxId);
    }
}

// Cases of the same name (two workloads that differ in options that are not axes) are named by their
// differences: in axes, and where that is not enough in other options.
void make_names_distinct(std::vector<Case>& cases) {
  for (const bool axes : {true, false}) {
    std::map<std::string, std::vector<Case*>> by_label;
    for (auto& item : cases) by_label[item.label].push_back(&item);
    for (const auto& [label, same] : by_label)
      if (same.size() > 1) name_differences(same, axes);
  }
}

// Gives each name out once; later ones get the first free number: "name-2", "name (2)".
class UniqueNames {
 public:
  UniqueNames(std::string_view before, std::string_view after) : before_(before), after_(after) {}
  std::string make(const std::string& name) {
    std::string candidate = name;
    for (int& n = next_.try_emplace(name, 2).first->second; !taken_.insert(candidate).second; ++n)
      candidate = fmt::format("{}{}{}{}", name, before_, n, after_);
    return candidate;
  }

 private:
  std::string_view before_, after_;
  std::set<std::string> taken_;
  std::map<std::string, int> next_;
};

// Numbers names that are still equal (the same case twice, long paths with the same end) in plan order.
void make_unique(std::vector<Case>& cases) {
  UniqueNames ids("-", ""), labels(" (", ")");
  for (auto& item : cases) {
    item.id = ids.make(item.id);
    item.label = labels.make(item.label);
  }
}

}  // namespace

std::size_t count_cases(const Plan& plan) {
  std::size_t total = 0;
  for (const auto& workload : plan.workloads) {
    std::size_t product = 1;
    for (const auto& axis : axes_of(workload)) product = saturating_product(product, axis.values.size());
    total += product;
  }
  return total;
}

std::vector<Case> expand(const Plan& plan) {
  if (const std::size_t n = count_cases(plan); n > kMaxCases)
    throw Error(ErrorCode::kConfig,
                fmt::format("'{}' has {} cases, more than {}; shorten its lists", plan.source, n, kMaxCases));
  std::vector<Case> cases;
  for (std::size_t i = 0; i < plan.workloads.size(); ++i) Expander(plan.workloads[i], i).append_to(cases);
  make_names_distinct(cases);
  make_unique(cases);
  set_baselines(plan, cases);
  for (auto& item : cases) item.not_available = not_available_reason(item);
  return cases;
}

}  // namespace paceline::config
