// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace paceline::torch_test {

// TorchScript files for the tests; the only place here that knows LibTorch.

// Writes a convolution as torch.jit.trace does: switches as constants of the call, all of them the other way
// than a case sets them. `nested`: in a submodule, which forward calls.
void write_traced_script(const std::string& path, bool frozen, bool nested);
void write_convolution_script(const std::string& path,
                              bool frozen);             // [N,3,8,8] -> relu(conv 3->4), [N,4,6,6]
void write_transposed_script(const std::string& path);  // [N,3,8,8] -> transposed conv 3->4, stride 2
void write_script_with_weights(const std::string& path, const std::string& body,
                               const std::vector<std::int64_t>& weights);
// forward(self, x) with these indented lines.
void write_forward_script(const std::string& path, const std::string& lines);
// Takes a list of images and returns a list of dictionaries, as detectors do.
void write_list_script(const std::string& path);
void write_two_output_script(const std::string& path);  // x -> (2x, [x + 1])
void write_tensor_archive(const std::string& path);     // a torch.save archive, not TorchScript

}  // namespace paceline::torch_test
