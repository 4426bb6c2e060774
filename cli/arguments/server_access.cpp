#include "cli/arguments/server_access.h"

#include "cli/usage/wrong_usage.h"
#include "formats/files/file.h"

namespace inkling::cli {

void read_access(const std::string& flag, const std::string& key_file, web::HttpOptions& http) {
    if (!key_file.empty())
        http.keys = web::parse_keys(formats::read_file(key_file, formats::FileKind::prompt), key_file);
    if (!web::is_loopback(http.host) && http.keys.empty() && !http.insecure)
        throw Usage(
            fmt::format("{} {}: anybody who reaches this machine could use it: --api-key-file FILE asks for a "
                        "key, --insecure serves without",
                        flag, http.host));
}

}  // namespace inkling::cli
