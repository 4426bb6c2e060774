# cmake --build build --target package: inkling, libinkling and libinkling-dev as Debian packages, in the build folder.
# They are for every x86-64 CPU from AVX2 on; a build for only this machine's CPU makes them in a second build inside its
# folder.
if(INKLING_NATIVE)
  set(launcher "")
  if(CCACHE)
    set(launcher -DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE})
  endif()
  add_custom_target(package
    COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${PROJECT_BINARY_DIR}/package -G ${CMAKE_GENERATOR}
            -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DINKLING_NATIVE=OFF -DINKLING_TESTS=OFF
            -DINKLING_WERROR=${INKLING_WERROR} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} ${launcher}
            -DINKLING_PACKAGES=${PROJECT_BINARY_DIR}
    COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR}/package --target package
    USES_TERMINAL VERBATIM)
  return()
endif()
set(INKLING_PACKAGES ${PROJECT_BINARY_DIR} CACHE PATH "Where packages are put")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${INKLING_PACKAGES})
set(CPACK_PACKAGE_NAME inkling)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Inkling authors <inkling@users.noreply.github.com>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own summary

set(same "libinkling (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME inkling)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "trains small language models on a CPU, and writes text with them
A command that trains GPT-style models on text of one's own, or on stories
that it makes up, writes text with them, serves them over HTTP, and shows what
they attend to. It reads and writes model folders of Hugging Face's
transformers, and GGUF files. The same command gives the same model to the
last bit.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libinkling)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "reverse-mode automatic differentiation over xtensor arrays
Arrays, operations with their gradients, layers, and the transformers that
inkling trains. Compiled for AVX2 and for AVX-512, of which the system takes
what the CPU has. A CPU without AVX2 is refused.")

# CPack's own file would name the library once for each kind of CPU.
file(WRITE ${PROJECT_BINARY_DIR}/debian/shlibs
     "libinkling ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} libinkling (= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/shlibs ${PROJECT_BINARY_DIR}/debian/triggers)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libinkling-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${same}, libxtensor-dev, libfmt-dev, librandom123-dev, nlohmann-json3-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "headers of Inkling, and its CMake package
What a C++20 program needs that uses automatic differentiation, layers and
models of Inkling: find_package(inkling), target inkling::inkling.")

set(released "Mon, 23 Nov 2026 00:00:00 +0000")
configure_file(cmake/debian/changelog.in ${PROJECT_BINARY_DIR}/debian/changelog @ONLY)
execute_process(COMMAND gzip -9nkf ${PROJECT_BINARY_DIR}/debian/changelog COMMAND_ERROR_IS_FATAL ANY)
foreach(component program library development)
  string(TOUPPER ${component} upper)
  install(FILES cmake/debian/copyright ${PROJECT_BINARY_DIR}/debian/changelog.gz
          DESTINATION share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} COMPONENT ${component})
endforeach()
include(CPack)
