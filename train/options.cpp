#include "train/options.h"

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "data/tokenizers/bpe/bpe_train.h"
#include "engine/base/check.h"
#include "engine/base/names.h"
#include "engine/base/suggest.h"
#include "formats/files/file.h"
#include "formats/toml_nesting.h"
#include "formats/utf8.h"
#include "models/families/family.h"

namespace inkling::train {
namespace {

constexpr std::size_t kMaxShards = 4096;

std::string key_of(std::string flag) {
    std::replace(flag.begin(), flag.end(), '-', '_');
    return flag;
}

// Said of one start, not of the run: by the command line alone, never by the config.toml of a run that was started so.
bool is_of_one_start(const std::string& flag) { return flag == "overwrite" || flag == "resume"; }

// A string, or { url = "caf%E9.txt" }, which has the bytes of a name that is not UTF-8.
std::string read_string(const toml::node& node, const std::string& what, const char* required) {
    const toml::node* const url = node.is_table() ? node.as_table()->get("url") : nullptr;
    const bool percent = url && url->is_string() && node.as_table()->size() == 1;
    check<BadInput>(percent || node.is_string(), "{}: {} is required", what, required);
    std::string text = percent ? formats::from_percent(*url->value<std::string>(), what) : *node.value<std::string>();
    // a name with a NUL byte would be cut there
    check<BadInput>(text.find('\0') == std::string::npos, "{}: a text without NUL bytes is required", what);
    return text;
}

template <class Field>
void read_field(const toml::node& node, Field& field, const std::string& flag, const std::string& what) {
    if constexpr (std::is_same_v<Field, std::vector<std::string>>) {
        const toml::array* const list = node.as_array();
        check<BadInput>(list != nullptr, "{}: a list of strings is required", what);
        field.clear();
        for (const auto& item : *list) field.push_back(read_string(item, what, "a list of strings"));
    } else if constexpr (std::is_same_v<Field, std::string>) {
        field = read_string(node, what, "a string");
    } else if constexpr (std::is_enum_v<Field>) {
        field = named<Field>("--" + flag, read_string(node, what, "a string"));
    } else if constexpr (std::is_same_v<Field, bool>) {
        check<BadInput>(node.is_boolean(), "{}: true or false is required", what);
        field = *node.value<bool>();
    } else if constexpr (std::is_same_v<Field, double>) {
        check<BadInput>(node.is_number(), "{}: a number is required", what);
        field = *node.value<double>();
    } else {
        check<BadInput>(node.is_integer() && *node.value<std::int64_t>() >= 0,
                        "{}: a whole number of at least 0 is required", what);
        field = static_cast<Field>(*node.value<std::int64_t>());
    }
}

toml::table parsed(const std::string& text, const std::string& what) {
    formats::check_toml_nesting(text, what);
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& e) {
        std::string reason(e.description());
        std::replace(reason.begin(), reason.end(), '\n', ' ');  // it quotes what was read, with the line's end
        throw BadInput(fmt::format("{}: line {}: {}", what, e.source().begin.line, reason));
    }
}

// In one line: of several lines, or between apostrophes, toml++ writes some that it cannot read again.
void write(std::ostream& out, const std::string& text) {
    using Flags = toml::format_flags;
    const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
        return c == '\'' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    const Flags unsafe =
        plain ? Flags::allow_multi_line_strings : Flags::allow_multi_line_strings | Flags::allow_literal_strings;
    const bool utf8 = formats::find_invalid_utf8(text) == std::string::npos;
    const toml::value<std::string> value(utf8 ? text : formats::to_percent(text));
    if (!utf8) out << "{ url = ";
    out << toml::toml_formatter(value, toml::toml_formatter::default_flags & ~unsafe);
    if (!utf8) out << " }";
}

void write(std::ostream& out, const std::vector<std::string>& texts) {
    out << "[";
    for (std::size_t i = 0; i < texts.size(); ++i) write(out << (i > 0 ? ", " : " "), texts[i]);
    out << (texts.empty() ? "]" : " ]");
}

}  // namespace

