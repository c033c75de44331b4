// SPDX-License-Identifier: MIT
// An allocator for LD_PRELOAD, as jemalloc is one: its malloc is not the C library's.
#include <cstddef>

extern "C" {
void* __libc_malloc(std::size_t size);
__attribute__((visibility("default"))) void* malloc(std::size_t size) {
  return __libc_malloc(size);
}
}
