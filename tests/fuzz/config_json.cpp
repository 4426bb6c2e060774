// A fuzz target for config.json: any bytes are a valid model shape, or refused with a BadInput of one line. A shape
// that is read survives writing and reading. See run.sh.
#include <optional>
#include <string_view>

#include "formats/json.h"
#include "models/families/family.h"
#include "tests/fuzz/target.h"

static std::optional<models::Architecture> read_shape(std::string_view text) {
    std::optional<models::Architecture> config;
    refuse_in_a_line([&] { config = models::read_config(formats::parse_json(text, "fuzz", 64), "fuzz"); });
    return config;
}

FUZZ_TARGET(config_json) {
    const auto config = read_shape({reinterpret_cast<const char*>(bytes), size});
    if (!config) return 0;
    config->validate();
    if (models::parameter_count(*config) == 0 || read_shape(models::config_json(*config, 0).dump()) != config)
        std::abort();
    return 0;
}
