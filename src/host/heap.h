// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "host/system_files.h"

namespace paceline::host {

// Lets the C library keep freed memory in the process. Left alone, glibc gives it back to the kernel after
// one iteration and faults it in again in the next, or does not, by the history of the heap: the same model
// then differs by tens of percent from process to process. Does nothing with PACELINE_HEAP=default, or when
// the process was started with a MALLOC_ variable or GLIBC_TUNABLES: the library reads them then, and only
// then. Returns what holds now, for the record.
std::string keep_freed_memory(const SystemFiles& files = SystemFiles{});

}  // namespace paceline::host
