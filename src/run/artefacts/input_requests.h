// SPDX-License-Identifier: MIT
// Says which inputs a case asks for, and under which name cases share them.
#pragma once
#include <string>
#include <vector>

#include "config/plan.h"
#include "pass/pass.h"

namespace paceline::run {

// The inputs of the pass's model, in the shapes of files with `samples` samples (pass/input_layout.h).
std::vector<TensorSpec> stored_specs(const pass::PassSpec& pass, std::int64_t samples);

// How images are prepared, as the options image_* say.
pass::ImageFormat image_format(const config::Settings& s);

// The numbers that generated inputs consist of, one range per input of the pass's model: written ones, and
// where no arrays are given those that the file implies.
enum class Beside { kNothing, kArrays };
std::vector<pass::ValueRange> value_ranges(const config::Settings& s, const pass::PassSpec& pass,
                                           Beside beside);

// Inputs that the case's passes read.
pass::InputRequest input_request(const config::Case& c, const pass::PassSpec& pass);

// A name for inputs: equal for cases that share them.
std::string input_key(const config::Case& c, const pass::PassSpec& pass);
std::string request_key(const pass::InputRequest& request);

}  // namespace paceline::run
