// Who may use a server, for --host of `serve` and --serve of `train`.
#pragma once

#include <string>

#include "web/http/http.h"

namespace inkling::cli {

// Reads the keys of --api-key-file, if given. Throws Usage, naming `flag`, for an address that other machines reach
// with neither keys nor --insecure.
void read_access(const std::string& flag, const std::string& key_file, web::HttpOptions& http);

}  // namespace inkling::cli
