// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <set>
#include <string>

// The files that a model consists of: the one that the user names, and those that are read beside it.
namespace paceline::run {

// Empty for no file. Weights of OpenVINO's .xml, external data of .onnx, parts that a list of weights names;
// a part need not be there.
std::set<std::string> model_parts(const std::string& file);

// Bytes of all of them that are there.
std::int64_t size_of_parts(const std::string& file);

// Why one of them cannot be read: it is there, and no regular file (a pipe would be waited for). Empty: none.
std::string unusable_part(const std::string& file);

}  // namespace paceline::run
