// A fuzz target for config.toml: any bytes are settings or refused in one line. Settings that are read survive writing
// and reading. See run.sh.
#include <optional>
#include <string>

#include "tests/fuzz/target.h"
#include "train/settings/settings.h"

static std::optional<std::string> read_settings(const std::string& text) {
    std::optional<std::string> written;
    refuse_in_a_line<Error>([&] {  // BadInput, or a name that a kind does not have
        written = train::to_toml(train::parse_toml(text, "fuzz").options);
    });
    return written;
}

FUZZ_TARGET(settings_toml) {
    const auto written = read_settings({reinterpret_cast<const char*>(bytes), size});
    if (written && read_settings(*written) != written) std::abort();
    return 0;
}
