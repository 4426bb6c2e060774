# inkling_flags, which every target links; INKLING_FOR_CPU, the library's own flags; INKLING_LIBRARY_KIND.

# Never -ffast-math, and a multiply-add only where the code says so: results are the same to the last bit on every CPU,
# with every compiler.
string(REGEX MATCH "x86_64|AMD64" INKLING_X86 ${CMAKE_SYSTEM_PROCESSOR})
add_library(inkling_flags INTERFACE)
target_compile_options(inkling_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -fno-math-errno
                       -fno-trapping-math -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # false alarms inside GCC's own AVX-512 header, xtensor's svector and std::fill
  target_compile_options(inkling_flags INTERFACE -Wno-uninitialized -Wno-maybe-uninitialized -Wno-array-bounds
                         -Wno-stringop-overflow -Wno-subobject-linkage)
  cmake_host_system_information(RESULT INKLING_MEGABYTES QUERY TOTAL_PHYSICAL_MEMORY)
  if(INKLING_MEGABYTES GREATER 4000)  # GCC looks for memory to free less often: a tenth less time to compile
    target_compile_options(inkling_flags INTERFACE --param=ggc-min-heapsize=524288)
  endif()
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # to GCC, -Wconversion is not about signs
  target_compile_options(inkling_flags INTERFACE -Wno-sign-conversion)
endif()
if(INKLING_WERROR)
  target_compile_options(inkling_flags INTERFACE -Werror)
endif()
if(INKLING_SANITIZE)
  target_compile_options(inkling_flags INTERFACE -fsanitize=${INKLING_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(inkling_flags INTERFACE -fsanitize=${INKLING_SANITIZE})
endif()
# Without INKLING_NATIVE the library is shared, with a version for each kind of CPU; the system's loader chooses. The
# program itself runs on every CPU of its family.
set(INKLING_FOR_CPU "")
set(INKLING_LIBRARY_KIND STATIC)
if(INKLING_NATIVE)
  target_compile_options(inkling_flags INTERFACE
                         $<IF:$<BOOL:${INKLING_X86}>,-march=${INKLING_MARCH},-mcpu=${INKLING_MARCH}>)
else()
  set(INKLING_LIBRARY_KIND SHARED)
  if(INKLING_X86)
    set(INKLING_FOR_CPU -march=x86-64-v3)
  endif()
endif()
