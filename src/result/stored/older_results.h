// SPDX-License-Identifier: MIT
// Facts that files of older versions give as sentences only. Their wording is that of the time, and does not
// follow what this version writes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "result/stored/case_result.h"

namespace paceline::result {

// The first version, as 1.N, whose files give facts beside their sentences.
inline constexpr int kFactsSince = 12;

// Whether a file of this schema_version is older than 1.`minor`.
bool is_older(std::string_view schema_version, int minor);

// Fills in the facts of a case that was read from an older file; no-op for others.
void add_older_facts(CaseResult& result);

// Fills in the facts of a check that an older version recorded.
void add_older_facts(Correctness& correctness);

// "thermal slowdown in 80.0 % of the samples, power cap in 10.0 % of the samples"; parts that have another
// form are left out.
std::vector<DeviceSlowdown> older_slowdowns(const std::string& text);

}  // namespace paceline::result
