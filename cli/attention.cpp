// inkling attention
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/arguments/model_argument.h"
#include "cli/arguments/output_file.h"
#include "cli/arguments/prompt.h"
#include "cli/common.h"
#include "cli/log.h"
#include "cli/terminal/attention_terminal.h"
#include "cli/terminal/terminal.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/wrong_usage.h"
#include "formats/ascii.h"
#include "formats/files/file.h"
#include "formats/named.h"
#include "generate/utf8_stream.h"
#include "web/report/attention_page.h"

namespace inkling::cli {
namespace {

struct AttentionArguments {
    ModelArgument model;
    WeightFlags weights;
    OutputFile out;
    std::string prompt, prompt_file, format, head;
    std::size_t threads = 0;
    bool json = false, strict = false;
    CLI::Option* prompt_option = nullptr;
};

constexpr const char* kFormats = "html, svg, json or text (a heatmap)";

std::string choose_format(const AttentionArguments& args) {
    if (args.json) return "json";
    if (!args.format.empty()) return args.format;
    if (args.out.path.empty() || args.out.path == "-") return "text";
    const std::string ending = formats::lower(std::filesystem::path(args.out.path).extension().string());
    for (const auto& [known, format] : {std::pair(".html", "html"),
                                        {".htm", "html"},
                                        {".svg", "svg"},
                                        {".json", "json"},
                                        {".text", "text"},
                                        {".txt", "text"}})
        if (ending == known) return format;
    throw Usage(
        fmt::format("--out {}: unknown file extension: choose a format with --format {}", args.out.path, kFormats));
}

// "L.H", both from 0.
std::optional<HeadIndex> parse_head(const std::string& text) {
    if (text.empty()) return std::nullopt;
    const std::size_t dot = std::min(text.find('.'), text.size());
    const auto layer = formats::parse_number<std::size_t>(std::string_view(text).substr(0, dot)),
               head = formats::parse_number<std::size_t>(std::string_view(text).substr(std::min(dot + 1, text.size())));
    check<Usage>(layer && head, "--head must be LAYER.HEAD, both counted from 0, such as 0.3, got {}", text);
    return HeadIndex{*layer, *head};
}

Terminal terminal_of_stdout() {
    Terminal terminal;
    terminal.columns = terminal_columns(STDOUT_FILENO);
    const bool is_terminal = isatty(STDOUT_FILENO) != 0;
    const char *const plain = std::getenv("NO_COLOR"), *const kind = std::getenv("TERM");
    terminal.colour =
        is_terminal && (plain == nullptr || *plain == '\0') && (kind == nullptr || std::string_view(kind) != "dumb");
    return terminal;
}

std::string in_terminal(const AttentionMap& map, std::optional<HeadIndex> only, const Terminal& terminal) {
    if (only) return terminal_picture(map, *only, terminal);
    std::string text;
    for (std::size_t i = 0; i < map.layers * map.heads; ++i)
        text += (i > 0 ? "\n" : "") + terminal_picture(map, {i / map.heads, i % map.heads}, terminal);
    return text;
}

int show_attention(const AttentionArguments& args) {
    const std::string format = choose_format(args);
    std::optional<HeadIndex> only = parse_head(args.head);
    const bool to_stdout = args.out.path.empty() || args.out.path == "-";
    check<Usage>(!args.prompt_file.empty() || args.prompt_option->count() > 0,
                 "a prompt is required: give --prompt TEXT or --prompt-file FILE");
    if (!to_stdout) {
        args.out.check_format(format);
        args.out.check_inputs({args.prompt_file, args.model.model});
    }
    const bool nothing_asked = args.out.path.empty() && args.format.empty() && !args.json && !only;
    if (nothing_asked) only = HeadIndex{0, 0};
    set_threads(args.threads);
    const auto [model, tokenizer] = load_current(args.model, {args.weights.type_for(args.model.weights()), true});
    tokenizer->take_unknown(args.strict);
    const std::size_t layers = model->config.n_layer, heads = model->config.n_head;
    check<Usage>(!only || (only->layer < layers && only->head < heads),
                 "--head {}: the model has layers 0 to {} and heads 0 to {}", args.head, layers - 1, heads - 1);
    const PromptText prompt = read_prompt(args.prompt, args.prompt_file);
    const AttentionMap map = formats::named(prompt.source, [&, &model = model, &tokenizer = tokenizer] {
        return web::attention_map(generate::to_valid_utf8(args.model.name()), *model, *tokenizer, prompt.text, only);
    });
    say_replaced(*tokenizer);

    const Terminal terminal = to_stdout ? terminal_of_stdout() : Terminal{.columns = 1'000'000};
    const std::string content = format == "html"   ? web::attention_page(map, only.value_or(HeadIndex{0, 0}))
                                : format == "svg"  ? web::attention_svg(map, only)
                                : format == "json" ? web::attention_json(map)
                                                   : in_terminal(map, only, terminal);
    if (to_stdout) {
        print_codes(content);  // labels are already visible()
        if (nothing_asked)
            spdlog::info("this is one of {} heads: another with --head LAYER.HEAD, all with --out FILE.html",
                         layers * heads);
    } else {
        formats::write_file_atomic(args.out.path, content);
        spdlog::info("wrote {}: layers {}, heads {}, tokens {}", args.out.path, map.layers, map.heads,
                     map.tokens.size());
    }
    constexpr std::size_t kHeavy = 64 << 20;
    if (content.size() > kHeavy) spdlog::info("it has {} MB: a shorter prompt makes it smaller", content.size() >> 20);
    return 0;
}

}  // namespace

Action add_attention(CLI::App& app) {
    auto args = std::make_shared<AttentionArguments>();
    add_model_flags(app, args->model);
    args->prompt_option = app.add_option("-p,--prompt", args->prompt, "text whose attention weights to show");
    offer(*app.add_option("-f,--prompt-file", args->prompt_file, "file with the text; -: stdin"), {kFiles})
        ->excludes(args->prompt_option);
    add_output_flags(app, args->out, "-o,--out", "file to write; -: stdout");
    CLI::Option* const format =
        app.add_option("--format", args->format,
                       fmt::format("{}; default: by the extension of --out, else text", kFormats))
            ->check(refuse_other_than({"html", "svg", "json", "text"}));
    app.add_option("--head", args->head, "show only this head, counted from 0.0; in JSON all others are null")
        ->type_name("LAYER.HEAD");
    app.add_flag("--json", args->json, "print all weights as one JSON object, as --format json")->excludes(format);
    add_weight_flags(app, args->weights);
    app.add_flag("--strict-vocabulary", args->strict, kStrictHelp);
    app.add_option("--threads", args->threads, "maximum number of threads; 0: one for each physical core");
    return [args] { return show_attention(*args); };
}

}  // namespace inkling::cli
