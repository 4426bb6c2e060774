// Flags made from the list of settings (train/settings.h).
//   for (const train::Setting& s : train::settings(options)) add_setting(app, s);
#pragma once

#include <CLI/CLI.hpp>

#include "cli/common.h"
#include "train/settings.h"

namespace inkling::cli {

// `setting` must stay bound. Its default in --help is the value that it has now.
CLI::Option* add_setting(CLI::App& app, const train::Setting& setting);

// Returns body(), and makes an Error, but not BadInput, a Usage: the settings ask for something that cannot be.
template <class Body>
auto as_usage(const Body& body) {
    try {
        return body();
    } catch (const BadInput&) {
        throw;
    } catch (const Usage&) {
        throw;
    } catch (const Error& e) {
        throw Usage(e.what());
    }
}

}  // namespace inkling::cli
