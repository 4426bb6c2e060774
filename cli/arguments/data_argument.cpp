#include "cli/arguments/data_argument.h"

#include "cli/common.h"
#include "cli/log.h"
#include "cli/usage/setting_flag.h"

namespace inkling::cli {

CLI::Option* add_data_flags(CLI::App& app, DataArguments& args) {
    for (const train::Setting& s : train::settings(args)) {
        if (!s.is(train::kReadsText)) continue;
        add_setting(app, s)->group("Options");
    }
    return app.get_option("--data");
}

data::Corpus read_data(const DataArguments& args) {
    data::Corpus corpus = data::read_corpus(args.data, args.text);
    for (const std::string& note : corpus.notes()) spdlog::info("{}", note);
    return corpus;
}

}  // namespace inkling::cli
