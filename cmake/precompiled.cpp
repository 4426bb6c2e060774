// Compiles precompiled.h, once for the whole library.
