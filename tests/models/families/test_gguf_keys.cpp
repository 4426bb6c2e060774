// Keys of GGUF files that llama.cpp reads: which are read, have no effect or are refused here, family by family, with
// llama.cpp's logits, ids and ends of a text (tests/reference/make_gguf_keys.py).

#include "models/files/gguf/gguf_tokenizer.h"
#include "models/files/weight_files.h"
#include "tests/models/folders.h"
#include "tests/models/transformers.h"
#include "tests/support/gguf.h"

namespace {

const std::string kRead = "read", kNeutral = "neutral", kRefused = "refused", kByValue = "by value";

// Behind the name of an architecture, for all families ("") but the named ones. The rest is neutral: llama.cpp reads
// these keys for other architectures, or for types of scaling that are refused.
const json kUses = json::parse(R"({
    "attention.causal": "refused", "attention.head_count": "by value", "attention.head_count_kv": "by value",
    "attention.key_length": "read", "attention.key_length_swa": {"": "neutral", "gemma3": "refused"},
    "attention.sliding_window": "read", "attention.sliding_window_pattern": {"": "neutral", "gemma3": "by value"},
    "attention.value_length": "read", "attention.value_length_swa": {"": "neutral", "gemma3": "refused"},
    "expert_count": "refused", "expert_used_count": "refused", "feed_forward_length": "by value",
    "final_logit_softcapping": {"": "neutral", "gemma3": "refused"}, "nextn_predict_layers": "refused",
    "rope.dimension_count": {"": "refused", "gpt2": "neutral", "gptneox": "read"},
    "rope.dimension_count_swa": {"": "neutral", "gemma3": "refused"},
    "rope.freq_base": {"": "read", "gpt2": "neutral"}, "rope.freq_base_swa": {"": "neutral", "gemma3": "read"},
    "rope.scale_linear": {"": "read", "gpt2": "neutral"},
    "rope.scaling.attn_factor": {"": "refused", "gpt2": "neutral"},
    "rope.scaling.factor": {"": "read", "gpt2": "neutral"}, "rope.scaling.type": {"": "by value", "gpt2": "neutral"},
    "use_parallel_residual": {"": "neutral", "gptneox": "read"}, "general.type": "refused", "split.count": "read",
    "split.no": "read"})");

std::string use_of(const std::string& key, const std::string& family) {
    const json use = kUses.value(key.starts_with(family + ".") ? key.substr(family.size() + 1) : key, json(kNeutral));
    return use.is_string() ? use : use.value(family, use[""]);
}

void set_key(formats::GgufWriter& out, const std::string& key, const json& value) {
    if (value.is_boolean()) out.set_bool(key, value);
    if (value.is_number_integer()) out.set_u32(key, value);
    if (value.is_number_float()) out.set_f32(key, value);
    if (value.is_string()) out.set_text(key, value.get<std::string>());
    if (!value.is_array()) return;
    if (value.at(0).is_boolean() || value.at(0).is_number_integer())
        out.set_i32s(key, value.get<std::vector<std::int32_t>>());
    if (value.at(0).is_number_float()) out.set_f32s(key, value.get<std::vector<float>>());
    if (value.at(0).is_string()) out.set_texts(key, value.get<std::vector<std::string>>());
}

// The keys of all objects; a later one changes a value, or removes it by null.
void set_keys(formats::GgufWriter& out, std::initializer_list<json> objects) {
    json all = json::object();
    for (const json& one : objects) all.update(one);
    for (const auto& [key, value] : all.items()) set_key(out, key, value);
}

class TinyModels {
  public:
    std::vector<float> logits(const std::string& family, const json& keys) const {
        const auto loaded = read_gguf([&](auto& out) { fill(out, family, keys); },
                                      [](const auto& path) { return models::load_model(path); });
        const auto ids = row_of(all["ids"].get<std::vector<std::int32_t>>());
        const ConstArray<float> logits = loaded.model->forward(ids).value().contiguous();
        return {logits.data() + logits.size() - logits.dim(2), logits.data() + logits.size()};
    }

    const json all = reference("gguf/keys.json");

  private:
    void fill(formats::GgufWriter& out, const std::string& family, const json& keys) const {
        out.set_text("general.architecture", family);
        set_keys(out, {all["vocabulary"], all["keys"][family], keys});
        const json& tensors = all["families"][family];
        std::size_t k = 0;
        const auto add = [&](const std::string& name, const std::vector<std::size_t>& sizes) {
            const Shape shape(sizes.begin(), sizes.end());
            std::vector<float> values(size_of(shape), name.ends_with("norm.weight") ? 1.0f : 0.0f);
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] += (static_cast<float>((37 * i + 101 * k) % 255) - 127.0f) / 256.0f;
            out.add(name, formats::GgufType::F32, shape, array_of(values));
            ++k;
        };
        for (const json& t : tensors["top"]) add(t[0], t[1]);
        for (std::size_t i = 0; i < tensors["layers"].get<std::size_t>(); ++i)
            for (const json& t : tensors["layer"])
                add("blk." + std::to_string(i) + "." + t[0].get<std::string>(), t[1]);
    }
};

// llama.cpp looks gelu up in a table of float16.
void check_close(const std::string& family, const std::vector<float>& ours, const json& theirs) {
    const bool gelu = family.starts_with("g");
    REQUIRE(ours.size() == theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i)
        CHECK(static_cast<double>(ours[i]) == Approx(theirs[i].get<double>()).margin(gelu ? 1e-2 : 2e-4));
}

}  // namespace

