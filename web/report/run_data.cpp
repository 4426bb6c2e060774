#include "web/report/run_data.h"

#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "data/chat/chat_template.h"
#include "data/stories/stories.h"
#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "formats/utf8.h"
#include "generate/utf8_stream.h"
#include "models/files/folder.h"
#include "models/parameters.h"
#include "train/run/chain.h"
#include "train/run/metrics.h"
#include "train/run/run_folder.h"
#include "train/settings/settings.h"
#include "web/report/attention_map.h"
#include "web/report/attention_page.h"
#include "web/report/jsonl.h"

namespace inkling::web {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kColumns[] = {"step",      "loss",  "val_loss", "bits_per_byte", "lr",
                                    "grad_norm", "tok_s", "train_s",  "elapsed_s"};

// The lines as columns. Thins more than `max_points` lines to every nth, the last, and those with an evaluation.
Json columns(const std::vector<Json>& lines, std::size_t max_points) {
    Json result = Json::object();
    for (const char* key : kColumns) result[key] = Json::array();
    const std::size_t every = (lines.size() + max_points - 1) / std::max<std::size_t>(1, max_points);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const Json& line = lines[i];
        const bool evaluated = line.contains("val_loss") && line["val_loss"].is_number();
        if (!line.contains("step") || !line["step"].is_number()) continue;
        if (i % std::max<std::size_t>(1, every) != 0 && !evaluated && i + 1 != lines.size()) continue;
        for (const char* key : kColumns) {
            const auto found = line.find(key);
            result[key].push_back(found != line.end() && found->is_number() ? *found : Json());
        }
    }
    return result;
}

// Returns read(); if the file is damaged or missing, adds a note and returns null.
template <class Read>
Json or_note(Json& notes, const Read& read) {
    try {
        return read();
    } catch (const std::exception& e) {
        notes.push_back(e.what());
        return nullptr;
    }
}

Json settings_of(const fs::path& run) { return train::settings_json(train::read_toml(run / "config.toml").options); }

Json model_of(const fs::path& run) {
    const fs::path folder = models::find_model(run);
    const models::Architecture c = models::load_config(folder);
    return {{"folder", fs::weakly_canonical(folder).filename().string()},
            {"arch", c.family},
            {"parameters", models::parameter_count(c)},
            {"n_layer", c.n_layer},
            {"n_head", c.n_head},
            {"n_kv_head", c.kv_heads()},
            {"n_embd", c.n_embd},
            {"block_size", c.block_size},
            {"vocab_size", c.vocab_size}};
}

Json tokenizer_of(const fs::path& run) {
    constexpr std::size_t kLongest = 16;
    const auto tokenizer = models::open_tokenizer(run);
    std::vector<std::string> tokens;
    std::size_t bytes = 0;
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(tokenizer->vocab_size()); ++id) {
        tokens.push_back(tokenizer->decode_more(std::span(&id, 1)));
        bytes += tokens.back().size();
    }
    const auto longer = [](const std::string& a, const std::string& b) { return a.size() > b.size(); };
    std::stable_sort(tokens.begin(), tokens.end(), longer);
    Json longest = Json::array();
    for (std::size_t i = 0; i < std::min(kLongest, tokens.size()); ++i)
        longest.push_back({{"text", visible(tokens[i])}, {"bytes", tokens[i].size()}});
    return {{"kind", name_of(tokenizer->kind())},
            {"vocab_size", tokens.size()},
            {"mean_bytes", tokens.empty() ? 0.0 : static_cast<double>(bytes) / static_cast<double>(tokens.size())},
            {"longest", longest}};
}

// Keys of one type that the page's scripts compute with.
struct Typed {
    const char* kind;
    bool (Json::*fits)() const noexcept;
    std::vector<const char*> keys;
};
using Types = std::vector<Typed>;
const Types kCard = {{"a text", &Json::is_string, {"inkling", "base_model", "started", "ended", "stop_reason"}},
                     {"a number",
                      &Json::is_number,
                      {"parameters", "trained_parameters", "vocab_size", "tokens", "text_bytes", "threads",
                       "val_loss_before", "peak_memory_bytes"}},
                     {"an object", &Json::is_object, {"machine"}}};
const Types kMachine = {{"a text", &Json::is_string, {"cpu"}},
                        {"a number", &Json::is_number, {"cores", "memory_bytes"}}};
const Types kSample = {{"a text", &Json::is_string, {"prompt", "text"}}, {"a number", &Json::is_number, {"step"}}};

