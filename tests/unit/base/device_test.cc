// SPDX-License-Identifier: MIT
#include "base/device.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline {
namespace {

TEST(Device, HasOneNameEach) {
  for (const char* name : {"cpu", "cuda:0", "cuda:12"}) EXPECT_EQ(device_name(*parse_device(name)), name);
  EXPECT_EQ(device_name(*parse_device("cuda")), "cuda:0");
  EXPECT_EQ(parse_device("cuda:12"), (Device{DeviceKind::kCuda, 12}));
  EXPECT_EQ(parse_device("cpu"), Device{});
}

TEST(Device, OtherTextNamesNoDevice) {
  for (const char* text : {"", "gpu", "auto", "cpu:1", "cuda:", "cuda:x", "cuda:-1", "cuda:01", "cuda:1x",
                           "cuda:1234", "cuda 1", "cudax"}) {
    EXPECT_EQ(parse_device(text), std::nullopt) << text;
    EXPECT_FALSE(is_cpu(text) || is_cuda(text)) << text;
    try {
      device_named(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kConfig);
      EXPECT_NE(std::string(e.what()).find("device '" + std::string(text) + "'"), std::string::npos);
    }
  }
}

TEST(Device, IsOfOneKind) {
  EXPECT_TRUE(is_cpu("cpu") && !is_cuda("cpu"));
  EXPECT_TRUE(is_cuda("cuda") && is_cuda("cuda:3") && !is_cpu("cuda:3"));
  EXPECT_EQ(device_named("cuda:3").index, 3);
}

}  // namespace
}  // namespace paceline
