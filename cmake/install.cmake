# cmake --install installs the program with its manual and shell completion, the library, its headers as
# <inkling/engine/autograd/tensor.h>, and a CMake package. The components are those of the Debian packages (package.cmake).
include(CMakePackageConfigHelpers)

install(TARGETS inkling RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(TARGETS inkling_lib inkling_engine EXPORT inkling-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
if(NOT INKLING_NATIVE)  # the program has its own copy of the library, so that its package is complete
  set(own ${CMAKE_INSTALL_LIBDIR}/inkling)
  install(TARGETS inkling_lib LIBRARY DESTINATION ${own} COMPONENT program NAMELINK_SKIP)
  if(TARGET inkling_lib_v4)
    set(for_v4 glibc-hwcaps/x86-64-v4)
    install(TARGETS inkling_lib_v4 LIBRARY DESTINATION ${own}/${for_v4} COMPONENT program NAMELINK_SKIP)
    install(TARGETS inkling_lib_v4 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${for_v4} COMPONENT library NAMELINK_SKIP)
  endif()
  file(RELATIVE_PATH own ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/inkling)
  set_target_properties(inkling PROPERTIES INSTALL_RPATH "$ORIGIN/${own}")
endif()

install(CODE "execute_process(COMMAND ${PROJECT_SOURCE_DIR}/cmake/manual.sh $<TARGET_FILE:inkling>
                \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1 COMMAND_ERROR_IS_FATAL ANY)"
        COMPONENT program)
set(completion ${PROJECT_SOURCE_DIR}/cli/usage/completion)
install(FILES ${completion}/inkling.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME inkling
        COMPONENT program)
install(FILES ${completion}/inkling.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
set(for_zsh site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(for_zsh vendor-completions)  # for packages; site-functions is the administrator's
endif()
install(FILES ${completion}/_inkling DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${for_zsh} COMPONENT program)

# Headers with vector code are not installed: they depend on -march, and a program compiled with another -march would hold
# two versions of the same functions.
set(vector_code attention_heads attention_operands attention_block convolution_passes unary_op formula decayed array/map
    inference/rows portable_math)
list(JOIN vector_code "|" vector_code)
install(DIRECTORY engine nn formats data models generate distributed train DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/inkling
        COMPONENT development
        FILES_MATCHING PATTERN "*.h" REGEX "/(kernels|mpi)$|/(${vector_code}|launch).h$" EXCLUDE)

# "engine/autograd/tensor.h" becomes "inkling/engine/autograd/tensor.h": folders called data or train are common, and
# the compiler would find a program's own folder instead.
install(CODE "set(headers \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/inkling\")"
        COMPONENT development)
install(CODE [[
  file(GLOB_RECURSE headers "${headers}/*.h")
  foreach(header IN LISTS headers)
    file(READ "${header}" text)
    string(REGEX REPLACE "#include \"(engine|nn|formats|data|models|generate|distributed|train)/" "#include \"inkling/\\1/" text "${text}")
    file(WRITE "${header}" "${text}")
  endforeach()]] COMPONENT development)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/inkling)
install(EXPORT inkling-targets NAMESPACE inkling:: DESTINATION ${package} COMPONENT development)
configure_package_config_file(cmake/inkling-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/inkling-config.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/inkling-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/inkling-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/inkling-config-version.cmake
        cmake/libraries.cmake DESTINATION ${package} COMPONENT development)