// Leaves out values that are neither null nor of their type, with a note.
void drop_misfits(const std::string& what, Json& object, const Types& types, Json& notes) {
    for (const auto& [kind, fits, keys] : types)
        for (const char* const key : keys) {
            const auto found = object.find(key);
            if (found == object.end() || found->is_null() || ((*found).*fits)()) continue;
            notes.push_back(
                fmt::format("{}: {} must be {}, got {}", what, key, kind, formats::json_text(*found).substr(0, 100)));
            object.erase(found);
        }
}

Json card_of(const fs::path& run, Json& notes) {
    if (!formats::is_there(run / "run.json")) return nullptr;  // a run of an older version
    const std::string what = (run / "run.json").string();
    Json card = formats::json_or_null(formats::read_file(what, formats::FileKind::json));
    check<BadInput>(card.is_object(), "{}: expected a JSON object", what);
    drop_misfits(what, card, kCard, notes);
    if (card.contains("machine")) drop_misfits(what + ": machine", card["machine"], kMachine, notes);
    if (const auto base = card.find("base_model"); base != card.end()) *base = formats::file_name(*base).value_or("");
    return card;
}

// The stretches that `verify --replay` trained again, as [from, to], while the run has the weights in which they ended.
Json replayed_of(const fs::path& run) {
    Json stretches = Json::array();
    std::set<std::string> weights;
    for (const train::ChainLine& line : train::read_chain(run))
        for (const auto& [name, hash] : line.files) weights.insert(hash);
    for (const std::string& text : train::lines_of(run / "replayed.jsonl")) {
        const auto line = formats::json_or_null(text);
        if (line.is_object() && weights.contains(line.at("sha256")))
            stretches.push_back({line.at("from"), line.at("step")});
    }
    return stretches;
}

double tokens_per_step(const Json& settings) {
    double product = 1;
    for (const char* key : {"batch_size", "block_size", "gradient_accumulation_steps"})
        product *= settings.value(key, 1.0);
    return product;
}

}  // namespace

Json run_page(const std::vector<Json>& runs, const Json& heads, const Json& live) {
    return {
        {"runs", runs}, {"defaults", train::settings_json(train::TrainOptions{})}, {"heads", heads}, {"live", live}};
}

Json run_facts(const fs::path& run, bool tokenizer) {
    Json data, notes = Json::array();
    data["settings"] = or_note(notes, [&] { return settings_of(run); });
    data["tokens_per_step"] = data["settings"].is_object() ? Json(tokens_per_step(data["settings"])) : Json();
    const bool saved = !train::find_checkpoints(run).empty();
    data["model"] = saved ? or_note(notes, [&] { return model_of(run); }) : Json();
    data["tokenizer"] = saved && tokenizer ? or_note(notes, [&] { return tokenizer_of(run); }) : Json();
    data["card"] = or_note(notes, [&] { return card_of(run, notes); });
    data["replayed"] = or_note(notes, [&] { return replayed_of(run); });
    if (data["settings"].is_object() && data["settings"]["data"].empty()) data["floor"] = data::stories_nats_per_char;
    data["notes"] = notes;
    return data;
}

Json run_data(const fs::path& run, const RunDataOptions& options) {
    const std::string path = run.string();
    check<BadInput>(formats::is_folder(run), "{}: {}: the folder of a run is required", path,
                    formats::is_there(run) ? "this is a file" : "there is no such folder");
    check<BadInput>(train::holds_run(run), "{}: holds no run: a folder with metrics.jsonl is required", path);
    const std::string name = (run / "").parent_path().filename().string();  // also of a path that ends in a slash
    Json data = {{"name", generate::to_valid_utf8(name)}, {"folder", path}};
    Cursor cursor = Cursor::parse(options.cursor);
    const auto metrics_file = run / "metrics.jsonl", samples_file = run / "samples.jsonl";
    const bool fresh =
        cursor.metrics.file == 0 || !cursor.metrics.continues(metrics_file) || !cursor.samples.continues(samples_file);
    if (fresh) cursor = {};
    Json notes = Json::array();
    data["fresh"] = fresh;
    data["metrics"] = columns(read_lines(metrics_file, cursor.metrics, notes), options.max_points);
    std::vector<Json> samples = read_lines(samples_file, cursor.samples, notes);
    for (Json& sample : samples) drop_misfits(samples_file.string(), sample, kSample, notes);
    data["samples"] = std::move(samples);
    const auto checkpoints = train::find_checkpoints(run);
    const std::uint64_t newest = checkpoints.empty() ? 0 : train::step_of(checkpoints.front());
    const bool changed = fresh || newest != cursor.checkpoint;
    cursor.checkpoint = newest;
    data["cursor"] = cursor.text();
    if (changed) {
        Json facts = run_facts(run, options.tokenizer);
        for (Json& note : facts["notes"]) notes.push_back(std::move(note));
        data.update(facts);
    }
    data["notes"] = notes;
    return data;
}

