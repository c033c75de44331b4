// SPDX-License-Identifier: MIT
// Payload of a case and of each of its repetitions: figures that only cases of one kind have.
#pragma once
#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"
#include "result/stored/collective.h"
#include "result/stored/load.h"
#include "result/stored/training.h"

namespace paceline::result {

// Load: where scenario is not sync; the others: where that is the kind.
struct Payload : std::variant<std::monostate, Load, Training, CollectiveResult> {
  using variant::variant;

  // The payload of this type; null where there is none, or another.
  template <typename T>
  [[nodiscard]] const T* find() const {
    return std::get_if<T>(this);
  }
  template <typename T>
  [[nodiscard]] T* find() {
    return std::get_if<T>(this);
  }
  // Returns it to be filled in. Throws Error(kData) if there is another.
  template <typename T>
  T& fill() {
    if (index() == 0) emplace<T>();
    if (auto* there = find<T>()) return *there;
    throw Error(ErrorCode::kData, "figures of two kinds of workload in one case");
  }
  // Takes the value; without one there is no payload of this type afterwards.
  template <typename T>
  void set(std::optional<T> value) {
    if (value)
      *this = std::move(*value);
    else if (find<T>())
      *this = {};
  }
};

struct WithPayload {
  Payload payload;

  [[nodiscard]] const Load* load() const { return payload.find<Load>(); }
  [[nodiscard]] const Training* training() const { return payload.find<Training>(); }
  [[nodiscard]] const CollectiveResult* collective() const { return payload.find<CollectiveResult>(); }
  [[nodiscard]] Load* load() { return payload.find<Load>(); }
  [[nodiscard]] Training* training() { return payload.find<Training>(); }
  [[nodiscard]] CollectiveResult* collective() { return payload.find<CollectiveResult>(); }
};

}  // namespace paceline::result
