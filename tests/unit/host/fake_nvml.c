/* SPDX-License-Identifier: MIT
   A double of NVIDIA's management library: two GPUs, of which the second does not tell its memory.
   FAKE_NVML_INIT: the code that initialising returns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kNotSupported = 3, kShort = 7 };
static int initialised = 0;
static int gpus[2] = {0, 1};

static int text(char* to, unsigned size, const char* from) {
  if (strlen(from) >= size) return kShort;
  strcpy(to, from);
  return initialised ? 0 : 1;
}

int nvmlInit_v2(void) {
  const char* code = getenv("FAKE_NVML_INIT");
  initialised = !code;
  return code ? atoi(code) : 0;
}
int nvmlShutdown(void) {
  initialised = 0;
  return 0;
}
const char* nvmlErrorString(int code) {
  return code == 18 ? "Driver/library version mismatch" : code == kNotSupported ? "Not Supported" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* to, unsigned size) { return text(to, size, "580.65.06"); }
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &gpus[index];
  return 0;
}
int nvmlDeviceGetName(void* device, char* to, unsigned size) {
  (void)device;
  return text(to, size, "NVIDIA H200");
}
int nvmlDeviceGetUUID(void* device, char* to, unsigned size) {
  return text(to, size, *(int*)device == 0 ? "GPU-aa" : "GPU-bb");
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  if (*(int*)device == 1) return kNotSupported;
  memory[0] = 150754820096ULL;
  return 0;
}
/* 16 bytes of the old address, five numbers, 32 bytes of the address. */
int nvmlDeviceGetPciInfo_v3(void* device, char* info) {
  snprintf(info + 36, 32, "00000000:%s:00.0", *(int*)device == 0 ? "1B" : "CF");
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = &gpus[strcmp(uuid, "GPU-bb") == 0];
  return strncmp(uuid, "GPU-", 4) == 0 ? 0 : 6;
}
/* The second GPU is hot, and its power is capped. */
int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* mhz) {
  *mhz = *(int*)device == 0 ? 1980 : 1410;
  return type == 1 ? 0 : 2;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* bits) {
  *bits = *(int*)device == 0 ? 0x1 : 0x24;
  return 0;
}
