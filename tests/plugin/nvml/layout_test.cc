// SPDX-License-Identifier: MIT
// Compares the layouts and numbers that we declare by hand with those of nvml.h.
#include <nvml.h>

#include <cstddef>

#include "base/nvml_library.h"

namespace paceline::nvml {

static_assert(sizeof(Memory) == sizeof(nvmlMemory_t) &&
              offsetof(Memory, used) == offsetof(nvmlMemory_t, used));
static_assert(sizeof(MemoryV2) == sizeof(nvmlMemory_v2_t) &&
              offsetof(MemoryV2, used) == offsetof(nvmlMemory_v2_t, used));
static_assert(MemoryV2{}.version == nvmlMemory_v2);
static_assert(sizeof(PciInfo) == sizeof(nvmlPciInfo_t) &&
              offsetof(PciInfo, bus_id) == offsetof(nvmlPciInfo_t, busId));
static_assert(sizeof(Utilization) == sizeof(nvmlUtilization_t) &&
              offsetof(Utilization, memory) == offsetof(nvmlUtilization_t, memory));
static_assert(sizeof(ProcessInfo) == sizeof(nvmlProcessInfo_t) &&
              offsetof(ProcessInfo, pid) == offsetof(nvmlProcessInfo_t, pid));
static_assert(sizeof(FieldValue) == sizeof(nvmlFieldValue_t) &&
              offsetof(FieldValue, scope) == offsetof(nvmlFieldValue_t, scopeId) &&
              offsetof(FieldValue, type) == offsetof(nvmlFieldValue_t, valueType) &&
              offsetof(FieldValue, code) == offsetof(nvmlFieldValue_t, nvmlReturn) &&
              offsetof(FieldValue, value) == offsetof(nvmlFieldValue_t, value));

static_assert(sizeof(FabricInfo) == sizeof(nvmlGpuFabricInfo_t) &&
              offsetof(FabricInfo, status) == offsetof(nvmlGpuFabricInfo_t, status) &&
              offsetof(FabricInfo, state) == offsetof(nvmlGpuFabricInfo_t, state));
static_assert(NVML_TEMPERATURE_THRESHOLD_SLOWDOWN == 1 && NVML_PAGE_RETIREMENT_CAUSE_COUNT == 2 &&
              NVML_GPU_FABRIC_STATE_NOT_STARTED == 1 && NVML_GPU_FABRIC_STATE_COMPLETED == 3);
static_assert(kSuccess == NVML_SUCCESS && kNotSupported == NVML_ERROR_NOT_SUPPORTED &&
              kNoPermission == NVML_ERROR_NO_PERMISSION &&
              kInsufficientSize == NVML_ERROR_INSUFFICIENT_SIZE &&
              kFunctionNotFound == NVML_ERROR_FUNCTION_NOT_FOUND && kGpuIsLost == NVML_ERROR_GPU_IS_LOST &&
              kResetRequired == NVML_ERROR_RESET_REQUIRED);
static_assert(kSmClock == NVML_CLOCK_SM && kMemoryClock == NVML_CLOCK_MEM);
// As plugins/nvml/metrics.cc and slowdowns_of have them.
static_assert(NVML_FI_DEV_POWER_INSTANT == 186 && NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX == 138 &&
              NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX == 139);
static_assert(NVML_VALUE_TYPE_UNSIGNED_INT == 1 && NVML_VALUE_TYPE_SIGNED_INT == 5 &&
              NVML_TEMPERATURE_GPU == 0 && NVML_PCIE_UTIL_TX_BYTES == 0 && NVML_PCIE_UTIL_RX_BYTES == 1);
static_assert(nvmlClocksEventReasonSwPowerCap == 0x04 && nvmlClocksThrottleReasonHwSlowdown == 0x08 &&
              nvmlClocksEventReasonSwThermalSlowdown == 0x20 &&
              nvmlClocksThrottleReasonHwThermalSlowdown == 0x40 &&
              nvmlClocksThrottleReasonHwPowerBrakeSlowdown == 0x80);
static_assert(NVML_ERROR_TIMEOUT == 10 && NVML_ERROR_IN_USE == 19 && NVML_ERROR_NO_DATA == 21 &&
              NVML_ERROR_NOT_READY == 27 && NVML_ERROR_UNKNOWN == 999);

}  // namespace paceline::nvml
