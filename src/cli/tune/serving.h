// SPDX-License-Identifier: MIT
// Says how to serve the model of an arm with the same settings.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "config/plan.h"

namespace paceline::cli {

// Keeps the ONNX file that a run made for an arm, in the folder of the run: its engine reads it instead of
// the model. Nothing for an arm that reads the model itself. Whether it is kept shows in program_of_arm.
void keep_model_file(const std::filesystem::path& folder, const config::Case& arm,
                     const std::filesystem::path& made);

inline constexpr const char* kServingFile = "serve.py";

// A Python program that loads and runs the model as the arm does.
struct ServingProgram {
  std::vector<std::string> lines;  // empty: there is none
  std::string missing;             // why
};
ServingProgram program_of_arm(const std::filesystem::path& folder, const config::Case& arm);

}  // namespace paceline::cli
