// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "host/system_files.h"

namespace paceline::host {

// The file name of the library whose malloc this process calls; empty: the C library's. A preloaded or
// linked allocator has other rules.
std::string other_allocator();

// Lets the C library keep freed memory in the process, so that every iteration finds the same heap. By
// default, depending on the history of the heap, glibc returns it to the kernel after one iteration and
// faults it in again in the next: the same model then differs by tens of percent from process to process.
// Does nothing with PACELINE_HEAP=default, or when the process was started with a MALLOC_ variable or
// GLIBC_TUNABLES, which the library reads only then, or where another allocator is in charge. Returns the
// setting in effect, for the record.
std::string keep_freed_memory(const SystemFiles& files = SystemFiles{},
                              const std::string& allocator = other_allocator());

}  // namespace paceline::host
