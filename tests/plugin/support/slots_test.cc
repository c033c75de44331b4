// SPDX-License-Identifier: MIT
#include "support/slots.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace paceline::plugin_support {
namespace {

template <class Call>
std::pair<std::optional<ErrorCode>, std::string> error_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return {e.code(), e.what()};
  }
  return {};
}

TEST(Slots, StatesAreApartAndStayWhereTheyAre) {
  Slots<std::string> slots;
  slots.bind(0, 1, 1, [](std::string& state) { state = "first"; });
  const std::string* first = &slots.bound(0);
  slots.bind(3, 1, 1, [](std::string& state) { state = "fourth"; });
  EXPECT_EQ(&slots.bound(0), first);
  EXPECT_EQ(slots.bound(0), "first");
  EXPECT_EQ(slots.bound(3), "fourth");
  slots.bind(0, 1, 1, [](std::string& state) { state += " again"; });
  EXPECT_EQ(slots.bound(0), "first again");
}

TEST(Slots, WithoutInputsTheyAreRefused) {
  Slots<int> slots;
  EXPECT_EQ(slots.find(0), nullptr);
  slots.bind(2, 1, 1, [](int&) {});
  for (const plugin::Slot slot : {0, 1, 3}) {
    const auto [code, text] = error_of([&] { slots.bound(slot); });
    EXPECT_EQ(code, ErrorCode::kInternal) << slot;
    EXPECT_EQ(text, "slot " + std::to_string(slot) + " has no inputs: bind comes first");
  }
  slots.clear();
  EXPECT_EQ(slots.find(2), nullptr);
}

TEST(Slots, ABindThatFailsLeavesTheSlotUnbound) {
  Slots<int> slots;
  slots.bind(0, 1, 1, [](int& state) { state = 5; });
  EXPECT_THROW(slots.bind(0, 1, 1, [](int&) { throw Error(ErrorCode::kData, "no"); }), Error);
  EXPECT_EQ(slots.find(0), nullptr);
}

TEST(Slots, AsManyInputsAsTheModelTakes) {
  Slots<int> slots;
  const auto [code, text] = error_of([&] { slots.bind(0, 1, 2, [](int&) { FAIL(); }); });
  EXPECT_EQ(code, ErrorCode::kUsage);
  EXPECT_EQ(text, "the model takes 2 inputs, 1 given");
}

}  // namespace
}  // namespace paceline::plugin_support
