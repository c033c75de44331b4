// SPDX-License-Identifier: MIT
#pragma once
// Which TensorRT the double stands for: 8 (only its headers), 10 or 11.
#ifndef NV_TENSORRT_MAJOR
#define NV_TENSORRT_MAJOR 11
#endif
#define NV_TENSORRT_MINOR 4
#define NV_TENSORRT_PATCH 2
