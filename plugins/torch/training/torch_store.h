// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "plugin/rank_group.h"

namespace paceline::torch_plugin {

// c10d's TCPStore, the one that torchrun serves, with a prefix in front of every key.
class TorchStore : public plugin::Store {
 public:
  // Serves a store or connects to one, see Rendezvous.
  explicit TorchStore(const plugin::Rendezvous& where);
  void set(const std::string& key, const std::string& value) override;
  std::optional<std::string> get(const std::string& key) override;
  std::optional<std::string> wait_for(const std::string& key, double timeout_s) override;
  std::string set_if_absent(const std::string& key, const std::string& value) override;
  int port() const override;

  // Keys for one more group on this store: every rank joins its groups in the same order.
  c10::intrusive_ptr<c10d::Store> keys_of_next_group();

 private:
  template <typename Work>
  auto ask(Work&& work);

  std::string where_;
  c10::intrusive_ptr<c10d::TCPStore> server_;
  c10::intrusive_ptr<c10d::Store> keys_;
  int groups_ = 0;
};

}  // namespace paceline::torch_plugin
