// SPDX-License-Identifier: MIT
// Makes rows of the option table from what plug-ins declare.
#pragma once
#include <string>
#include <vector>

#include "base/declared_option.h"
#include "config/option.h"
#include "config/settings.h"

namespace paceline::config {

// They take the place of those declared before, and the engines that build files are
// those of declared_engines(). `samplers`: the names that option sampler chooses from.
// Throws Error(kUsage) where the table has the section already, or a default is no value of its option.
void use_declared_options(std::vector<DeclaredOption> declared,
                          const std::vector<std::string>& samplers = {});

// The value of option sampler for no sampler at all.
inline constexpr const char* kNoSampler = "none";

// Has a case watched by these samplers, with the defaults of their options.
void set_samplers(Settings& settings, WorkloadKind kind, const std::vector<std::string>& names);

// Whether an option is sampler, or of one of them.
bool is_of_samplers(std::string_view option);

}  // namespace paceline::config
