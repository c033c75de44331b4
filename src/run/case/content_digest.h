// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace paceline::run {

// SHA-256 of a file's content. Within one run it is computed once, until the file has another state; what
// earlier runs computed is never believed. Throws Error(kIo).
std::string content_digest(const std::string& file);

}  // namespace paceline::run
