# utf8proc::utf8proc; Debian's libutf8proc-dev has no CMake package. Also part of the installed package.
if(NOT TARGET utf8proc::utf8proc)
  find_path(UTF8PROC_INCLUDE_DIR utf8proc.h)
  find_library(UTF8PROC_LIBRARY utf8proc)
  mark_as_advanced(UTF8PROC_INCLUDE_DIR UTF8PROC_LIBRARY)
  if(NOT UTF8PROC_INCLUDE_DIR OR NOT UTF8PROC_LIBRARY)
    message(FATAL_ERROR "utf8proc was not found: install libutf8proc-dev")
  endif()
  add_library(utf8proc::utf8proc UNKNOWN IMPORTED)
  set_target_properties(utf8proc::utf8proc PROPERTIES IMPORTED_LOCATION "${UTF8PROC_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${UTF8PROC_INCLUDE_DIR}")
endif()
