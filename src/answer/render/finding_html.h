// SPDX-License-Identifier: MIT
// Renders a finding for a page.
#pragma once
#include <string>
#include <string_view>

#include "answer/answer.h"

namespace paceline::answer {

// Details in a fold that opens with one click.
std::string folded(std::string_view title, const std::string& text);

// An item of a list.
enum class FindingParts { kText, kWithEvidence, kAll };
std::string finding_html(const Finding& finding, FindingParts parts);

}  // namespace paceline::answer
