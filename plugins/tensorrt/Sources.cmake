# SPDX-License-Identifier: MIT
# The plug-in's sources, which its tests compile against a double of the headers too.
set(TENSORRT_PLUGIN_SOURCES plugin.cc library.cc message_log.cc tensors.cc network.cc build_options.cc plan_builder.cc
    driver.cc gpu.cc plan_file.cc plan_shapes.cc plan_slot.cc plan_engine.cc inspector.cc ../support/engine_checks.cc
    ../support/layer_work.cc ../support/layer_medians.cc)
list(TRANSFORM TENSORRT_PLUGIN_SOURCES PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
