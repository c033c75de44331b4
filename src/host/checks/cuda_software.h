// SPDX-License-Identifier: MIT
// Whether NVIDIA's driver is new enough for the CUDA of the libraries that are used with it.
#pragma once
#include <string>
#include <vector>

#include "host/checks/fact_rules.h"
#include "host/machine/nvml.h"

namespace paceline::host {

// Problem of a driver with libraries of CUDA `runtime` ("12.8"); empty: none. Within a major version an older
// driver will do from the first of that version on (CUDA Compatibility guide, minor version compatibility).
struct DriverProblem {
  std::string text, fix;
};
DriverProblem driver_problem(const NvidiaDriver& driver, const std::string& runtime);

// `facts` holds the versions of libraries, as facts "library NAME".
CheckResult check_cuda_software(const NvidiaDriver& driver, const std::vector<Fact>& facts);

}  // namespace paceline::host
