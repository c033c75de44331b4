// SPDX-License-Identifier: MIT
// Ends a worker that has reported everything, without the static destructors of its libraries.
#pragma once

namespace paceline::process {

// Whether something in this process may write when it exits: this program was built with a sanitizer or for
// coverage, a variable of the environment injects a tool (LD_PRELOAD, CUDA_INJECTION64_PATH, …), or
// PACELINE_STATIC_DESTRUCTORS is set.
[[nodiscard]] bool writes_at_exit();

// Flushes what was printed and ends the process at once: LibTorch's static destructors take a good part of a
// short run (docs/benchmarks.md, "Start-up"). Returns, for an exit as usual, where writes_at_exit().
void exit_without_destructors(int code);

}  // namespace paceline::process
