// SPDX-License-Identifier: MIT
// The forms of an answer: each is one function from values to a whole document.
#pragma once
#include <string>

#include "answer/answer.h"
#include "answer/render/terminal.h"
#include "base/json.h"

namespace paceline::answer {

// Puts no control characters into the text but those of colours.
std::string terminal_of(const Answer& answer, const TerminalOptions& options);
std::string markdown_of(const Answer& answer);
std::string html_of(const Answer& answer);  // a page that loads nothing
// The answer's data, with title, sentence, checks, findings, sections and remarks beside it.
nlohmann::json json_of(const Answer& answer);
// A test for each check; the sentence and the findings are its output.
std::string junit_of(const Answer& answer);

}  // namespace paceline::answer
