// SPDX-License-Identifier: MIT
#include "workload/window/memory_observer.h"

#include <algorithm>
#include <cstdint>

#include "host/machine/memory.h"

namespace paceline::workload {

void MemoryObserver::read_peak() {
  memory_.rss_peak_bytes = host::process_memory().rss_peak_bytes;
  if (memory_.rss_peak_bytes && memory_.rss_before_load_bytes)
    memory_.rss_peak_above_load_bytes =
        std::max<std::int64_t>(0, *memory_.rss_peak_bytes - *memory_.rss_before_load_bytes);
}

}  // namespace paceline::workload