TEST_CASE("gguf keys: each is read as llama.cpp does, has no effect there either, or is refused", "[models]") {
    const TinyModels tiny;
    std::map<std::string, std::vector<float>> bases;
    for (const auto& [family, logits] : tiny.all["bases"].items())
        WITH_INFO(family, check_close(family, bases[family] = tiny.logits(family, json::object()), logits));
    std::map<std::string, std::size_t> counts;
    for (const json& one : tiny.all["models"]) {
        const std::string family = one["family"];
        INFO(family << " " << one["keys"].dump() << " " << one["logits"].dump());
        std::set<std::string> uses;
        for (const auto& [key, value] : one["keys"].items()) uses.insert(use_of(key, family));
        std::vector<float> ours;
        const std::string error = error_of([&] { ours = tiny.logits(family, one["keys"]); });
        if (!error.empty()) {
            CHECK(std::any_of(one["keys"].items().begin(), one["keys"].items().end(), [&](const auto& pair) {
                const std::string use = use_of(pair.key(), family);
                return (use == kRefused || use == kByValue) && error.find(pair.key()) != std::string::npos;
            }));
            CHECK(error.find('\n') == std::string::npos);
            ++counts[kRefused];
            continue;
        }
        CHECK_FALSE(uses.contains(kRefused));
        if (one["logits"] == "same") {
            CHECK(ours == bases[family]);
            ++counts[kNeutral];
        } else if (one["logits"] != "refused") {
            CHECK((uses.contains(kRead) || uses.contains(kByValue)));
            check_close(family, ours, one["logits"]);
            ++counts[kRead];
        }
    }
    CHECK(counts[kRead] > 30);
    CHECK(counts[kNeutral] > 250);
    CHECK(counts[kRefused] > 50);
}

TEST_CASE("gguf keys: Ollama's names of Gemma's angles are read, and factors of two kinds refused", "[models]") {
    const TinyModels tiny;
    const auto gemma = [&](const json& keys) { return tiny.logits("gemma3", keys); };
    CHECK(gemma({{"gemma3.rope.local.freq_base", 500.0}}) == gemma({{"gemma3.rope.freq_base_swa", 500.0}}));
    CHECK(gemma({{"gemma3.rope.global.freq_base", 500.0}}) == gemma({{"gemma3.rope.freq_base", 500.0}}));
    CHECK_THROWS_WITH(gemma({{"gemma3.rope.freq_base_swa", 0.0}}), contains("must be above 0, got 0"));
    CHECK_THROWS_WITH(gemma({{"gemma3.attention.sliding_window_pattern", {true, false}}}),
                      contains("gemma3.attention.sliding_window_pattern must hold 7 numbers, got 2"));
    CHECK_THROWS_WITH(tiny.logits("llama", {{"llama.rope.scaling.factor", -1.0}}),
                      contains("llama.rope.scaling.factor must be above 0, got -1"));
    const auto twice = [&](auto& out) {
        out.set_text("general.architecture", "llama");
        set_keys(out, {tiny.all["keys"]["llama"], {{"llama.rope.scaling.factor", 2.0}}});
        out.add("token_embd.weight", formats::GgufType::F32, {16, 16}, array_of(std::vector<float>(256)));
        out.add("rope_freqs.weight", formats::GgufType::F32, {4}, array_of({1, 1, 1, 8}));
    };
    CHECK_THROWS_WITH(read_gguf(twice, models::load_config),
                      contains("llama.rope.scaling.factor 2 beside rope_freqs.weight is not supported"));
}

TEST_CASE("gguf keys: ids, marks around a text and its ends are llama.cpp's", "[models]") {
    const TinyModels tiny;
    const auto texts = tiny.all["texts"].get<std::vector<std::string>>();
    for (const json& one : tiny.all["tokenizers"]) {
        const json &vocabulary = tiny.all["vocabularies"][one["vocabulary"].get<std::string>()], &keys = one["keys"];
        INFO(one["vocabulary"] << " " << keys.dump() << " " << one["llama_cpp"].dump());
        const ScratchFolder scratch;
        formats::GgufWriter out;
        out.set_text("general.architecture", "llama");
        set_keys(out, {vocabulary, keys});
        out.write(scratch.path("m.gguf"));
        const auto file = formats::GgufFile::open(scratch.path("m.gguf"));
        if (one["llama_cpp"] == "refused" || keys.contains("tokenizer.ggml.suppress_tokens")) {
            CHECK_THROWS_AS(models::read_gguf_tokenizer(file), BadInput);
            continue;
        }
        const auto tokenizer = models::read_gguf_tokenizer(file);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            std::vector<std::int32_t> ids = tokenizer->tokens_before();
            for (const auto& part : {tokenizer->encode(texts[i]), tokenizer->tokens_after()})
                ids.insert(ids.end(), part.begin(), part.end());
            CHECK(ids == one["llama_cpp"]["ids"][i].get<std::vector<std::int32_t>>());
        }
        models::Architecture a;
        a.vocab_size = vocabulary["tokenizer.ggml.tokens"].size();
        models::take_gguf_special_tokens(file, a);
        std::sort(a.end_tokens.begin(), a.end_tokens.end());
        auto ends = one["llama_cpp"]["ends"].get<std::vector<std::int32_t>>();
        std::erase(ends, 11);  // Falcon's, which llama.cpp takes in any vocabulary that names no end of a text
        CHECK(a.end_tokens == ends);
        const bool bare =
            one["vocabulary"] == "gpt2" && keys.contains("tokenizer.ggml.pre") && keys["tokenizer.ggml.pre"].is_null();
        CHECK((models::gguf_warning(scratch.path("m.gguf")).find("tokenizer.ggml.pre is missing") !=
               std::string::npos) == bare);
    }
}
