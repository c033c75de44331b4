# SPDX-License-Identifier: MIT
# What `cmake --install` puts into a prefix, and the target `tool` that builds it. The executable finds its plug-ins in
# ../lib/paceline/plugins, so these folders have fixed names.

# paceline_modules_below(folder variable): the shared objects that a folder and those below it define.
function(paceline_modules_below folder variable)
  set(found)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL MODULE_LIBRARY)
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(sub IN LISTS folders)
    paceline_modules_below(${sub} more)
    list(APPEND found ${more})
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

if(NOT TARGET paceline)
  return()
endif()
set(PACELINE_PLUGIN_DESTINATION lib/paceline/plugins)
paceline_modules_below(${PROJECT_SOURCE_DIR}/plugins modules)
add_custom_target(tool DEPENDS paceline ${modules})
install(TARGETS paceline RUNTIME DESTINATION bin)
foreach(module IN LISTS modules)
  install(TARGETS ${module} LIBRARY DESTINATION ${PACELINE_PLUGIN_DESTINATION})
endforeach()

# Completion of shells, the manual page and the JSON schemas: the tool prints them from its own tables.
set(shell_files)
function(paceline_printed file destination)
  set(path ${PROJECT_BINARY_DIR}/share/${file})
  add_custom_command(OUTPUT ${path} COMMAND paceline ${ARGN} > ${path} DEPENDS paceline VERBATIM)
  set(shell_files ${shell_files} ${path} PARENT_SCOPE)
  get_filename_component(folder ${path} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  install(FILES ${path} DESTINATION share/${destination})
endfunction()
paceline_printed(completions/paceline bash-completion/completions completion bash)
paceline_printed(completions/_paceline zsh/site-functions completion zsh)
paceline_printed(completions/paceline.fish fish/vendor_completions.d completion fish)
paceline_printed(paceline.1 man/man1 schema man)
paceline_printed(schemas/plan.schema.json paceline/schemas schema plan)
paceline_printed(schemas/engine_config.schema.json paceline/schemas schema engine-config)
paceline_printed(schemas/result.schema.json paceline/schemas schema result)
add_custom_target(shell_files ALL DEPENDS ${shell_files})
add_dependencies(tool shell_files)

# Manifests too of plug-ins that were not built: they say why.
get_property(manifests GLOBAL PROPERTY PACELINE_MANIFESTS)
install(FILES ${manifests} DESTINATION ${PACELINE_PLUGIN_DESTINATION})

# For plug-ins built elsewhere: find_package(paceline), paceline::plugin_api.
add_library(paceline_plugin_api INTERFACE)
set_target_properties(paceline_plugin_api PROPERTIES EXPORT_NAME plugin_api)
target_include_directories(paceline_plugin_api INTERFACE $<INSTALL_INTERFACE:include/paceline>)
target_compile_features(paceline_plugin_api INTERFACE cxx_std_20)
install(FILES src/plugin/builder.h src/plugin/communicator.h src/plugin/device_probe.h src/plugin/engine.h src/plugin/exporter.h src/plugin/plugin.h src/plugin/rank_group.h src/plugin/sampler.h src/plugin/trainer.h
        DESTINATION include/paceline/plugin)
install(FILES src/base/collective.h src/base/declared_input.h src/base/error.h src/base/random.h src/base/shape_range.h src/base/tensor.h DESTINATION include/paceline/base)
install(TARGETS paceline_plugin_api EXPORT paceline)
install(EXPORT paceline NAMESPACE paceline:: FILE paceline-config.cmake DESTINATION lib/cmake/paceline)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/paceline-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/paceline-config-version.cmake DESTINATION lib/cmake/paceline)

# The scripts that call the tool, for people who know them from other tools; scripts/paceline.sh finds it beside them.
set(scripts analyze_results bench_multi_gpu bench_single_gpu benchmark build_trt_engine export_onnx_resnet50 profile_nsight
            run_distributed run_multi_node run_single_node)
list(TRANSFORM scripts REPLACE "(.+)" "scripts/\\1.sh")
install(PROGRAMS ${scripts} DESTINATION share/paceline/scripts)
install(FILES scripts/paceline.sh DESTINATION share/paceline/scripts)
install(DIRECTORY python notebooks DESTINATION share/paceline PATTERN __pycache__ EXCLUDE)
configure_file(${PROJECT_SOURCE_DIR}/share/topologies.yaml ${PROJECT_BINARY_DIR}/share/paceline/topologies.yaml COPYONLY)
configure_file(${PROJECT_SOURCE_DIR}/share/device_peaks.csv ${PROJECT_BINARY_DIR}/share/paceline/device_peaks.csv COPYONLY)
install(FILES share/topologies.yaml share/device_peaks.csv DESTINATION share/paceline)
install(DIRECTORY examples/ DESTINATION share/paceline/examples)
install(DIRECTORY docs/ DESTINATION share/doc/paceline)
install(FILES LICENSE CHANGELOG.md DESTINATION share/doc/paceline)
