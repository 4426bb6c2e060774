// Invalid settings, one alone or several together. The program reports wrong usage.
#pragma once

#include "engine/base/check.h"

namespace inkling::train {

struct WrongSetting : Error {
    using Error::Error;
};

// Returns body(); turns an Error, except BadInput, into a WrongSetting.
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
