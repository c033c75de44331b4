// SPDX-License-Identifier: MIT
// Says that the system starts no more processes or threads, which every library words in its own way.
#pragma once
#include <string>
#include <string_view>

namespace paceline {

// Whether an error or the end of a log, in the system's words, is about processes or threads that cannot be
// started.
bool lacks_processes(std::string_view words);

// The sentence for it, with the limit of this user where there is one, and what to do.
std::string process_limit_words();

}  // namespace paceline
