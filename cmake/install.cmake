# cmake --install puts down the program, the library, its headers as <inkling/engine/tensor.h>, and a CMake package.
include(CMakePackageConfigHelpers)

install(TARGETS inkling RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS inkling_lib EXPORT inkling-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY engine nn data models train DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/inkling
        FILES_MATCHING PATTERN "*.h")
install(EXPORT inkling-targets NAMESPACE inkling:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/inkling)
configure_package_config_file(cmake/inkling-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/inkling-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/inkling)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/inkling-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/inkling-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/inkling-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/inkling)
