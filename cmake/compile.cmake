# How the library's files are compiled: in groups, with precompiled headers, the hot ones optimized and the rest quickly.

# Many files are compiled together, so that their headers and templates are compiled once; ops, which change often, only
# a few together. Some files stay alone: those that take long to compile; regex.cpp, because GCC would warn about its
# types; create.cpp, because clang refuses to instantiate its members of Tensor in the file that instantiates the class.
file(GLOB_RECURSE INKLING_ALONE CONFIGURE_DEPENDS engine/fused/attention.cpp engine/kernels/gemm*.cpp
     engine/kernels/block_*.cpp engine/array/array.cpp engine/array/gemm.cpp engine/autograd/create.cpp engine/autograd/debug/print.cpp data/tokenizers/split/regex.cpp)
set_source_files_properties(${INKLING_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# Each loop of the products begins at a line of the cache, so that its speed does not change with the code before it.
set_source_files_properties(engine/kernels/gemm_blocks.cpp PROPERTIES COMPILE_OPTIONS
                            "-falign-functions=64;-falign-loops=64")
set(INKLING_UNITY ON)
if(INKLING_SANITIZE MATCHES "fuzzer")  # a target links only the files that it needs: fewer counters to search
  set(INKLING_UNITY OFF)
endif()
# inkling_group(NAME SIZE SOURCES...): compiles at most SIZE of these together.
function(inkling_group name size)
  set(place 0)
  foreach(source IN LISTS ARGN)
    math(EXPR group "${place} / ${size}")
    math(EXPR place "${place} + 1")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${name}_${group})
  endforeach()
endfunction()
# inkling::engine consists of the groups ops, engine and nn.
set(ops ${INKLING_HOT_SOURCES})
list(FILTER ops INCLUDE REGEX "/engine/(ops|fused|more)/")
set(engine ${INKLING_HOT_SOURCES})
list(FILTER engine INCLUDE REGEX "/engine/|/train/optimizers/")
list(FILTER engine EXCLUDE REGEX "/engine/(ops|fused|more)/")
set(nn ${INKLING_SOURCES})
list(FILTER nn INCLUDE REGEX "/nn/|/train/step/schedule.cpp$")
set(others ${INKLING_HOT_SOURCES} ${INKLING_SOURCES})
list(REMOVE_ITEM others ${ops} ${engine} ${nn})
inkling_group(ops 4 ${ops})
inkling_group(engine 24 ${engine})
inkling_group(nn 32 ${nn})
inkling_group(others 32 ${others})
set_source_files_properties(engine/autograd/debug/print.cpp PROPERTIES COMPILE_OPTIONS
                            $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)  # a false alarm in xtensor's printing

# inkling_interface(TARGET): the requirements for linking the library.
function(inkling_interface target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC xtensor OpenMP::OpenMP_CXX fmt::fmt $<BUILD_INTERFACE:xsimd>)
endfunction()
# inkling_compile(TARGET FLAGS...): compiles a part of the library. Each target has its own precompiled header, because GCC
# compiles a file at its precompiled header's level of optimization, whatever the command says.
function(inkling_compile target)
  inkling_interface(${target})
  target_link_libraries(${target}
    PUBLIC nlohmann_json::nlohmann_json
    PRIVATE tomlplusplus::tomlplusplus PCRE2::8BIT utf8proc::utf8proc ZLIB::ZLIB zstd::libzstd_shared nettle::nettle
            $<BUILD_INTERFACE:inkling_flags>)
  target_compile_options(${target} PRIVATE ${ARGN} -fno-semantic-interposition)
  target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
  # Python's module links the same objects; its functions and those of a shared library call each other directly.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${INKLING_UNITY} UNITY_BUILD_MODE GROUP
                        POSITION_INDEPENDENT_CODE ON)
endfunction()
# inkling_library(NAME KIND REST FLAGS...): a library of the hot files, compiled with FLAGS, and the objects of REST.
function(inkling_library name kind rest)
  add_library(${name} ${kind} ${INKLING_HOT_SOURCES} $<TARGET_OBJECTS:${rest}>)
  inkling_compile(${name} ${ARGN})
  if(kind STREQUAL "SHARED")
    set(major_minor ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${major_minor})
    target_link_options(${name} PRIVATE -Wl,-Bsymbolic-functions)
  endif()
endfunction()
# inkling_rest(NAME FLAGS...): -O1 compiles in half of the time, and runs as fast because the engine has the hot loops.
function(inkling_rest name)
  add_library(${name} OBJECT ${INKLING_SOURCES})
  inkling_compile(${name} $<$<CONFIG:Release>:-O1> ${ARGN})
endfunction()
