// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <utility>

#include "plugin/rank_group.h"

namespace paceline::cluster {

// A view of another store: its keys that begin with `prefix`. The other store outlives it.
class PrefixedStore : public plugin::Store {
 public:
  PrefixedStore(plugin::Store& all, std::string prefix) : all_(&all), prefix_(std::move(prefix)) {}
  void set(const std::string& key, const std::string& value) override { all_->set(prefix_ + key, value); }
  std::optional<std::string> get(const std::string& key) override { return all_->get(prefix_ + key); }
  std::optional<std::string> wait_for(const std::string& key, double timeout_s) override {
    return all_->wait_for(prefix_ + key, timeout_s);
  }
  std::string set_if_absent(const std::string& key, const std::string& value) override {
    return all_->set_if_absent(prefix_ + key, value);
  }
  [[nodiscard]] int port() const override { return all_->port(); }

 private:
  plugin::Store* all_;
  std::string prefix_;
};

}  // namespace paceline::cluster
