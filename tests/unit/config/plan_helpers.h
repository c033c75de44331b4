// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/flags.h"
#include "config/plan.h"

namespace paceline::config {

inline FlagSet run_flags(std::vector<std::string> arguments) {
  return parse_flags(arguments, kRun);
}
inline FlagSet infer_flags(std::vector<std::string> arguments) {
  return parse_flags(arguments, kInfer);
}

inline Plan plan_of(std::string_view yaml, const FlagSet& flags = {}) {
  return load_plan_text(yaml, "p.yaml", flags);
}

// The mistakes of a plan, one text each; empty when it loads.
inline std::vector<std::string> mistakes_of(std::string_view yaml, const FlagSet& flags = {}) {
  std::vector<std::string> texts;
  try {
    plan_of(yaml, flags);
  } catch (const ConfigErrors& errors) {
    for (const auto& one : errors.diagnostics()) texts.push_back(one.text());
  }
  return texts;
}

// The only mistake of a plan.
inline std::string mistake_of(std::string_view yaml, const FlagSet& flags = {}) {
  const auto texts = mistakes_of(yaml, flags);
  EXPECT_EQ(texts.size(), 1U) << "in\n" << yaml;
  return texts.empty() ? "" : texts.front();
}

// A small inference plan with one more line.
inline std::string with_line(const std::string& line) {
  return "kind: inference\nmodels: [resnet50]\n" + line + "\n";
}

// An empty file that goes away with the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name, const std::string& content = "")
      : path_(std::filesystem::path(testing::TempDir()) / name) {
    std::ofstream(path_) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace paceline::config
