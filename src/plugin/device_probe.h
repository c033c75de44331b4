// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

// Measures the peak rates of a device: products, convolutions, copies.
namespace paceline::plugin {

// One operation, repeated on random data with nothing else on the device.
struct ProbedOperation {
  std::string operation;  // product | convolution | copy
  // The precision: bf16, fp8. Of a copy its way: within_device, whose bytes are those read and those written;
  // pinned_to_device, pinned_to_host, pageable_to_device, pageable_to_host.
  std::string variant;
  std::string detail;            // in words: "8192 x 8192 x 8192"; where there are no times, why
  double amount = 0;             // FLOPs (a multiply-add is two), or bytes, of one repetition
  std::vector<double> times_ns;  // on the device's clock; empty: it could not be measured
};

class DeviceProbe {
 public:
  virtual ~DeviceProbe() = default;
  // Measures on `device` ("cuda:0") for a few seconds. An operation may be listed in several sizes; the
  // fastest counts. Throws Error(kUnavailable) if the device cannot be used.
  virtual std::vector<ProbedOperation> measure(const std::string& device) = 0;
};

}  // namespace paceline::plugin
