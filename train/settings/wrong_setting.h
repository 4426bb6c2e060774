// Settings that cannot be, of one of them or of several together: the program calls that wrong usage.
#pragma once

#include "engine/base/check.h"

namespace inkling::train {

struct WrongSetting : Error {
    using Error::Error;
};

// Returns body(), where an Error, but not BadInput, is about a setting.
template <class Body>
auto about_settings(const Body& body) {
    try {
        return body();
    } catch (const BadInput&) {
        throw;
    } catch (const WrongSetting&) {
        throw;
    } catch (const Error& e) {
        throw WrongSetting(e.what());
    }
}

}  // namespace inkling::train
