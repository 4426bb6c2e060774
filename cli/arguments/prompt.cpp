#include "cli/arguments/prompt.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>

#include "cli/common.h"
#include "cli/log.h"
#include "cli/usage/flag_values.h"
#include "data/text/text_source.h"
#include "engine/base/check.h"
#include "formats/files/file.h"
#include "formats/utf8.h"

namespace inkling::cli {

void check_utf8(const PromptText& prompt) {
    const std::size_t invalid = formats::find_invalid_utf8(prompt.text);
    check<BadInput>(invalid == std::string::npos, "{}: not UTF-8: byte {} is 0x{:02X}: convert it first", prompt.source,
                    invalid, static_cast<unsigned char>(invalid < prompt.text.size() ? prompt.text[invalid] : 0));
}

void advise_on_input(bool prompt_given) {
    struct stat input {};
    int waiting = 0;
    if (fstat(STDIN_FILENO, &input) != 0 || ioctl(STDIN_FILENO, FIONREAD, &waiting) != 0 || waiting == 0) return;
    if (S_ISFIFO(input.st_mode) || (S_ISREG(input.st_mode) && !prompt_given))
        spdlog::info("stdin is ignored; use -f - to read the prompt from it");
}

PromptText read_prompt(const std::string& prompt, const std::string& file) {
    if (file.empty()) return {prompt, "--prompt"};
    if (file == "-") return {data::read_standard_input(formats::FileKind::prompt), "standard input"};
    return {formats::read_file(file, formats::FileKind::prompt), file};
}

CLI::Option* add_data_flags(CLI::App& app, DataArguments& args) {
    for (const train::Setting& s : train::settings())
        if (s.is(train::kReadsText)) add_setting(app, s, args)->group("Options");
    return app.get_option("--data");
}

data::Corpus read_data(const DataArguments& args) {
    data::Corpus corpus = data::read_corpus(args.data, args.corpus_options());
    for (const std::string& note : corpus.notes()) spdlog::info("{}", note);
    return corpus;
}

}  // namespace inkling::cli
