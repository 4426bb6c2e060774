#include "cli/arguments/data_argument.h"

#include "cli/common.h"

namespace inkling::cli {

void take_several(CLI::Option& option) {
    option.take_all()->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args();
}

CLI::Option* add_data_flags(CLI::App& app, DataArguments& args) {
    CLI::Option* const data = app.add_option("--data,data", args.data, data::CorpusOptions::data_help);
    take_several(*data);
    data::CorpusOptions::visit(args.options, [&](const std::string& flag, auto& field, const char* help) {
        using Field = std::decay_t<decltype(field)>;
        if constexpr (std::is_same_v<Field, bool>)
            app.add_flag("--" + flag, field, help);
        else if constexpr (std::is_same_v<Field, std::string>)
            app.add_option("--" + flag, field, help);
        else
            app.add_option("--" + flag, field, help)->take_all()->expected(1)->allow_extra_args(false);
    });
    return data;
}

data::Corpus read_data(const DataArguments& args) {
    data::Corpus corpus = data::read_corpus(args.data, args.options);
    for (const std::string& note : corpus.notes()) say(note);
    return corpus;
}

}  // namespace inkling::cli
