// New arrays that are not initialised hold whatever their memory did. While this is on, as it is in debug builds, each
// element of them is a NaN (of ids -1), so that one that is read before it was written is seen in the result.
#pragma once

namespace inkling {

extern bool poison_new_buffers;

}  // namespace inkling
