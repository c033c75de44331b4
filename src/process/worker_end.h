// SPDX-License-Identifier: MIT
// Explains why a worker ended: a reason code, and a sentence.
#pragma once
#include <optional>
#include <string>

#include "pass/records.h"

namespace paceline::process {

// A code of the result's reason_code, and words.
struct Verdict {
  std::string code, reason;
};

// Why a worker that did not say "done" ended, from its wait status and what it reported. `oom`: what the
// kernel's out-of-memory counters say.
Verdict explain_end(const pass::PassReport& report, int status, const std::optional<std::string>& oom);

// "a segmentation fault (SIGSEGV)".
std::string signal_words(int signal);

// Whether a library says with these words that it found no room in the address space.
bool lacks_room(const std::string& message);
// "; the address space of a process is limited to 400 MB (ulimit -v): raise the limit"; empty: it is not.
std::string address_limit_words();

}  // namespace paceline::process
