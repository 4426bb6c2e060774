// inkling gradcheck
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "models/gradcheck.h"
#include "nn/gradcheck.h"

namespace inkling::cli {
namespace {

struct GradcheckArguments {
    std::string filter;
    bool json = false;
};

int check_gradients(const GradcheckArguments& args) {
    set_threads(0);
    std::vector<GradcheckRow> rows = gradcheck_ops();
    for (const auto& more : {nn::gradcheck_layers(), nn::gradcheck_attention(), models::gradcheck_models()})
        rows.insert(rows.end(), more.begin(), more.end());
    std::size_t shown = 0, failed = 0;
    for (const GradcheckRow& row : rows) {
        if (row.name.find(args.filter) == std::string::npos) continue;
        const double error = row.worst_error();
        const bool passed = error <= row.bound;
        ++shown;
        failed += !passed;
        if (args.json) {
            const nlohmann::ordered_json line = {
                {"name", row.name}, {"max_rel_error", error}, {"bound", row.bound}, {"passed", passed}};
            print(line.dump() + "\n");
        } else {
            print(fmt::format("{:<44} {:9.2e}  {}\n", row.name, error,
                              passed ? "ok" : fmt::format("FAILED, bound {:g}", row.bound)));
        }
    }
    check<Usage>(shown > 0, "--filter '{}' matches no row: see inkling gradcheck", args.filter);
    if (!args.json) print(fmt::format("{} rows, {} failed\n", shown, failed));
    return failed ? kCheckFailed : 0;
}

}  // namespace

Action add_gradcheck(CLI::App& app) {
    auto args = std::make_shared<GradcheckArguments>();
    app.add_option("--filter", args->filter, "check only rows whose name contains this text");
    app.add_flag("--json", args->json, "print one JSON object per row");
    return [args] { return check_gradients(*args); };
}

}  // namespace inkling::cli
