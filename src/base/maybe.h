// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace paceline {

// A number that may not exist. In files a missing one is null with "<field>_reason" beside it, and never 0.
template <typename T>
class Maybe {
 public:
  Maybe() = default;
  Maybe(T value) : value_(std::move(value)), reason_() {
    drop_non_finite();
  }  // NOLINT(google-explicit-constructor): a value is a Maybe
  Maybe(std::optional<T> value, std::string reason) : value_(std::move(value)), reason_(std::move(reason)) {
    drop_non_finite();
    if (value_) reason_.clear();
  }
  static Maybe missing(std::string reason) { return Maybe(std::nullopt, std::move(reason)); }

  explicit operator bool() const { return value_.has_value(); }
  const T& operator*() const { return *value_; }
  [[nodiscard]] const std::optional<T>& value() const { return value_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  friend bool operator==(const Maybe&, const Maybe&) = default;

 private:
  void drop_non_finite() {
    if constexpr (std::is_floating_point_v<T>) {
      if (value_ && !std::isfinite(*value_)) {
        value_.reset();
        reason_ = "not_finite";
      }
    }
  }
  std::optional<T> value_;
  std::string reason_ = "not_measured";
};

using Number = Maybe<double>;
using Count = Maybe<std::int64_t>;

}  // namespace paceline
