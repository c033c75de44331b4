// SPDX-License-Identifier: MIT
// Ends a worker that has told everything, without the static destructors of its libraries.
#pragma once

namespace paceline::process {

// Whether something in this process writes when it exits: a sanitizer, coverage, or a tool that a variable of
// the environment injects (LD_PRELOAD, CUDA_INJECTION64_PATH, …).
[[nodiscard]] bool writes_at_exit();

// Flushes what was printed and ends the process at once. LibTorch's static destructors take a quarter of a
// short run, and those of some libraries crash. Returns, for an exit as usual, where writes_at_exit().
void exit_without_destructors(int code);

}  // namespace paceline::process
