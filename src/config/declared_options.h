// SPDX-License-Identifier: MIT
// Makes rows of the option table from what plug-ins declare.
#pragma once
#include <string>
#include <vector>

#include "base/declared_option.h"

namespace paceline::config {

// They take the place of those declared before. `samplers`: the names that option sampler chooses from.
// Throws Error(kUsage) where the table has the section already, or a default is no value of its option.
void use_declared_options(std::vector<DeclaredOption> declared,
                          const std::vector<std::string>& samplers = {});

}  // namespace paceline::config
