// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "plugin/engine.h"

namespace paceline::plugin_support {

// Keeps what an engine needs for each of its slots, from its bind on. A slot is there from its first
// successful bind on; a bind that throws leaves it unbound.
template <class State>
class Slots {
 public:
  void clear() { entries_.clear(); }

  // Lets `fill` take `given` inputs into the slot's state, which is new or that of the last bind. Throws
  // Error(kUsage) when their number is not that of the model's inputs.
  template <class Fill>
  void bind(plugin::Slot slot, std::size_t given, std::size_t wanted, Fill fill) {
    if (given != wanted)
      throw Error(ErrorCode::kUsage, fmt::format("the model takes {} inputs, {} given", wanted, given));
    const auto index = static_cast<std::size_t>(slot);
    if (entries_.size() <= index) entries_.resize(index + 1);
    if (!entries_[index]) entries_[index] = std::make_unique<Entry>();
    Entry& entry = *entries_[index];
    entry.bound = false;
    fill(entry.state);
    entry.bound = true;
  }

  // Throws Error(kInternal) for a slot without inputs.
  State& bound(plugin::Slot slot) {
    if (Entry* entry = bound_entry(slot)) return entry->state;
    throw Error(ErrorCode::kInternal, fmt::format("slot {} has no inputs: bind comes first", slot));
  }

  // Null for a slot without inputs.
  [[nodiscard]] const State* find(plugin::Slot slot) const {
    const Entry* entry = bound_entry(slot);
    return entry ? &entry->state : nullptr;
  }

 private:
  struct Entry {
    State state{};
    bool bound = false;
  };
  Entry* bound_entry(plugin::Slot slot) const {
    const auto index = static_cast<std::size_t>(slot);
    const bool there = index < entries_.size() && entries_[index] && entries_[index]->bound;
    return there ? entries_[index].get() : nullptr;
  }

  std::vector<std::unique_ptr<Entry>> entries_;  // pointers, so that a state keeps its address
};

}  // namespace paceline::plugin_support
