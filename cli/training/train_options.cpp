#include "cli/training/train_options.h"

#include <fmt/ranges.h>

#include "cli/common.h"

namespace inkling::cli {

std::vector<train::Setting> all_settings(TrainArguments& args) {
    using namespace train;
    std::vector<Setting> all = settings(args.given);
    const std::vector<Setting> of_one_start = {
        {"recipe", &args.recipe, Group::run, kUsual | kOneStart,
         fmt::format("named settings, which other flags override: {}; default: stories without --data, finetune with "
                     "--init-from or --init-adapter, else fast",
                     fmt::join(recipe_names(), ", ")),
         recipe_names()},
        {"config", &args.config, Group::run, kUsual | kOneStart | kTakesFile,
         "settings from a TOML file, such as a run's config.toml"},
        {"serve", &args.serve, Group::run, kUsual | kOneStart,
         "[HOST:]PORT of a page that shows the run while it trains; on loopback, the default, it also asks for samples "
         "and stops the run"},
        {"allow-host", &args.allow_hosts, Group::run, kUsual | kOneStart,
         "with --serve: another name for this machine in requests; repeatable"},
        {"api-key-file", &args.key_file, Group::run, kUsual | kOneStart | kTakesFile,
         "with --serve: file with keys, one on a line; the page asks for one of them"},
        {"insecure", &args.insecure, Group::run, kUsual | kOneStart,
         "with --serve: listen on other addresses than this machine's own without keys"},
        {"dry-run", &args.dry_run, Group::run, kUsual | kOneStart,
         "print the parameters, memory, work and time of the run, and stop"},
        {"json", &args.json, Group::run, kUsual | kOneStart, "print progress on stdout, one JSON object per line"},
        {"quiet", &args.quiet, Group::run, kUsual | kOneStart, "print only warnings and errors on stderr"},
        {"processes", &args.processes, Group::run, kOneStart,
         "with --dry-run: number of processes that mpirun will start, for the memory of each"},
        {"broadcast-data", &args.broadcast_data, Group::run, kOneStart,
         "with several processes: the first reads the text and sends it to the others"},
        {"force", &args.force, Group::run, kOneStart,
         "resume even if the text, the tokenizer or settings have changed"},
    };
    all.insert(all.end(), of_one_start.begin(), of_one_start.end());
    return all;
}

train::RunSettings read_given(const TrainArguments& args) {
    train::RunSettings s;
    s.processes = args.processes, s.force = args.force;
    s.flags = args.flags;
    return train::about_settings([&] {
        if (!args.recipe.empty()) s.recipe = &train::recipe(args.recipe);
        s.from_file = !args.config.empty();
        if (s.from_file) s.given = train::read_toml(args.config, s.options);
        train::TrainOptions flags = args.given;
        train::copy_settings(args.flags, flags, s.options);
        s.given.insert(args.flags.begin(), args.flags.end());
        return s;
    });
}

}  // namespace inkling::cli
