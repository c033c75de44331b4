// SPDX-License-Identifier: MIT
#include "monitor/page.h"

extern "C" const char paceline_monitor_page[], paceline_monitor_page_end[];

namespace paceline::monitor {

std::string_view page() {
  return {paceline_monitor_page, paceline_monitor_page_end};
}

}  // namespace paceline::monitor
