// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace paceline::host {

// Lets the C library keep freed memory in the process. Left alone, glibc gives it back to the kernel after
// one iteration and faults it in again in the next, or does not, by the history of the heap: the same model
// then differs by tens of percent from process to process. Does nothing with
// PACELINE_HEAP=default, a MALLOC_ variable or GLIBC_TUNABLES. Returns what holds now, for the record.
std::string keep_freed_memory();

}  // namespace paceline::host
