// SPDX-License-Identifier: MIT
#include "config/settings.h"

#include <fmt/format.h>

#include "base/error.h"

namespace paceline::config {
namespace {

struct TextOf {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
};

template <typename T>
const T& as(const Value& value, std::string_view name) {
  if (const T* typed = std::get_if<T>(&value)) return *typed;
  throw Error(ErrorCode::kInternal,
              fmt::format("option '{}' has another type than the code that reads it expects", name));
}

}  // namespace

std::string value_text(const Value& value) {
  return std::visit(TextOf{}, value);
}

const std::vector<Value>* Settings::find(std::string_view name) const {
  if (const auto own = own_.find(name); own != own_.end()) return &own->second;
  if (!shared_) return nullptr;
  const auto shared = shared_->find(name);
  return shared == shared_->end() ? nullptr : &shared->second;
}

const Value& Settings::one(std::string_view name) const {
  const auto* values = find(name);
  if (!values || values->size() != 1)
    throw Error(ErrorCode::kInternal,
                fmt::format("option '{}' is {}", name, values ? "a list here" : "not set here"));
  return values->front();
}

const std::string& Settings::text(std::string_view name) const {
  return as<std::string>(one(name), name);
}
std::int64_t Settings::integer(std::string_view name) const {
  return as<std::int64_t>(one(name), name);
}
bool Settings::flag(std::string_view name) const {
  return as<bool>(one(name), name);
}

double Settings::number(std::string_view name) const {
  const Value& value = one(name);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return as<double>(value, name);
}

std::vector<Value> Settings::list(std::string_view name) const {
  const auto* values = find(name);
  return values ? *values : std::vector<Value>{};
}

std::vector<std::string> Settings::texts(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& value : list(name)) out.push_back(value_text(value));
  return out;
}

std::vector<double> Settings::numbers(std::string_view name) const {
  std::vector<double> out;
  for (const auto& value : list(name)) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    out.push_back(whole ? static_cast<double>(*whole) : as<double>(value, name));
  }
  return out;
}

Settings::Map Settings::all() const {
  Map merged = own_;
  if (shared_) merged.insert(shared_->begin(), shared_->end());
  return merged;
}

void Settings::set_list(std::string_view name, std::vector<Value> values) {
  own_.insert_or_assign(std::string(name), std::move(values));
}

void Settings::erase(std::string_view name) {
  if (shared_) {
    own_ = all();
    shared_.reset();
  }
  if (const auto own = own_.find(name); own != own_.end()) own_.erase(own);
}

void Settings::share() {
  shared_ = std::make_shared<const Map>(all());
  own_.clear();
}

Scenario scenario_of(const Settings& s) {
  const auto scenario = s.has("scenario") ? parse_scenario(s.text("scenario")) : std::nullopt;
  return scenario.value_or(Scenario::kSync);
}

}  // namespace paceline::config
