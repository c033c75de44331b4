// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>

#include "base/json.h"
#include "driver.h"

// safetensors files: the public names of each model, values that arrive where they belong, and files that are
// wrong.
namespace paceline::torch_test {
namespace {

struct Entry {
  std::string name;
  Shape shape;
  std::string type = "F32";
  std::map<std::int64_t, float> values{};  // element index -> value; the rest is 0
};
using Entries = std::vector<Entry>;

std::size_t type_bytes(const std::string& type) {
  return type == "I64" ? 8 : type == "F32" ? 4 : 2;
}

std::string encode(const std::string& type, float value) {
  if (type == "BF16") {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    const auto high = static_cast<std::uint16_t>(bits >> 16);
    return {reinterpret_cast<const char*>(&high), 2};
  }
  return {reinterpret_cast<const char*>(&value), 4};
}

// The data part is a hole in the file wherever it is 0: large files cost no disk.
void write_safetensors(const std::string& path, const Entries& entries) {
  nlohmann::json header = {{"__metadata__", {{"format", "pt"}}}};
  std::size_t end = 0;
  for (const auto& entry : entries) {
    const auto begin = end;
    end += static_cast<std::size_t>(element_count(entry.shape)) * type_bytes(entry.type);
    header[entry.name] = {{"dtype", entry.type}, {"shape", entry.shape}, {"data_offsets", {begin, end}}};
  }
  const auto text = header.dump();
  const auto length = static_cast<std::uint64_t>(text.size());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), 8) << text;
  const auto data = 8 + text.size();
  for (const auto& entry : entries)
    for (const auto& [index, value] : entry.values) {
      const auto begin = header[entry.name]["data_offsets"][0].get<std::size_t>();
      out.seekp(static_cast<std::streamoff>(data + begin +
                                            static_cast<std::size_t>(index) * type_bytes(entry.type)));
      out << encode(entry.type, value);
    }
  out.close();
  std::filesystem::resize_file(path, data + end);
}

void add_affine(Entries& entries, const std::string& name, const Shape& weight, std::int64_t out) {
  entries.push_back({name + ".weight", weight});
  entries.push_back({name + ".bias", {out}});
}
void add_linear(Entries& entries, const std::string& name, std::int64_t in, std::int64_t out) {
  add_affine(entries, name, {out, in}, out);
}
void add_norm(Entries& entries, const std::string& name, std::int64_t width) {
  add_affine(entries, name, {width}, width);
}
void add_batch_norm(Entries& entries, const std::string& name, std::int64_t width) {
  add_norm(entries, name, width);
  entries.push_back({name + ".running_mean", {width}});
  entries.push_back({name + ".running_var", {width}});
  entries.push_back({name + ".num_batches_tracked", {}, "I64"});
}

Entries tiny_cnn() {
  Entries entries;
  entries.push_back({"conv1.weight", {16, 3, 3, 3}});
  add_batch_norm(entries, "bn1", 16);
  entries.push_back({"conv2.weight", {32, 16, 3, 3}});
  add_batch_norm(entries, "bn2", 32);
  entries.push_back({"fc.weight", {10, 2048}, "F16"});
  entries.push_back({"fc.bias", {10}, "BF16", {{0, -2}, {3, 1.5F}, {9, 9}}});
  return entries;
}

void add_bottleneck(Entries& entries, const std::string& name, std::int64_t in, std::int64_t width,
                    bool first) {
  entries.push_back({name + ".conv1.weight", {width, in, 1, 1}});
  add_batch_norm(entries, name + ".bn1", width);
  entries.push_back({name + ".conv2.weight", {width, width, 3, 3}});
  add_batch_norm(entries, name + ".bn2", width);
  entries.push_back({name + ".conv3.weight", {4 * width, width, 1, 1}});
  add_batch_norm(entries, name + ".bn3", 4 * width);
  if (!first) return;
  entries.push_back({name + ".downsample.0.weight", {4 * width, in, 1, 1}});
  add_batch_norm(entries, name + ".downsample.1", 4 * width);
}

Entries torchvision_resnet50() {
  Entries entries;
  entries.push_back({"conv1.weight", {64, 3, 7, 7}});
  add_batch_norm(entries, "bn1", 64);
  const int blocks[] = {3, 4, 6, 3};
  std::int64_t in = 64;
  for (int stage = 0; stage < 4; ++stage)
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::int64_t width = 64 << stage;
      add_bottleneck(entries, "layer" + std::to_string(stage + 1) + "." + std::to_string(block), in, width,
                     block == 0);
      in = 4 * width;
    }
  add_linear(entries, "fc", 2048, 1000);
  entries.back().values[7] = 2.5F;
  return entries;
}

