// SPDX-License-Identifier: MIT
// Tells what a model file is, by its name or else by its first bytes.
#pragma once
#include <filesystem>
#include <string>

#include "base/refusal.h"

namespace paceline {

// The ending, in lower case, by which a model file is known: that of its name, or where the name has none of
// a model, the one that its content has (".onnx", ".ort", ".xml", ".pt", ".pt2", ".plan"). Empty: neither
// tells.
std::string model_suffix(const std::string& file);

// Judges by the content alone.
std::string suffix_of_content(const std::filesystem::path& file);

// Why the path can be no model, in words that follow its name: what no_data_file says, or that it is empty.
// None: it may be one, also a file without content that only an engine of the user's knows.
Refusal no_model_file(const std::filesystem::path& file);

// Why the path has no model's weights, in such words: what no_regular_file says, or that it is the pointer
// that Git LFS leaves in the place of a file.
Refusal no_data_file(const std::filesystem::path& file);

// Where the weights of an OpenVINO network (.xml) are.
std::filesystem::path weights_of_network(const std::filesystem::path& file);

// Whether the file is a program that torch.export saved, which has no compiled code.
bool is_exported_program(const std::filesystem::path& file);

}  // namespace paceline
