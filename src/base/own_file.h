// SPDX-License-Identifier: MIT
// Tells whether a file can have been written by somebody else.
#pragma once
#include <filesystem>

#include "base/refusal.h"

namespace paceline {

// Why a file or pipe, after links, may hold what another user wrote, in words that follow "it": the owner of
// the file or of its folder is neither this user nor root, or every user may write there or in a folder
// above. None: it is this user's own.
Refusal why_foreign(const std::filesystem::path& file);

}  // namespace paceline