models::Architecture TrainOptions::model_config(std::size_t tokens) const {
    models::Architecture a = models::family(arch).defaults(bias);
    a.vocab_size = tokens;
    a.n_layer = n_layer, a.n_head = n_head, a.n_embd = n_embd, a.block_size = block_size;
    a.n_kv_head = n_kv_head == n_head ? 0 : n_kv_head;
    a.n_inner = n_inner == 4 * n_embd ? 0 : n_inner;
    a.head_dim = head_dim * n_head == n_embd ? 0 : head_dim;
    if (rope_theta > 0) a.rope_theta = rope_theta;
    if (softcap >= 0) a.softcap = softcap;
    a.dropout = dropout;
    return a;
}

models::AdapterOptions TrainOptions::adapter_options() const {
    return {.rank = lora_rank, .alpha = lora_alpha, .dropout = lora_dropout, .rank_stabilized = rs_lora};
}

void TrainOptions::validate() const {
    const auto for_family = [&](const char* flag, bool given) {
        check(!given || !init_from.empty() || models::family(arch).has_flag(flag),
              "--{} is not for --arch {}: leave it out", flag, arch);
    };
    for_family("n-inner", n_inner > 0);
    for_family("head-dim", head_dim > 0);
    for_family("rope-theta", rope_theta > 0);
    for_family("softcap", softcap > 0);
    models::Architecture shape = model_config(1);
    if (!init_from.empty()) shape.head_dim = 8, shape.n_kv_head = 0;  // the model that is loaded has its own
    shape.validate();
    visit(*this, [](const std::string& flag, const auto& value, const char*) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::size_t>) {
            check(value <= INT64_MAX, "--{} must be at most {}, got {}", flag, INT64_MAX, value);  // TOML holds no more
        }
    });
    const auto at_least_one = [](const char* flag, std::size_t value) {
        check(value >= 1, "{} must be at least 1, got {}", flag, value);
    };
    for (const auto& [flag, batches] :
         {std::pair{"--gradient-accumulation-steps", gradient_accumulation_steps}, {"--eval-iters", eval_iters}}) {
        const double tokens =
            static_cast<double>(batch_size) * static_cast<double>(block_size) * static_cast<double>(batches);
        check(tokens <= 0x1p53, "--batch-size times --block-size times {} must be at most {:.0f} tokens, got {:.3g}",
              flag, 0x1p53, tokens);
    }
    at_least_one("--batch-size", batch_size);
    at_least_one("--gradient-accumulation-steps", gradient_accumulation_steps);
    at_least_one("--log-every", log_every);
    check(shards >= 1 && shards <= kMaxShards && (shards & (shards - 1)) == 0,
          "--shards must be a power of two from 1 to {}, got {}", kMaxShards, shards);
    check(batch_size % shards == 0, "--batch-size must be a multiple of --shards, got {} and {}", batch_size, shards);
    check(vocab_size >= data::smallest_bpe_vocab && vocab_size <= 10'000'000,
          "--vocab-size must be between {} and 10000000, got {}", data::smallest_bpe_vocab, vocab_size);
    check(byte_fallback != data::ByteFallback::always || tokenizer == "char" || !init_from.empty(),
          "--byte-fallback always is for --tokenizer char, got {}", tokenizer);
    const auto in_range = [](const char* flag, double value, double low, double high) {
        check(std::isfinite(value) && value >= low && value <= high, "{} must be between {} and {}, got {}", flag, low,
              high, value);
    };
    in_range("--learning-rate", learning_rate, 0, 1e6);
    in_range("--min-lr", min_lr, 0, 1e6);
    for (const auto& [flag, rate] :
         {std::pair{"--embedding-lr", embedding_lr}, {"--head-lr", head_lr}, {"--vector-lr", vector_lr}}) {
        in_range(flag, rate, 0, 1e6);
        check(rate == 0 || optimizer != OptimizerKind::sgd, "{} is for --optimizer adamw and muon, got sgd", flag);
        check(rate == 0 || learning_rate > 0, "{} needs a --learning-rate above 0, whose schedule it follows", flag);
    }
    check(lora_rank == 0 || !init_from.empty(),
          "--lora-rank is for a model that exists: name it with --init-from MODEL");
    check(lora_rank <= 65536, "--lora-rank must be at most 65536, got {}", lora_rank);
    in_range("--lora-alpha", lora_alpha, -1e6, 1e6);
    in_range("--lora-dropout", lora_dropout, 0, 0.999999999);
    in_range("--rope-theta", rope_theta, 0, 1e30);
    in_range("--softcap", softcap, -1, 1e30);
    in_range("--decay-fraction", decay_fraction, 0, 1);
    in_range("--momentum", momentum, 0, 0.999999999);
    check(ns_steps >= 1 && ns_steps <= 100, "--ns-steps must be between 1 and 100, got {}", ns_steps);
    in_range("--ema", ema, 0, 0.999999999);
    in_range("--skip-spikes", skip_spikes, 0, 1e6);
    in_range("--weight-decay", weight_decay, 0, 1e6);
    in_range("--beta1", beta1, 0, 0.999999999);
    in_range("--beta2", beta2, 0, 0.999999999);
    in_range("--grad-clip", grad_clip, 0, 1e30);
    in_range("--max-time", max_time, 0, 1e9);
    in_range("--val-fraction", val_fraction, 0, 0.9);
    check(!out.empty(), "--out must name a directory");
}

