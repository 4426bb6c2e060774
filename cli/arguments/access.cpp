#include "cli/arguments/access.h"

#include "formats/files/file.h"

namespace inkling::cli {

void read_access(const std::string& flag, const std::vector<std::string>& allow_hosts, const std::string& key_file,
                 web::HttpOptions& http) {
    for (const std::string& host : allow_hosts)
        http.allow_hosts.push_back(parse_flag("--allow-host", host, web::parse_host));
    if (!key_file.empty())
        http.keys = web::parse_keys(formats::read_file(key_file, formats::FileKind::prompt), key_file);
    check<Usage>(web::is_loopback(http.host) || !http.keys.empty() || http.insecure,
                 "{} {}: every machine that reaches this one could use it: require a key with --api-key-file FILE, or "
                 "allow it with "
                 "--insecure",
                 flag, http.host);
}

}  // namespace inkling::cli
