// SPDX-License-Identifier: MIT
// Tells whether a file can have been written by somebody else.
#pragma once
#include <filesystem>
#include <string>

namespace paceline {

// Why a file or pipe, after links, may hold what another user wrote, in words that follow "it": the owner of
// the file or of its folder is neither this user nor root, or every user may write there or in a folder
// above. Empty: it is this user's own.
std::string why_foreign(const std::filesystem::path& file);

}  // namespace paceline
