// The same for the commands: see precompiled.h.
#pragma once

#include <CLI/CLI.hpp>

#include "cmake/precompiled.h"
