# SPDX-License-Identifier: MIT
# paceline_plugin_manifest(torch FILE libpaceline_torch.so BRINGS "engine eager" "trainer cpu" BUILT_FOR "LibTorch=2.15.0" REASON "…")
# writes lib/paceline/plugins/<name>.json: what the tool can say of a plug-in without loading it. REASON set = not built.
# BRINGS: role, name and, where it is not DEVICE, the device of each capability (src/plugin/capability.h). DEVICE: cpu unless given,
# cuda, or any (they answer for themselves). Beside the CMakeLists.txt, options.json has the options of its engines and samplers,
# and engines.json the files of its engines (docs/engine-plugins.md).
set(PACELINE_PLUGIN_DIR ${CMAKE_BINARY_DIR}/lib/paceline/plugins)
function(paceline_plugin_manifest name)
  cmake_parse_arguments(PARSE_ARGV 1 m "" "FILE;REASON;FIX;DEVICE" "BRINGS;BUILT_FOR")
  if(NOT m_DEVICE)
    set(m_DEVICE cpu)
  endif()
  if(PACELINE_BUNDLE AND m_REASON)  # who has it has no build folder
    set(m_FIX "build Paceline from its sources: ${m_FIX}")
  endif()
  list(TRANSFORM m_BRINGS REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE capabilities)
  list(JOIN capabilities ", " capabilities)
  set(versions "")
  foreach(v IN LISTS m_BUILT_FOR)
    string(REPLACE "=" "\": \"" v "${v}")
    list(APPEND versions "\"${v}\"")
  endforeach()
  list(JOIN versions ", " versions)
  foreach(declared options engines)
    set(${declared} "[]")
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${declared}.json)
      file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${declared}.json ${declared})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${declared}.json)
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${PACELINE_PLUGIN_DIR}/${name}.json @ONLY CONTENT
"{\"name\": \"${name}\", \"file\": \"${m_FILE}\", \"capabilities\": [${capabilities}], \"device\": \"${m_DEVICE}\", \"built_for\": {${versions}}, \"not_built_because\": \"${m_REASON}\", \"fix\": \"${m_FIX}\", \"options\": ${options}, \"about_engines\": ${engines}}
")
  set_property(GLOBAL APPEND PROPERTY PACELINE_MANIFESTS ${PACELINE_PLUGIN_DIR}/${name}.json)
endfunction()

# paceline_add_plugin(torch SOURCES … LIBRARIES … BRINGS … BUILT_FOR …): one .so behind paceline_plugin().
function(paceline_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 p "" "DEVICE" "SOURCES;LIBRARIES;BRINGS;BUILT_FOR")
  add_library(paceline_plugin_${name} MODULE ${p_SOURCES})
  target_include_directories(paceline_plugin_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/plugins)
  target_link_libraries(paceline_plugin_${name} PRIVATE paceline::plugin paceline::warnings ${p_LIBRARIES})
  paceline_compile_together(paceline_plugin_${name} 40)
  paceline_optimise_less(paceline_plugin_${name})  # the time is spent in the library behind it
  set_target_properties(paceline_plugin_${name} PROPERTIES
    OUTPUT_NAME paceline_${name} LIBRARY_OUTPUT_DIRECTORY ${PACELINE_PLUGIN_DIR})
  paceline_plugin_manifest(${name} FILE libpaceline_${name}.so DEVICE "${p_DEVICE}" BRINGS ${p_BRINGS} BUILT_FOR ${p_BUILT_FOR})
endfunction()

# paceline_decide(TORCH TITLE LibTorch ROOT "${found}"): is a plug-in built? Sets TORCH_PROBLEM (empty: yes) and TORCH_FIX from
# PACELINE_PLUGIN_TORCH (AUTO, ON, OFF), PACELINE_TORCH_ROOT and what was found; ON without the library ends the configuration.
function(paceline_decide name)
  cmake_parse_arguments(PARSE_ARGV 1 d "" "TITLE;ROOT" "")
  string(TOUPPER "${PACELINE_PLUGIN_${name}}" wanted)
  set(problem "")
  set(fix "")
  if(NOT wanted OR wanted STREQUAL "OFF")
    set(problem "switched off (-DPACELINE_PLUGIN_${name}=OFF)")
    set(fix "configure with -DPACELINE_PLUGIN_${name}=AUTO")
  elseif(NOT d_ROOT)
    set(problem "no ${d_TITLE} found")
    if(PACELINE_${name}_ROOT)
      string(APPEND problem " in ${PACELINE_${name}_ROOT}")
    endif()
    set(fix "run scripts/setup.sh, or configure with -DPACELINE_${name}_ROOT=<folder with its headers and libraries>")
  endif()
  if(problem AND wanted STREQUAL "ON")
    message(FATAL_ERROR "PACELINE_PLUGIN_${name}=ON, but ${problem}: ${fix}")
  endif()
  set(${name}_PROBLEM "${problem}" PARENT_SCOPE)
  set(${name}_FIX "${fix}" PARENT_SCOPE)
endfunction()
