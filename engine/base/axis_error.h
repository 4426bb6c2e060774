// Thrown by every op that names an axis which its tensor does not have. In Python it is an IndexError, too.
#pragma once

#include "engine/base/check.h"

namespace inkling {

struct AxisError : Error {
    using Error::Error;
};

}  // namespace inkling
