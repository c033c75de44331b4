// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

namespace paceline::torch_plugin {

class Model;

std::shared_ptr<Model> build_resnet50();
std::shared_ptr<Model> build_vit_b_16();
std::shared_ptr<Model> build_bert_large();
std::shared_ptr<Model> build_bert_large_masked_lm();  // run() answers with scores of every token
std::shared_ptr<Model> build_gpt2();
std::shared_ptr<Model> build_tiny_cnn();
std::shared_ptr<Model> build_peak_gemm();
std::shared_ptr<Model> build_peak_conv();

}  // namespace paceline::torch_plugin
