// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/scenario.h"

namespace paceline::config {

using Value = std::variant<bool, std::int64_t, double, std::string>;

std::string value_text(
    const Value& value);  // as written in a plan, without quotes: "8", "0.05", "true", "eager"

// Options by name with converted values; map options are flattened ("env.NAME", "baseline.engine"). The
// getters throw Error(kInternal) for a name that is not set or of another type: call has() for options
// without a default.
class Settings {
 public:
  using Map = std::map<std::string, std::vector<Value>, std::less<>>;

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  // All values of a list or an axis; empty when unset.
  [[nodiscard]] std::vector<Value> list(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  [[nodiscard]] std::vector<double> numbers(std::string_view name) const;
  // Everything, sorted by name.
  [[nodiscard]] Map all() const;

  void set(std::string_view name, Value value) { set_list(name, {std::move(value)}); }
  void set_list(std::string_view name, std::vector<Value> values);
  void erase(std::string_view name);
  // Moves the values into storage that copies share, so that ten thousand cases keep one set of defaults.
  void share();

  friend bool operator==(const Settings& a, const Settings& b) { return a.all() == b.all(); }

 private:
  [[nodiscard]] const std::vector<Value>* find(std::string_view name) const;
  [[nodiscard]] const Value& one(std::string_view name) const;

  std::shared_ptr<const Map> shared_;
  Map own_;  // takes precedence over shared_
};

// sync where nothing is set, as in kinds without scenarios.
Scenario scenario_of(const Settings& s);

}  // namespace paceline::config
