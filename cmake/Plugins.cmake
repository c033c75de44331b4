# SPDX-License-Identifier: MIT
# paceline_plugin_manifest(torch FILE libpaceline_torch.so ENGINES eager;torchscript BUILT_FOR "LibTorch=2.15.0" REASON "…")
# writes lib/paceline/plugins/<name>.json: what the tool can say of a plug-in without loading it. REASON set = not built.
set(PACELINE_PLUGIN_DIR ${CMAKE_BINARY_DIR}/lib/paceline/plugins)
function(paceline_plugin_manifest name)
  cmake_parse_arguments(PARSE_ARGV 1 m "" "FILE;REASON;FIX" "ENGINES;BUILT_FOR")
  set(engines "")
  foreach(e IN LISTS m_ENGINES)
    list(APPEND engines "\"${e}\"")
  endforeach()
  list(JOIN engines ", " engines)
  set(versions "")
  foreach(v IN LISTS m_BUILT_FOR)
    string(REPLACE "=" "\": \"" v "${v}")
    list(APPEND versions "\"${v}\"")
  endforeach()
  list(JOIN versions ", " versions)
  file(CONFIGURE OUTPUT ${PACELINE_PLUGIN_DIR}/${name}.json @ONLY CONTENT
"{\"name\": \"${name}\", \"file\": \"${m_FILE}\", \"engines\": [${engines}], \"built_for\": {${versions}}, \"not_built_because\": \"${m_REASON}\", \"fix\": \"${m_FIX}\"}
")
endfunction()

# paceline_add_plugin(torch SOURCES … LIBRARIES … ENGINES … BUILT_FOR …): one .so behind paceline_plugin().
function(paceline_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 p "" "" "SOURCES;LIBRARIES;ENGINES;BUILT_FOR")
  add_library(paceline_plugin_${name} MODULE ${p_SOURCES})
  target_include_directories(paceline_plugin_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/plugins)
  target_link_libraries(paceline_plugin_${name} PRIVATE paceline::plugin paceline::warnings ${p_LIBRARIES})
  set_target_properties(paceline_plugin_${name} PROPERTIES
    OUTPUT_NAME paceline_${name} LIBRARY_OUTPUT_DIRECTORY ${PACELINE_PLUGIN_DIR})
  paceline_plugin_manifest(${name} FILE libpaceline_${name}.so ENGINES ${p_ENGINES} BUILT_FOR ${p_BUILT_FOR})
endfunction()
