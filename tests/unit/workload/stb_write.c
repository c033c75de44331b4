/* SPDX-License-Identifier: MIT */
/* Pictures for tests. */
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
