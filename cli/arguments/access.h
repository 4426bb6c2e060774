// The flags that say who may use a server: of `serve`, and of `train --serve`.
#pragma once

#include <string>
#include <vector>

#include "cli/common.h"
#include "web/http/http.h"

namespace inkling::cli {

// Returns parse(text), the value of a flag. Its Error becomes a Usage that names the flag.
template <class Parse>
auto parse_flag(const char* flag, const std::string& text, const Parse& parse) {
    try {
        return parse(text);
    } catch (const Error& e) {
        throw Usage(fmt::format("{}: {}", flag, e.what()));
    }
}

// Who may use a server: reads --allow-host, and --api-key-file, if given. Throws Usage, naming `flag`, for an address
// that other machines reach with neither keys nor --insecure.
void read_access(const std::string& flag, const std::vector<std::string>& allow_hosts, const std::string& key_file,
                 web::HttpOptions& http);

}  // namespace inkling::cli
