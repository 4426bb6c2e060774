# inkling_httplib: cpp-httplib as Debian's libcpp-httplib-dev has it, compiled, with TLS and compression, of which its
# classes are larger; its CMake package is there in Debian 13 alone.
if(NOT TARGET inkling_httplib)
  find_path(HTTPLIB_INCLUDE_DIR httplib.h)
  find_library(HTTPLIB_LIBRARY cpp-httplib)
  mark_as_advanced(HTTPLIB_INCLUDE_DIR HTTPLIB_LIBRARY)
  if(NOT HTTPLIB_INCLUDE_DIR OR NOT HTTPLIB_LIBRARY)
    message(FATAL_ERROR "cpp-httplib was not found: install libcpp-httplib-dev")
  endif()
  add_library(inkling_httplib INTERFACE)
  target_include_directories(inkling_httplib SYSTEM INTERFACE ${HTTPLIB_INCLUDE_DIR})
  target_link_libraries(inkling_httplib INTERFACE ${HTTPLIB_LIBRARY})
  target_compile_definitions(inkling_httplib INTERFACE
    CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT CPPHTTPLIB_BROTLI_SUPPORT)
endif()