std::set<std::string> read_toml(const std::filesystem::path& path, TrainOptions& options) {
    return parse_toml(formats::read_file(path, formats::FileKind::toml), path.string(), options);
}

std::set<std::string> parse_toml(const std::string& text, const std::string& what, TrainOptions& options) {
    const toml::table table = parsed(text, what);
    std::set<std::string> read;
    std::vector<std::string> known;
    TrainOptions::visit(options, [&](const std::string& flag, auto& field, const char*) {
        const std::string key = key_of(flag);
        known.push_back(key);
        const toml::node* const node = table.get(key);
        if (node && !is_of_one_start(flag)) {
            read_field(*node, field, flag, what + ": " + key);
            read.insert(flag);
        }
    });
    for (const auto& [key, node] : table) {
        if (std::count(known.begin(), known.end(), key.str()) > 0) continue;
        throw BadInput(
            fmt::format("{}: unknown key '{}'{}", what, shown_name(key.str()), did_you_mean(key.str(), known)));
    }
    return read;
}

std::string to_toml(const TrainOptions& options) {
    std::ostringstream out;
    TrainOptions::visit(options, [&](const std::string& flag, const auto& field, const char*) {
        using Field = std::decay_t<decltype(field)>;
        if (is_of_one_start(flag)) return;
        out << key_of(flag) << " = ";
        if constexpr (std::is_same_v<Field, std::vector<std::string>> || std::is_same_v<Field, std::string>) {
            write(out, field);
        } else if constexpr (std::is_enum_v<Field>) {
            write(out, std::string(name_of(field)));
        } else if constexpr (std::is_same_v<Field, double>) {
            out << fmt::format("{}", field + 0.0);  // the shortest text that reads back; "-0" would be read as 0
        } else {
            out << fmt::format("{}", field);
        }
        out << "\n";
    });
    return out.str();
}

std::map<std::string, std::string> toml_values(const std::string& text, const std::string& what) {
    std::map<std::string, std::string> values;
    for (const auto& [key, node] : parsed(text, what)) {
        std::ostringstream out;
        if (node.is_floating_point()) {
            out << fmt::format("{}", *node.value<double>());
        } else {
            node.visit([&](const auto& value) { out << value; });
        }
        values.emplace(key.str(), out.str());
    }
    return values;
}

nlohmann::ordered_json settings_json(const TrainOptions& options) {
    nlohmann::ordered_json settings;
    TrainOptions::visit(options, [&](const std::string& flag, const auto& value, const char*) {
        if constexpr (std::is_enum_v<std::decay_t<decltype(value)>>)
            settings[key_of(flag)] = name_of(value);
        else
            settings[key_of(flag)] = value;
    });
    return settings;
}

}  // namespace inkling::train
