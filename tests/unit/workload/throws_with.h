// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "base/error.h"

namespace paceline::test {

// `call` throws an Error of that code whose message holds all of these.
template <typename Call>
void expect_error(ErrorCode code, std::initializer_list<std::string> parts, Call&& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const auto& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in: " << error.what();
  }
}

}  // namespace paceline::test
