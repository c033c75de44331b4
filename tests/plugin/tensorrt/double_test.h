// SPDX-License-Identifier: MIT
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "plugin/builder.h"
#include "plugin/model_files/driver.h"

namespace paceline::tensorrt_test {

using model_files_test::error_of;
using testing::AllOf;
using testing::HasSubstr;

// Counters of the double, by functions that its libraries export. Its behaviour is given by the lines of a
// model (double/fake_model.h).
struct DoubleState {
  static int live_allocations();      // streams, events, graphs, memory of both kinds
  static int copies();                // between host and device, that were enqueued
  static int enqueued();              // inferences, also those of a recording
  static int profilers();             // execution contexts that have one
  static double host_ms();            // the virtual clock
  static void lose_waits(bool lost);  // whether the host does not wait for streams
  static std::string misuse();        // the first thing that a real driver would take without a word
  static void reset();                // a driver without errors; this thread has no context
};

// The plug-in with the double's libraries. Whatever a test does, at its end nothing may be left on the device
// and nothing may have been misused.
class Double : public testing::Test {
 protected:
  Double();
  void TearDown() override;
  std::string write(const std::string& name, const std::string& text);
  // Builds m.plan from the lines.
  plugin::BuildReport build(const std::string& lines, const plugin::BuildSettings& settings);
  plugin::BuildReport build(const std::string& lines) { return build(lines, settings()); }
  // Settings for a model with the input "x": [1,4] to [8,4].
  static plugin::BuildSettings settings();
  // Loads m.plan for x of this shape.
  std::unique_ptr<plugin::Engine> load(const Shape& shape, const model_files_test::Settings& settings = {});
  std::string read(const std::string& name);

  model_files_test::TemporaryFolder folder_;
  bool is_device_lost_ = false;  // by an error that a test planted: nothing can be freed any more
};

inline constexpr const char* kModel = "input x float -1 4\nlayer relu float\noutput y float\n";

std::string value_of(const std::vector<std::pair<std::string, std::string>>& settings,
                     const std::string& name);

}  // namespace paceline::tensorrt_test
