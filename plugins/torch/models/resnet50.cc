// SPDX-License-Identifier: MIT
#include <vector>

#include "torch/models/builders.h"
#include "torch/models/layers.h"

namespace paceline::torch_plugin {
namespace {

// ResNet-50 in version 1.5: the stride sits in the 3x3 convolution, as in torchvision.
class Bottleneck : public torch::nn::Module {
 public:
  Bottleneck(std::int64_t in, std::int64_t width, std::int64_t stride, bool downsample) {
    const std::int64_t out = 4 * width;
    conv1_ = add_layer<Conv2d>(*this, "conv1", ConvShape{in, width});
    bn1_ = add_layer<BatchNorm2d>(*this, "bn1", width);
    conv2_ = add_layer<Conv2d>(*this, "conv2", ConvShape{width, width, 3, stride, 1});
    bn2_ = add_layer<BatchNorm2d>(*this, "bn2", width);
    conv3_ = add_layer<Conv2d>(*this, "conv3", ConvShape{width, out});
    bn3_ = add_layer<BatchNorm2d>(*this, "bn3", out);
    if (!downsample) return;
    const auto branch = add_layer<torch::nn::Module>(*this, "downsample");
    down_conv_ = add_layer<Conv2d>(*branch, "0", ConvShape{in, out, 1, stride});
    down_bn_ = add_layer<BatchNorm2d>(*branch, "1", out);
  }
  at::Tensor forward(const at::Tensor& x) const {
    auto y = bn1_->forward(conv1_->forward(x)).relu_();
    y = bn2_->forward(conv2_->forward(y)).relu_();
    y = bn3_->forward(conv3_->forward(y));
    return y.add_(down_conv_ ? down_bn_->forward(down_conv_->forward(x)) : x).relu_();
  }

 private:
  std::shared_ptr<Conv2d> conv1_, conv2_, conv3_, down_conv_;
  std::shared_ptr<BatchNorm2d> bn1_, bn2_, bn3_, down_bn_;
};

struct Stage {
  std::int64_t width, blocks, stride;
};
constexpr Stage kStages[] = {{64, 3, 1}, {128, 4, 2}, {256, 6, 2}, {512, 3, 2}};

class ResNet50 : public Model {
 public:
  explicit ResNet50(std::int64_t classes) {
    conv1_ = add_layer<Conv2d>(*this, "conv1", ConvShape{3, 64, 7, 2, 3});
    bn1_ = add_layer<BatchNorm2d>(*this, "bn1", 64);
    std::int64_t in = 64;
    for (std::size_t i = 0; i < std::size(kStages); ++i)
      in = add_stage("layer" + std::to_string(i + 1), kStages[i], in);
    fc_ = add_layer<Linear>(*this, "fc", in, classes);
  }
  at::Tensor run(std::span<const at::Tensor> inputs) override {
    auto x = bn1_->forward(conv1_->forward(inputs[0])).relu_();
    x = at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1});
    for (const auto& block : blocks_) x = block->forward(x);
    return fc_->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

 private:
  std::int64_t add_stage(const std::string& name, const Stage& stage, std::int64_t in) {
    const auto layer = add_layer<torch::nn::Module>(*this, name);
    for (std::int64_t i = 0; i < stage.blocks; ++i) {
      const bool first = i == 0;
      blocks_.push_back(
          add_layer<Bottleneck>(*layer, std::to_string(i), in, stage.width, first ? stage.stride : 1, first));
      in = 4 * stage.width;
    }
    return in;
  }

  std::shared_ptr<Conv2d> conv1_;
  std::shared_ptr<BatchNorm2d> bn1_;
  std::vector<std::shared_ptr<Bottleneck>> blocks_;
  std::shared_ptr<Linear> fc_;
};

}  // namespace

std::shared_ptr<Model> build_resnet50(std::int64_t classes) {
  return std::make_shared<ResNet50>(classes);
}

}  // namespace paceline::torch_plugin
