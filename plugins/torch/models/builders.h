// SPDX-License-Identifier: MIT
// The functions that build the models of table.cc.
#pragma once
#include <cstdint>
#include <memory>

#include "base/pretrained_model.h"

namespace paceline::torch_plugin {

class Model;

std::shared_ptr<Model> build_resnet50(std::int64_t classes);
std::shared_ptr<Model> build_vit(const TransformerShape& shape, TransformerHead head);
std::shared_ptr<Model> build_bert(const TransformerShape& shape, TransformerHead head);
std::shared_ptr<Model> build_gpt2(const TransformerShape& shape, TransformerHead head);
std::shared_ptr<Model> build_tiny_cnn(std::int64_t classes);
std::shared_ptr<Model> build_peak_gemm();
std::shared_ptr<Model> build_peak_conv();

}  // namespace paceline::torch_plugin
