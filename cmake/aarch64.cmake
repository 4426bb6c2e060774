# Builds for 64-bit ARM on another machine, with Debian's g++-aarch64-linux-gnu and its libraries for arm64. The kernel
# runs the results through qemu, which tests/arm64.sh registers.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(INKLING_MARCH generic CACHE STRING "every 64-bit ARM: this machine's CPU is none")
