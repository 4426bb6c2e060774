# Finds libraries that have no CMake package in every Debian, under the names that their own CMake packages use. Also part
# of the installed package.
#
# find_with_header(TARGET HEADER LIBRARY DEBIAN_PACKAGE)
function(find_with_header target header library package)
  if(TARGET ${target})
    return()
  endif()
  string(MAKE_C_IDENTIFIER "${library}" name)
  find_path(${name}_include_dir ${header})
  find_library(${name}_library ${library})
  mark_as_advanced(${name}_include_dir ${name}_library)
  if(NOT ${name}_include_dir OR NOT ${name}_library)
    message(FATAL_ERROR "${header} and lib${library} were not found: install ${package}")
  endif()
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${${name}_library}"
                        INTERFACE_INCLUDE_DIRECTORIES "${${name}_include_dir}")
endfunction()

find_with_header(PCRE2::8BIT pcre2.h pcre2-8 libpcre2-dev)
find_with_header(utf8proc::utf8proc utf8proc.h utf8proc libutf8proc-dev)
find_with_header(zstd::libzstd_shared zstd.h zstd libzstd-dev)
find_with_header(nettle::nettle nettle/sha2.h nettle nettle-dev)
