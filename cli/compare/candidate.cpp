#include "cli/compare/candidate.h"

#include "cli/common.h"
#include "cli/log.h"
#include "data/text/content_hash.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "generate/utf8_stream.h"
#include "models/files/adapter_folder.h"
#include "train/recipes/recipes.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;

// Hash of all files of a model, an adapter with its base, or a tokenizer.
std::string hash_of_files(const fs::path& path) {
    const bool model = models::holds_model(path) || formats::is_there(path / "latest");
    data::ContentHash hash;
    const auto add = [&](const fs::path& file) {
        const formats::MappedFile content(file);
        hash.add_text({reinterpret_cast<const char*>(content.data()), content.size()});
    };
    for (const fs::path& part : model ? models::model_parts(models::find_model(path)) : std::vector{path}) {
        if (!formats::is_folder(part)) {
            add(part);
            continue;
        }
        for (const std::string& name : formats::names_in(part))
            if (fs::is_regular_file(part / name)) add(part / name);
    }
    return fmt::format("{:016x}", hash.value());
}

train::TextOfRuns* text_of(const train::TrainOptions& options, Texts& texts) {
    std::string key;
    for (const train::Setting& s : train::settings())
        if (s.is(train::kReadsText)) key += s.toml(options) + "\n";
    auto& text = texts[key];
    if (!text) {
        text = std::make_unique<train::TextOfRuns>();
        text->corpus = train::read_text(options);
        for (const std::string& note : text->corpus.notes()) spdlog::info("{}", note);
    }
    return text.get();
}

}  // namespace

Candidate make_candidate(const std::string& file, const TrainFlags& flags, Texts& texts) {
    Candidate c{file, generate::to_valid_utf8(fs::path(file).stem().string()), flags.config(), ""};
    train::TrainOptions& o = c.config.options;
    const std::string toml = formats::read_file(file, formats::FileKind::toml);
    c.config.fill(train::parse_toml(toml, file));
    o.config = file;
    const auto has = [&](const char* flag) { return c.config.is_given(flag); };
    check<Usage>(has("max-flops") || has("max-iters") || has("max-time"),
                 "a budget is required: --max-flops 2e13, about a minute on two fast cores, or --max-iters");
    if (o.recipe.empty())  // the default of `train`
        o.recipe = train::default_recipe(!has("data"), has("init-from") || has("init-adapter")).name;
    c.text = text_of(o, texts);
    auto given = flags.texts();
    given["recipe"] = {o.recipe};
    nlohmann::ordered_json identity = {{"inkling", INKLING_VERSION},
                                       {"text", fmt::format("{:016x}", c.text->corpus.hash())},
                                       {"file", toml},
                                       {"flags", given}};
    std::vector<std::string> inputs = o.teacher;
    inputs.insert(inputs.end(), {o.init_from, o.init_adapter});
    if (!find_named<data::TokenizerKind>(o.tokenizer)) inputs.push_back(o.tokenizer);
    for (const std::string& path : inputs)
        if (!path.empty() && formats::is_there(path)) identity["files"].push_back(hash_of_files(path));
    c.identity = formats::json_text(identity);
    return c;
}

std::string comparison_of(const fs::path& run) {
    const fs::path card = run / "run.json";
    if (!formats::is_there(card)) return "";
    const nlohmann::json facts = formats::json_or_null(formats::read_file(card, formats::FileKind::json));
    const auto found = facts.find("comparison");
    return found != facts.end() && found->is_string() ? found->get<std::string>() : "";
}

void check_identity(const Candidate& c, const fs::path& where, const std::string& then) {
    if (then == c.identity) return;
    const nlohmann::json before = formats::json_or_null(then), now = formats::json_or_null(c.identity);
    const auto differs = [&](const char* key) { return before.contains(key) && before[key] != now[key]; };
    const std::string what = before.is_null() ? "an unfinished run that is not part of this comparison"
                             : !before.is_object() || differs("inkling") ? "runs of another version of Inkling"
                             : differs("text")                           ? "runs of another text"
                             : differs("files")                          ? "runs from another model or tokenizer"
                                                : "runs of other settings than " + c.file + " and these flags";
    throw Usage(fmt::format("{}: holds {}: choose another --out", where.string(), what));
}

}  // namespace inkling::cli
