// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <map>
#include <string>

namespace paceline::plugin_support {

// Numbers operators of one type in order: the second "aten::conv2d" is "conv2d_1".
class OperatorNames {
 public:
  std::string next(const std::string& type) {
    const auto colons = type.rfind("::");
    const auto word = colons == std::string::npos ? type : type.substr(colons + 2);
    return fmt::format("{}_{}", word, counts_[word]++);
  }

 private:
  std::map<std::string, int> counts_;
};

}  // namespace paceline::plugin_support
