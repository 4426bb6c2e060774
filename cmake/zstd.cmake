# zstd::libzstd_shared, as zstd's own CMake package names it, which not every system has. Also part of the installed
# package.
if(NOT TARGET zstd::libzstd_shared)
  find_path(ZSTD_INCLUDE_DIR zstd.h)
  find_library(ZSTD_LIBRARY zstd)
  mark_as_advanced(ZSTD_INCLUDE_DIR ZSTD_LIBRARY)
  if(NOT ZSTD_INCLUDE_DIR OR NOT ZSTD_LIBRARY)
    message(FATAL_ERROR "zstd was not found: install libzstd-dev")
  endif()
  add_library(zstd::libzstd_shared UNKNOWN IMPORTED)
  set_target_properties(zstd::libzstd_shared PROPERTIES IMPORTED_LOCATION "${ZSTD_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${ZSTD_INCLUDE_DIR}")
endif()
