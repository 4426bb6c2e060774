// Fills new uninitialized arrays with NaN (ids with -1), so that reading an element before writing it shows in the
// result. On by default in debug builds.
#pragma once

namespace inkling {

extern bool poison_new_buffers;

}  // namespace inkling
