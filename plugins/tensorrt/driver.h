// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

struct CUstream_st;  // CUDA's own name for the target of a stream

namespace paceline::tensorrt_plugin {

using Stream = CUstream_st*;
using DevicePointer = std::uint64_t;
using Context = void*;
using Event = void*;
using Graph = void*;
using GraphExec = void*;

// The functions of the CUDA driver that the engine calls, in the driver's binary interface. The driver is
// opened at run time: nothing links it, and no CUDA toolkit is needed.
struct Driver {
  int (*init)(unsigned flags);
  int (*version)(int* version);
  int (*device_count)(int* count);
  int (*device_name)(char* name, int length, int device);
  int (*device_attribute)(int* value, int attribute, int device);
  int (*retain_context)(Context* context, int device);
  int (*set_context)(Context context);
  int (*make_stream)(Stream* stream, unsigned flags);
  int (*wait_for_stream)(Stream stream);
  int (*follow_event)(Stream stream, Event event, unsigned flags);
  int (*free_stream)(Stream stream);
  int (*make_event)(Event* event, unsigned flags);
  int (*record_event)(Event event, Stream stream);
  int (*elapsed_ms)(float* ms, Event begin, Event end);
  int (*free_event)(Event event);
  int (*allocate)(DevicePointer* memory, std::size_t bytes);
  int (*release)(DevicePointer memory);
  int (*allocate_pinned)(void** memory, std::size_t bytes);
  int (*release_pinned)(void* memory);
  int (*copy_to_device)(DevicePointer to, const void* from, std::size_t bytes, Stream stream);
  int (*copy_to_host)(void* to, DevicePointer from, std::size_t bytes, Stream stream);
  int (*begin_capture)(Stream stream, int mode);
  int (*end_capture)(Stream stream, Graph* graph);
  int (*instantiate_graph)(GraphExec* exec, Graph graph, unsigned long long flags);
  int (*launch_graph)(GraphExec exec, Stream stream);
  int (*free_graph_exec)(GraphExec exec);
  int (*free_graph)(Graph graph);
  int (*error_text)(int code, const char** text);
};

// Throws Error(kUnavailable) when the machine has no such library, or these functions are missing.
Driver open_driver(const char* library);
const Driver& driver();  // initialised once per process

// "CUDA error 900 (operation not permitted when stream is capturing)".
std::string error_words(int code);

// Throws Error(kInternal), or kUnavailable for a missing device, as "<what>: <words of the driver>";
// std::bad_alloc when the device is out of memory.
void check(int code, std::string_view what);

}  // namespace paceline::tensorrt_plugin
