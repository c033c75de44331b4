// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/ask_until.h"
#include "base/error.h"
#include "plugin/rank_group.h"

namespace paceline::test {

// A store in memory, shared by threads that play ranks. After `break_now` nobody answers.
class FakeStore : public plugin::Store {
 public:
  void set(const std::string& key, const std::string& value) override {
    const std::lock_guard lock(mutex_);
    require();
    values_[key] = value;
  }
  std::optional<std::string> get(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    require();
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<std::string> wait_for(const std::string& key, double timeout_s) override {
    std::optional<std::string> value;
    ask_until(deadline_in(timeout_s), {std::chrono::milliseconds(1), std::chrono::milliseconds(5)}, [&] {
      value = get(key);
      return value.has_value();
    });
    return value;
  }
  std::string set_if_absent(const std::string& key, const std::string& value) override {
    const std::lock_guard lock(mutex_);
    require();
    return values_.try_emplace(key, value).first->second;
  }
  [[nodiscard]] int port() const override { return 1; }
  // A copy of everything that is there.
  [[nodiscard]] std::map<std::string, std::string> values() const {
    const std::lock_guard lock(mutex_);
    return values_;
  }
  void break_now() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
  }

 private:
  void require() const {
    if (broken_) throw Error(ErrorCode::kUnavailable, "the store does not answer");
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::string> values_;
  bool broken_ = false;
};

}  // namespace paceline::test