Entries torchvision_vit_b_16() {
  Entries entries{{"class_token", {1, 1, 768}}, {"encoder.pos_embedding", {1, 197, 768}}};
  add_affine(entries, "conv_proj", {768, 3, 16, 16}, 768);
  for (int i = 0; i < 12; ++i) {
    const auto layer = "encoder.layers.encoder_layer_" + std::to_string(i);
    add_norm(entries, layer + ".ln_1", 768);
    entries.push_back({layer + ".self_attention.in_proj_weight", {2304, 768}});
    entries.push_back({layer + ".self_attention.in_proj_bias", {2304}});
    add_linear(entries, layer + ".self_attention.out_proj", 768, 768);
    add_norm(entries, layer + ".ln_2", 768);
    add_linear(entries, layer + ".mlp.0", 768, 3072);
    add_linear(entries, layer + ".mlp.3", 3072, 768);
  }
  add_norm(entries, "encoder.ln", 768);
  add_linear(entries, "heads.head", 768, 1000);
  entries.back().values[7] = 2.5F;
  return entries;
}

// As a Hugging Face BertForPreTraining file has them: a prefix, heads of its own, norms named gamma and beta.
Entries hugging_face_bert() {
  Entries entries;
  const auto norm = [&](const std::string& name) {
    entries.push_back({name + ".LayerNorm.gamma", {1024}});
    entries.push_back({name + ".LayerNorm.beta", {1024}});
  };
  entries.push_back({"bert.embeddings.word_embeddings.weight", {30522, 1024}});
  entries.push_back({"bert.embeddings.position_embeddings.weight", {512, 1024}});
  entries.push_back({"bert.embeddings.token_type_embeddings.weight", {2, 1024}});
  norm("bert.embeddings");
  for (int i = 0; i < 24; ++i) {
    const auto layer = "bert.encoder.layer." + std::to_string(i);
    for (const std::string part : {"query", "key", "value"})
      add_linear(entries, layer + ".attention.self." + part, 1024, 1024);
    add_linear(entries, layer + ".attention.output.dense", 1024, 1024);
    norm(layer + ".attention.output");
    add_linear(entries, layer + ".intermediate.dense", 1024, 4096);
    add_linear(entries, layer + ".output.dense", 4096, 1024);
    norm(layer + ".output");
  }
  add_norm(entries, "cls.predictions.transform.LayerNorm", 1024);
  add_linear(entries, "bert.pooler.dense", 1024, 1024);
  entries.back().values[7] = 0.5F;
  return entries;
}

// As GPT2LMHeadModel saves it; layer norm's bias 2 on channel 0 times token 7's weight 3 there gives its
// logit 6.
Entries hugging_face_gpt2() {
  Entries entries;
  entries.push_back({"transformer.wte.weight", {50257, 768}, "F32", {{7 * 768, 3}}});
  entries.push_back({"transformer.wpe.weight", {1024, 768}});
  for (int i = 0; i < 12; ++i) {
    const auto layer = "transformer.h." + std::to_string(i);
    entries.push_back({layer + ".attn.bias", {1, 1, 4, 4}});
    add_norm(entries, layer + ".ln_1", 768);
    add_affine(entries, layer + ".attn.c_attn", {768, 2304}, 2304);
    add_affine(entries, layer + ".attn.c_proj", {768, 768}, 768);
    add_norm(entries, layer + ".ln_2", 768);
    add_affine(entries, layer + ".mlp.c_fc", {768, 3072}, 3072);
    add_affine(entries, layer + ".mlp.c_proj", {3072, 768}, 768);
  }
  add_norm(entries, "transformer.ln_f", 768);
  entries.back().values[0] = 2;
  return entries;
}

struct PublicNames {
  const char* model;
  std::function<Entries()> entries;
  float seventh_output;
};
void PrintTo(const PublicNames& names, std::ostream* out) {
  *out << names.model;
}
class Checkpoint : public testing::TestWithParam<PublicNames> {};

