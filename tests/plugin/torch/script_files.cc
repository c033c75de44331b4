// SPDX-License-Identifier: MIT
#include "script_files.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <fstream>

namespace paceline::torch_test {

void write_convolution_script(const std::string& path, bool frozen) {
  torch::jit::Module module("convolution");
  module.register_parameter("weight", at::arange(4 * 3 * 9, at::kFloat).view({4, 3, 3, 3}).sub(50).div(100),
                            false);
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define("def forward(self, x):\n    return torch.relu(torch.conv2d(x, self.weight))\n");
  module.eval();
  (frozen ? torch::jit::freeze(module) : module).save(path);
}

namespace {

constexpr const char* kTraced =
    "def forward(self, x):\n"
    "    return torch.relu(torch._convolution(x, self.weight, None, [1, 1], [0, 0], [1, 1], False, [0, 0], "
    "1, "
    "True, True, False, True))\n";

}  // namespace

void write_traced_script(const std::string& path, bool frozen, bool nested) {
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  torch::jit::Module inner("traced", unit);
  inner.register_parameter("weight", at::arange(4 * 3 * 9, at::kFloat).view({4, 3, 3, 3}).sub(50).div(100),
                           false);
  inner.register_attribute("training", c10::BoolType::get(), false);
  inner.define(kTraced);
  torch::jit::Module outer("outer", unit);
  if (nested) {
    outer.register_module("inner", inner);
    outer.register_attribute("training", c10::BoolType::get(), false);
    outer.define("def forward(self, x):\n    return self.inner.forward(x)\n");
  }
  auto& module = nested ? outer : inner;
  module.eval();
  (frozen ? torch::jit::freeze(module) : module).save(path);
}

void write_transposed_script(const std::string& path) {
  torch::jit::Module module("transposed");
  module.register_parameter("weight", at::ones({3, 4, 2, 2}), false);
  module.define("def forward(self, x):\n    return torch.conv_transpose2d(x, self.weight, stride=2)\n");
  module.save(path);
}

void write_script_with_weights(const std::string& path, const std::string& body,
                               const std::vector<std::int64_t>& weights) {
  torch::jit::Module module("weighted");
  module.register_parameter("weight", at::ones(weights), false);
  module.define("def forward(self, x):\n    return " + body + "\n");
  module.save(path);
}

void write_forward_script(const std::string& path, const std::string& lines) {
  torch::jit::Module module("forward");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define("def forward(self, x):\n" + lines);
  module.eval();
  module.save(path);
}

void write_list_script(const std::string& path) {
  torch::jit::Module module("detector");
  module.define(
      "def forward(self, images: List[Tensor]):\n"
      "    found: List[Dict[str, Tensor]] = []\n"
      "    for image in images:\n"
      "        found.append({'boxes': image[0], 'scores': image[1]})\n"
      "    return found\n");
  module.save(path);
}

void write_two_output_script(const std::string& path) {
  torch::jit::Module module("two_outputs");
  module.define("def forward(self, x):\n    return x * 2, [x + 1]\n");
  module.save(path);
}

void write_tensor_archive(const std::string& path) {
  const auto bytes = torch::jit::pickle_save(at::ones({2}));
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace paceline::torch_test
