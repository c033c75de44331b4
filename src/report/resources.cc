// SPDX-License-Identifier: MIT
// Hands out the file that was embedded at build time, without its first line.
#include "report/html_parts.h"

extern "C" const char paceline_run_html[], paceline_run_html_end[];

std::string_view paceline::report::run_template() {
  const std::string_view file(paceline_run_html, paceline_run_html_end);
  return file.substr(file.find('\n') + 1);
}
