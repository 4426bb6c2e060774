# cmake --install puts down the program, the library, its headers as <inkling/engine/tensor.h>, and a CMake package.
include(CMakePackageConfigHelpers)

install(TARGETS inkling RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})  # the manual, completion for shells
install(TARGETS inkling_lib EXPORT inkling-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# What holds vector code stays out: it depends on -march, and a program compiled with another one would hold two versions
# of the same functions.
install(DIRECTORY engine nn formats data models generate train DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/inkling
        FILES_MATCHING PATTERN "*.h" PATTERN kernels EXCLUDE PATTERN "ops/attention_*.h" EXCLUDE)

# "engine/tensor.h" becomes "inkling/engine/tensor.h": folders called data or train are common, and a program's own would
# be found instead.
install(CODE "set(headers \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/inkling\")")
install(CODE [[
  file(GLOB_RECURSE headers "${headers}/*.h")
  foreach(header IN LISTS headers)
    file(READ "${header}" text)
    string(REGEX REPLACE "#include \"(engine|nn|formats|data|models|generate|train)/" "#include \"inkling/\\1/" text "${text}")
    file(WRITE "${header}" "${text}")
  endforeach()]])

install(EXPORT inkling-targets NAMESPACE inkling:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/inkling)
configure_package_config_file(cmake/inkling-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/inkling-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/inkling)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/inkling-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/inkling-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/inkling-config-version.cmake
        cmake/libraries.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/inkling)