// Every tensor of the file is 0 but the last bias (and, for GPT-2, one embedding): the outcome is known
// exactly.
TEST_P(Checkpoint, LoadsByItsPublicNames) {
  const TemporaryFolder folder;
  write_safetensors(folder.file("w.safetensors"), GetParam().entries());
  const auto engine =
      load({.model = GetParam().model, .batch = 1, .weights_file = folder.file("w.safetensors")});
  auto data = data_for(inputs_of(GetParam().model, 1));
  bind(*engine, data);
  const auto y = run(*engine);
  EXPECT_FLOAT_EQ(y.at(7), GetParam().seventh_output);
  EXPECT_EQ(y.at(8), 0);
}
INSTANTIATE_TEST_SUITE_P(All, Checkpoint,
                         testing::Values(PublicNames{"resnet50", torchvision_resnet50, 2.5F},
                                         PublicNames{"vit_b_16", torchvision_vit_b_16, 2.5F},
                                         PublicNames{"bert-large", hugging_face_bert, std::tanh(0.5F)},
                                         PublicNames{"gpt2", hugging_face_gpt2, 6}),
                         [](const auto& p) { return std::string(p.param.model).substr(0, 4); });

TEST(Safetensors, ConvertsHalfTypes) {
  const TemporaryFolder folder;
  write_safetensors(folder.file("w.safetensors"), tiny_cnn());
  const auto engine = load({.model = "tiny_cnn", .batch = 1, .weights_file = folder.file("w.safetensors")});
  auto data = data_for(inputs_of("tiny_cnn", 1));
  bind(*engine, data);
  EXPECT_EQ(run(*engine), (std::vector<float>{-2, 0, 0, 1.5F, 0, 0, 0, 0, 0, 9}));
}

void expect_refused(const std::string& file, const std::string& part, ErrorCode code = ErrorCode::kData) {
  const auto [found, message] = error_of([&] { load({.model = "tiny_cnn", .weights_file = file}); });
  EXPECT_EQ(found, code) << message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_NE(message.find(file), std::string::npos) << message;
}

TEST(Safetensors, WrongTensorsAreNamed) {
  const TemporaryFolder folder;
  const auto file = folder.file("w.safetensors");
  auto entries = tiny_cnn();
  entries[0].shape = {16, 3, 1, 1};
  write_safetensors(file, entries);
  expect_refused(file, "conv1.weight is [16,3,1,1] in the file, the model needs [16,3,3,3]");
  entries = tiny_cnn();
  entries.erase(entries.begin() + 1);
  write_safetensors(file, entries);
  expect_refused(file, "lack bn1.weight");
  entries = tiny_cnn();
  entries.push_back({"extra.weight", {2}});
  write_safetensors(file, entries);
  expect_refused(file, "contain extra.weight");
}

TEST(Safetensors, DamagedFilesAreRefusedInWords) {
  const TemporaryFolder folder;
  const auto file = folder.file("w.safetensors");
  write_safetensors(file, tiny_cnn());
  const auto size = std::filesystem::file_size(file);
  std::filesystem::resize_file(file, size - 100);
  expect_refused(file, "truncated");
  std::filesystem::resize_file(file, 40);
  expect_refused(file, "truncated");
  std::filesystem::resize_file(file, 3);
  expect_refused(file, "it contains 3 bytes");
  std::ofstream(file) << "{\"this\": \"is plain JSON, not safetensors\"}";
  expect_refused(file, "does not start with a header length");
  const std::uint64_t length = 5;
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(&length), 8) << "hello";
  expect_refused(file, "not a JSON object");
  expect_refused(folder.file("absent"), "No such file", ErrorCode::kIo);
}

TEST(Safetensors, LyingHeadersAreRefusedInWords) {
  const TemporaryFolder folder;
  const auto file = folder.file("w.safetensors");
  const auto write = [&](const std::string& entry) {
    const auto text = "{\"conv1.weight\": " + entry + "}";
    const auto length = static_cast<std::uint64_t>(text.size());
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(&length), 8) << text << "data";
  };
  write(R"({"dtype": "F32", "shape": [9], "data_offsets": [0, 4]})");
  expect_refused(file, "conv1.weight: it claims bytes 0 to 4, its shape needs 36");
  write(R"({"dtype": "F32", "shape": [4611686018427387904, 4], "data_offsets": [0, 4]})");
  expect_refused(file, "impossible");
  write(R"({"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]})");
  expect_refused(file, "type F8_E4M3 is not supported");
  write(R"({"dtype": "F32", "shape": [1], "data_offsets": [4, 0]})");
  expect_refused(file, "conv1.weight");
  write(R"({"shape": [1]})");
  expect_refused(file, "conv1.weight");
}

}  // namespace
}  // namespace paceline::torch_test
