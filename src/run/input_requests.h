// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "config/plan.h"
#include "workload/inference/inputs.h"
#include "workload/pass.h"

namespace paceline::run {

// The inputs of the pass's model as files hold so many samples of them (workload/inference/input_layout.h).
std::vector<TensorSpec> stored_specs(const workload::PassSpec& pass, std::int64_t samples);

// How images are prepared, as the options image_* say.
workload::ImageFormat image_format(const config::Settings& s);

// What inputs the case's passes read.
workload::InputRequest input_request(const config::Case& c, const workload::PassSpec& pass);

// A name for inputs: equal for cases that share them.
std::string input_key(const config::Case& c, const workload::PassSpec& pass);
std::string request_key(const workload::InputRequest& request);

}  // namespace paceline::run
