# SPDX-License-Identifier: MIT
# paceline::onnx_proto: message classes of the ONNX format, generated from the distribution's onnx.proto. Their package is
# renamed, so that they never meet the classes that a deep-learning library in the same process brings.
find_package(Protobuf REQUIRED)
find_file(PACELINE_ONNX_PROTO onnx/onnx.proto REQUIRED)
set(generated ${PROJECT_BINARY_DIR}/generated/onnx)
file(MAKE_DIRECTORY ${generated})
file(READ ${PACELINE_ONNX_PROTO} text)
string(REGEX REPLACE "\npackage onnx;" "\npackage paceline_onnx;" text "${text}")
file(CONFIGURE OUTPUT ${generated}/paceline_onnx.proto CONTENT "${text}" @ONLY)
add_custom_command(OUTPUT ${generated}/paceline_onnx.pb.cc ${generated}/paceline_onnx.pb.h
  COMMAND protobuf::protoc --proto_path=${generated} --cpp_out=${generated} ${generated}/paceline_onnx.proto
  DEPENDS ${generated}/paceline_onnx.proto VERBATIM)
# Protobuf's headers beside the generated ones: PyTorch 2.11 has an older protobuf's in its own include folder, and a target with both
# puts this one first (plugins/torch).
set(PACELINE_ONNX_PROTO_INCLUDE_DIR ${generated} CACHE INTERNAL "")
list(GET Protobuf_INCLUDE_DIRS 0 protobuf_include)
file(CREATE_LINK ${protobuf_include}/google ${generated}/google SYMBOLIC)
add_library(paceline_onnx_proto STATIC ${generated}/paceline_onnx.pb.cc)
add_library(paceline::onnx_proto ALIAS paceline_onnx_proto)
target_include_directories(paceline_onnx_proto SYSTEM PUBLIC ${generated})
target_link_libraries(paceline_onnx_proto PUBLIC protobuf::libprotobuf-lite)
