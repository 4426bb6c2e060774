# PCRE2::8BIT, as PCRE2's own CMake package names it; Debian's libpcre2-dev has none. Also part of the installed package.
if(NOT TARGET PCRE2::8BIT)
  find_path(PCRE2_INCLUDE_DIR pcre2.h)
  find_library(PCRE2_8_LIBRARY pcre2-8)
  mark_as_advanced(PCRE2_INCLUDE_DIR PCRE2_8_LIBRARY)
  if(NOT PCRE2_INCLUDE_DIR OR NOT PCRE2_8_LIBRARY)
    message(FATAL_ERROR "PCRE2 (8 bit) was not found: install libpcre2-dev")
  endif()
  add_library(PCRE2::8BIT UNKNOWN IMPORTED)
  set_target_properties(PCRE2::8BIT PROPERTIES IMPORTED_LOCATION "${PCRE2_8_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${PCRE2_INCLUDE_DIR}")
endif()
