# The program: pages and servers, the commands, main(). For the tests, also a program over the sanitized library.

# Pages and servers are a separate library that is not installed, so that other programs need no HTTP library.
file(GLOB_RECURSE INKLING_SERVE_SOURCES CONFIGURE_DEPENDS web/*.cpp)
file(GLOB_RECURSE INKLING_CLI_SOURCES CONFIGURE_DEPENDS cli/*.cpp distributed/launch.cpp)
list(FILTER INKLING_CLI_SOURCES EXCLUDE REGEX "/cli/main.cpp$")
# The program contains the parts of pages.
file(GLOB INKLING_PART_FILES CONFIGURE_DEPENDS web/report/pages/*)
foreach(file IN LISTS INKLING_PART_FILES)
  cmake_path(GET file FILENAME part)
  file(READ ${file} text)
  string(APPEND INKLING_PARTS "        {\"${part}\", R\"inkling(${text})inkling\"},\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endforeach()
configure_file(web/report/parts.cpp.in generated/web/report/parts.cpp @ONLY)
list(APPEND INKLING_SERVE_SOURCES ${PROJECT_BINARY_DIR}/generated/web/report/parts.cpp)
# Line editing for `inkling chat`; without it, lines are read unedited.
find_path(EDITLINE_INCLUDE_DIR editline/readline.h)
find_library(EDIT_LIBRARY edit)
set(INKLING_CLI_LIBRARIES spdlog::spdlog tomlplusplus::tomlplusplus ${CMAKE_DL_LIBS})
if(EDITLINE_INCLUDE_DIR AND EDIT_LIBRARY)
  list(APPEND INKLING_CLI_LIBRARIES ${EDIT_LIBRARY})
endif()

# Reuses the precompiled header of the library's other files, which has the same level of optimization; a header for
# another CPU would not fit.
function(inkling_reuse_header target library)
  if(INKLING_FOR_CPU)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
  else()
    target_precompile_headers(${target} REUSE_FROM ${library}_rest)
  endif()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} BEFORE PRIVATE -fno-semantic-interposition $<$<CONFIG:Release>:-O1>)
endfunction()
function(inkling_serve_library library)
  add_library(${library}_serve STATIC ${INKLING_SERVE_SOURCES})
  target_link_libraries(${library}_serve PUBLIC ${library} PRIVATE inkling_flags
                        tomlplusplus::tomlplusplus)  # the precompiled header needs its definitions
  target_compile_options(${library}_serve PRIVATE ${ARGN})
  inkling_reuse_header(${library}_serve ${library})
  set_target_properties(${library}_serve PROPERTIES UNITY_BUILD ${INKLING_UNITY} UNITY_BUILD_BATCH_SIZE 32)
endfunction()
function(inkling_program name library)
  add_executable(${name} ${ARGN} cli/main.cpp $<TARGET_OBJECTS:inkling_commands>)
  target_link_libraries(${name} PRIVATE ${library}_serve inkling_flags ${INKLING_CLI_LIBRARIES})
  if(TARGET inkling_mpi)
    add_dependencies(${name} inkling_mpi)
  endif()
endfunction()

inkling_serve_library(inkling_lib)
# The commands, which only read flags and print: for the programs, and as a library for Python's module.
add_library(inkling_commands OBJECT ${INKLING_CLI_SOURCES})
target_compile_definitions(inkling_commands PRIVATE INKLING_VERSION="${PROJECT_VERSION}"
                           $<$<AND:$<BOOL:${EDITLINE_INCLUDE_DIR}>,$<BOOL:${EDIT_LIBRARY}>>:INKLING_LIBEDIT>)
if(TARGET inkling_mpi)
  target_compile_definitions(inkling_commands PRIVATE "INKLING_MPI_PLACES=${INKLING_MPI_PLACES}")
endif()
target_link_libraries(inkling_commands PRIVATE inkling_lib_serve inkling_flags spdlog::spdlog CLI11::CLI11
                      tomlplusplus::tomlplusplus)
inkling_reuse_header(inkling_commands inkling_lib)
set_target_properties(inkling_commands PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 30)
add_library(inkling_cli STATIC $<TARGET_OBJECTS:inkling_commands>)
set_target_properties(inkling_cli PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(inkling_cli PUBLIC inkling_lib_serve PRIVATE ${INKLING_CLI_LIBRARIES})
inkling_program(inkling inkling_lib)
if(TARGET inkling_lib_v4)
  add_dependencies(inkling inkling_lib_v4)
endif()
# Targets that Python's module links if it is built from this folder (python/CMakeLists.txt).
export(TARGETS inkling_lib inkling_lib_serve inkling_cli inkling_flags FILE inkling-built.cmake)

# The commands and the tests are not compiled again for the sanitizers. If they hold the same inline function, the linker
# keeps the first, the library's.
if(INKLING_SANITIZED_TESTS)
  inkling_serve_library(inkling_lib_sanitized ${INKLING_SANITIZED_FLAGS})
  inkling_program(inkling_sanitized inkling_lib_sanitized
                  $<TARGET_OBJECTS:inkling_lib_sanitized> $<TARGET_OBJECTS:inkling_lib_sanitized_rest>)
  target_compile_options(inkling_sanitized PRIVATE ${sanitizers})
endif()
