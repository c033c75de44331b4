// SPDX-License-Identifier: MIT
// Cost of 8 bits layer by layer: the file that a quantise pass writes, and its table for people.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/maybe.h"

namespace paceline::pass {

struct OutputError {
  Number centred_cosine, max_rel_err;
};

struct LayerSensitivity {
  std::string name, op;
  OutputError error;  // with this layer alone in 8 bits
};

struct Sensitivity {
  std::string engine, method, data;
  std::int64_t samples = 0;
  double target = 0;                     // centred cosine the whole model should reach
  std::vector<LayerSensitivity> layers;  // the worst first
  OutputError all;                       // with every layer in 8 bits
  std::vector<std::string> exclude;      // the fewest of the worst, doubled until the target was reached
  OutputError after_exclusion;           // missing when there is nothing to exclude or nothing reaches it
};

std::string sensitivity_json(const Sensitivity& sensitivity);
// Renders it as a table for people, from the file's text.
std::string sensitivity_table(const std::string& json_text);

}  // namespace paceline::pass