namespace {

// The lowest number of a column; NaN if it has none.
double lowest(const Json& run, const char* key) {
    double result = std::numeric_limits<double>::quiet_NaN();
    for (const Json& value : run["metrics"][key])
        if (value.is_number()) result = std::fmin(result, value.get<double>());
    return result;
}

double last_loss(const Json& run) {
    const Json& losses = run["metrics"]["loss"];
    for (auto it = losses.rbegin(); it != losses.rend(); ++it)
        if (it->is_number()) return it->get<double>();
    return std::numeric_limits<double>::infinity();
}

}  // namespace

void sort_best_first(std::vector<Json>& runs) {
    const auto has = [](const char* key) { return [key](const Json& run) { return !std::isnan(lowest(run, key)); }; };
    const char* const key = std::all_of(runs.begin(), runs.end(), has("bits_per_byte")) ? "bits_per_byte" : "val_loss";
    const auto rest = std::stable_partition(runs.begin(), runs.end(), has(key));
    std::stable_sort(runs.begin(), rest, [&](const Json& a, const Json& b) { return lowest(a, key) < lowest(b, key); });
    std::stable_sort(rest, runs.end(), [](const Json& a, const Json& b) { return last_loss(a) < last_loss(b); });
}

// Where the first turn begins behind a system message that the template writes by itself; else 0.
static std::size_t behind_system_message(const std::string& text, const data::Tokenizer& tokenizer) {
    if (!tokenizer.chat) return 0;
    try {
        const data::ChatTemplate form = data::ChatTemplate::of(tokenizer);
        const auto asked = [&](const char* content) {
            const data::ChatMessage message{"user", content};
            return form.encode(std::span(&message, 1), tokenizer);
        };
        const std::vector<std::int32_t> a = asked("a"), b = asked("b");
        const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
        const std::string before = tokenizer.decode(std::span(a.begin(), differ));
        const std::int32_t end = form.end_of_turn();
        const std::string mark = tokenizer.decode(std::span(&end, 1));
        const std::size_t last = before.rfind(mark);
        if (last == std::string::npos || !text.starts_with(before)) return 0;
        return text.find_first_not_of("\n ", last + mark.size());
    } catch (const BadInput&) {  // no usable template
        return 0;
    }
}

std::string usual_prompt(const Json& run, const data::Tokenizer& tokenizer, std::size_t context) {
    constexpr std::size_t kTokens = 32, kBytes = 4000;
    for (auto sample = run["samples"].rbegin(); sample != run["samples"].rend(); ++sample) {
        const Json prompt = sample->value("prompt", Json("")), text = sample->value("text", Json(""));
        if (!prompt.is_string() || !text.is_string()) continue;
        std::string all = prompt.get<std::string>() + text.get<std::string>();
        all.erase(0, all.find_first_not_of("\n"));
        all.erase(0, behind_system_message(all, tokenizer));
        all.resize(cut_text(all, kBytes).size());
        all.resize(std::min(all.size(), formats::find_invalid_utf8(all)));
        std::vector<std::int32_t> ids = tokenizer.encode(all);  // whole tokens, so that no special token is cut
        if (ids.size() > std::min(kTokens, context)) {
            ids.resize(std::min(kTokens, context));
            all = tokenizer.decode(ids);
            all.resize(std::min(all.size(), formats::find_invalid_utf8(all)));
        }
        if (!all.empty()) return all;
    }
    return "";
}

Json run_heads(const Json& run, const models::LoadedModel& loaded, std::string prompt) {
    loaded.tokenizer->unknown = std::make_shared<data::UnknownCharacters>();
    if (prompt.empty()) prompt = usual_prompt(run, *loaded.tokenizer, loaded.model->config.block_size);
    if (prompt.empty()) return {{"prompt", ""}, {"heads", nullptr}};
    const auto map = attention_map(run["name"].get<std::string>(), *loaded.model, *loaded.tokenizer, prompt);
    return {{"prompt", prompt}, {"heads", attention_data(map)}};
}

}  // namespace inkling::web
