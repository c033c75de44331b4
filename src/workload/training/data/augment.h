// SPDX-License-Identifier: MIT
#pragma once
#include "workload/training/data/source.h"

// Turns a decoded picture into a model's input.
namespace paceline::workload {

// A part of a picture, in pixels.
struct Crop {
  int left = 0, top = 0, width = 0, height = 0;
};

// torchvision's RandomResizedCrop with its defaults: 8 % to 100 % of the area, aspect 3:4 to 4:3; after ten
// draws that do not fit, the centre of the picture.
Crop random_crop(int width, int height, Draws& draws);

// The centre crop after the shorter side is resized to 256/224 of the target.
Crop centre_crop(int width, int height, const SampleShape& target);

// 3 bytes per pixel, rows without gaps.
struct PixelView {
  const unsigned char* pixels = nullptr;
  int width = 0, height = 0;
};

// Resizes that part with a triangle filter (bilinear; wider where it shrinks) and normalises it as inference
// does.
void write_sample(const PixelView& picture, const Crop& crop, bool mirrored, const SampleShape& target,
                  float* planes);

}  // namespace paceline::workload
