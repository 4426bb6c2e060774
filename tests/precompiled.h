// The same for the tests: see cmake/precompiled.h.
#pragma once

#include "cmake/precompiled.h"
#include "tests/catch.h"
