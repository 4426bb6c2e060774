// Writing GGUF: the same bytes as llama.cpp's own package; every type; every error.
#include "models/files/gguf/gguf_export.h"

#include "data/tokenizers/bpe/bpe_train.h"
#include "engine/base/random.h"
#include "models/files/gguf/gguf_tokenizer.h"
#include "tests/models/folders.h"
#include "tests/models/transformers.h"
#include "tests/support/gguf.h"

namespace {

using Tokens = std::vector<std::int32_t>;

// The model of make_gguf_reference.py.
std::unique_ptr<Transformer<float>> reference_model() {
    auto model = std::make_unique<Transformer<float>>(gpt2_shape(24, 1, 2, 32, 16));
    int k = 0;
    for (auto& [name, p] : model->parameters()) {
        float* const values = p.value_in_place().data();
        const float scale = p.rank() == 2 ? 0.25f : 1.0f,
                    gain = name.find("ln_") != std::string::npos && name.ends_with("weight");
        for (std::size_t i = 0; i < p.size(); ++i)
            values[i] = gain + scale * static_cast<float>((37 * static_cast<int>(i) + 101 * k) % 255 - 127) / 256;
        ++k;
    }
    model->eval();
    return model;
}

struct Exported {
    ScratchFolder scratch;
    fs::path path = scratch.path("model.gguf");
    Gguf file;
    Exported(Transformer<float>& model, const Tokenizer& tokenizer, GgufType type)
        : file((write_gguf(path, model, tokenizer, type, "mine"), path)) {}
};

BpeSpec small_bpe() {
    const std::string text = "the hen and the duck and the hen";
    const std::string_view part = text;
    return train_bpe(std::span(&part, 1), 262);
}

// The keys of a tokenizer, for a model with `more` rows than it has tokens.
json keys_of(const BpeSpec& spec, std::size_t more = 0) {
    const BpeTokenizer tokenizer(spec);
    return gguf_of(
               [&](auto& out) { set_gguf_tokenizer(out, tokenizer, {.vocab_size = tokenizer.vocab_size() + more}); })
        .pairs;
}

std::string refusal(const std::function<void(BpeSpec&)>& change) {
    BpeSpec spec = small_bpe();
    change(spec);
    return error_of([&] { keys_of(spec); });
}

}  // namespace

TEST_CASE("gguf: the bytes of llama.cpp's own package, its text, and the keys of characters", "[models]") {
    const auto expected = reference("gguf/expected.json");
    const auto model = reference_model();
    const auto tokenizer = CharTokenizer::from_text(expected["characters"].get<std::string>());
    const ScratchFolder scratch;
    write_gguf(scratch.path("q8.gguf"), *model, tokenizer, GgufType::Q8_0, "reference");
    const std::string ours = read_file(scratch.path("q8.gguf")),
                      theirs = read_file(tests_path("reference/gguf/tiny-q8_0.gguf"));
    CHECK(ours.size() == theirs.size());
    CHECK((ours == theirs));

    const Tokens want = expected["greedy_f32"];
    const Tokens prompt = tokenizer.encode(expected["prompt"].get<std::string>());
    CHECK(greedy_text(*model, prompt, want.size()) == want);
    const ModelFolder folder;
    auto loaded = load_model(folder.path());
    const auto characters = CharTokenizer::from_text("\n\\ abc\x7f");
    const Gguf file = Exported(*loaded.model, characters, GgufType::Q8_0).file;  // 12 wide: no blocks of 32
    CHECK(file.tensors.at("blk.0.ffn_up.weight").type == "F16");
    const auto& j = file.pairs;
    check_holds(j, "general.architecture", "gpt2", "general.name", "mine", "general.file_type", 1, "gpt2.block_count",
                2, "gpt2.context_length", 6, "gpt2.embedding_length", 12, "gpt2.feed_forward_length", 48,
                "gpt2.attention.head_count", 2, "gpt2.attention.layer_norm_epsilon", 1e-5, "tokenizer.ggml.model",
                "rwkv", "tokenizer.ggml.tokens", json({"\\x0a", " ", "\\\\", "a", "b", "c", "\\x7f", "[PAD7]"}),
                "tokenizer.ggml.token_type", json({1, 1, 1, 1, 1, 1, 1, 5}));
    CHECK_FALSE(j.contains("tokenizer.ggml.eos_token_id"));
    ModelFolder plain(false);  // llama.cpp's gpt2 has biases
    CHECK(Exported(plain.model, characters, GgufType::F32).file.tensors.at("blk.1.attn_qkv.bias").values ==
          std::vector<float>(36));
}

// The other names and numbers: "gguf models: each family comes back" reads them, and "gguf keys" compares what is read
// with llama.cpp.
TEST_CASE("gguf: the keys of every family, and numbers that no model here comes back from", "[models]") {
    const auto tokenizer = CharTokenizer::from_text("abcdefgh");
    const auto load = [](const std::string& name) { return load_model(tests_path("reference/" + name)); };
    const auto exported = [&](const LoadedModel& loaded) {
        return Exported(*loaded.model, tokenizer, GgufType::F32).file;
    };
    const auto families = json::parse(R"json({
        "llama_tiny": {"llama.attention.key_length": 6, "llama.attention.value_length": 6,
            "llama.rope.dimension_count": 6},
        "families/llama_llama3": {"llama.rope.scaling.type": null},
        "families/gpt_neox": {"gptneox.rope.dimension_count": 4},
        "families/gpt_neox_serial": {"gptneox.use_parallel_residual": false},
        "families/gemma3_window": {"gemma3.attention.sliding_window_pattern": null},
        "families/mistral_window": {"llama.context_length": 5, "llama.attention.sliding_window": null}
    })json");
    for (const auto& [folder, keys] : families.items()) {
        const Gguf file = exported(load(folder));
        for (const auto& [key, value] : keys.items())
            WITH_INFO(folder << ": " << key, CHECK(file.pairs.value(key, json()) == value));
    }
    auto gemma = load("families/gemma3_window"), llama3 = load("families/llama_llama3"), qwen = load("families/qwen3");
    gemma.model->config.global_every = 2;  // 6 is not written
    CHECK(exported(gemma).pairs["gemma3.attention.sliding_window_pattern"] == 2);
    // theta 20, 4 pairs: wavelengths 6.3, 13.3, 28.1, 59.4 in a context of 16: 2.5, 1.2, 0.57, 0.27 turns
    const auto divisor = [](double turns) { return 1 / ((1 - (turns - 1) / 3) / 4 + (turns - 1) / 3); };
    const Gguf scaled = exported(llama3);
    const std::vector<float>& divisors = scaled.tensors.at("rope_freqs.weight").values;
    REQUIRE(divisors.size() == 4);
    CHECK(divisors[0] == Approx(divisor(16 / 6.283185)).epsilon(1e-5));
    CHECK(divisors[1] == Approx(divisor(16 / 6.283185 / std::pow(20, 0.25))).epsilon(1e-5));
    CHECK(divisors[2] == 4.0f);
    CHECK(divisors[3] == 4.0f);
    const Gguf tied = exported(load("families/gpt_neox_serial"));  // llama.cpp's gptneox has no tied head
    CHECK(tied.tensors.at("output.weight").values == tied.tensors.at("token_embd.weight").values);
    const auto gpt2 = load("families/gpt2_gelu");
    const Gguf halved = exported(gpt2);
    for (const std::size_t layer : {0, 1}) {  // the second layer's scores are halved
        const ConstArray<float> own = gpt2.model->layers[layer][ParameterName::query_key_value].weight.value();
        std::vector<float> want(own.begin(), own.end());
        for (std::size_t i = 0; layer == 1 && i < want.size() / 3; ++i) want[i] /= 2;
        CHECK(halved.tensors.at(fmt::format("blk.{}.attn_qkv.weight", layer)).values == want);
    }
    CHECK(halved.tensors.contains("output.weight"));
    qwen.model->config.rope = llama3.model->config.rope;
    CHECK_THROWS_WITH(exported(qwen), contains("llama.cpp's qwen3 has no rope_type llama3"));
    for (const auto& [name, said] : {std::pair{"families/gemma3", "scores by the root of 8, not of 11"},
                                     {"families/gpt2_relu", "gelu alone, not relu"},
                                     {"families/gpt2_silu", "not silu"}})
        CHECK_THROWS_WITH(exported(load(name)), contains(said));
}

TEST_CASE("gguf: byte pairs", "[models]") {
    const BpeTokenizer tokenizer(small_bpe());
    const auto& spec = tokenizer.spec();
    const auto j = keys_of(spec, 2);
    const auto tokens = j["tokenizer.ggml.tokens"].get<std::vector<std::string>>();
    const auto kinds = j["tokenizer.ggml.token_type"].get<std::vector<int>>();
    REQUIRE(tokens.size() == tokenizer.vocab_size() + 2);
    const auto end = static_cast<std::size_t>(tokenizer.end_of_text().value());
    for (std::size_t id = 0; id < tokenizer.vocab_size(); ++id) {
        CHECK(kinds[id] == (id == end ? 3 : 1));
        if (id != end) CHECK(tokens[id] == spec.vocab[id]);
    }
    CHECK(tokens[end] == "<|endoftext|>");
    CHECK(kinds.back() == 5);
    check_holds(j, "tokenizer.ggml.model", "gpt2", "tokenizer.ggml.pre", "gpt-2", "tokenizer.ggml.eos_token_id", end,
                "tokenizer.ggml.add_bos_token", false);
    const auto merges = j["tokenizer.ggml.merges"].get<std::vector<std::string>>();
    REQUIRE(merges.size() == spec.merges.size());
    CHECK(merges[0] == spec.vocab[static_cast<std::size_t>(spec.merges[0].left)] + " " +
                           spec.vocab[static_cast<std::size_t>(spec.merges[0].right)]);
}

// A SentencePiece vocabulary: 256 bytes, characters, and tokens; every two tokens that form a third have a merge.
static BpeSpec sentence_piece() {
    BpeSpec spec;
    spec.byte_letters = false;
    spec.byte_fallback = spec.fuse_unk = true;
    spec.unk_token = "<unk>";
    spec.vocab = {"<unk>", "<s>", "</s>"};
    for (int b = 0; b < 256; ++b) spec.vocab.push_back(fmt::format("<0x{:02X}>", b));
    for (const char* token :
         {"\u2581", "a", "b", "c", "ab", "\u2581a", "bc", "\u2581ab", "abc", "\u2581\u2581", "aa", "ba"})
        spec.vocab.emplace_back(token);
    const auto id_of = [&](const std::string& token) {
        const auto found = std::find(spec.vocab.begin(), spec.vocab.end(), token);
        return found == spec.vocab.end() ? -1 : static_cast<std::int32_t>(found - spec.vocab.begin());
    };
    for (std::size_t id = 263; id < spec.vocab.size(); ++id) {
        const std::string& token = spec.vocab[id];
        for (std::size_t cut = 1; cut < token.size(); ++cut) {
            const std::int32_t left = id_of(token.substr(0, cut)), right = id_of(token.substr(cut));
            if (left >= 0 && right >= 0) spec.merges.push_back({left, right, static_cast<std::int32_t>(id)});
        }
    }
    using Kind = NormalizerStep::Kind;
    spec.normalizer = {{.kind = Kind::prepend, .content = "\u2581"},
                       {.kind = Kind::replace, .pattern = {" ", true}, .content = "\u2581"}};
    spec.pre_tokenizer = {.steps = {}};
    spec.decoder = {{.kind = DecoderStep::Kind::replace, .pattern = {"\u2581", true}, .content = " "}};
    for (int id = 0; id < 3; ++id)
        spec.added.push_back({.content = spec.vocab[static_cast<std::size_t>(id)], .id = id});
    spec.before = {{"<s>", {1}}};
    return spec;
}

TEST_CASE("gguf: the patterns that llama.cpp has a name for, and a token that begins each text", "[models]") {
    BpeSpec spec = small_bpe();
    CHECK(keys_of(spec)["tokenizer.ggml.pre"] == "gpt-2");
    for (const auto& [style, name] : {std::pair(SplitStyle::llama3, "llama-bpe"), {SplitStyle::qwen2, "qwen2"}}) {
        spec.pre_tokenizer = pre_tokenizer_of(style);
        CHECK(keys_of(spec)["tokenizer.ggml.pre"] == name);  // merges make every token, so ignore_merges is no matter
    }
    spec.normalizer = {{}};  // NFC
    spec.pre_tokenizer = {{SplitStep{.kind = SplitStep::Kind::digits}, ByteLevelStep{}}};
    spec.before = {{"<|endoftext|>", {0}}};
    const auto keys = keys_of(spec, 3);
    check_holds(keys, "tokenizer.ggml.pre", "smollm", "tokenizer.ggml.add_bos_token", true,
                "tokenizer.ggml.bos_token_id", 0);
    CHECK_THAT(refusal([](auto& s) { s.normalizer = {{.kind = NormalizerStep::Kind::lowercase}}; }),
               contains("more than NFC"));
    CHECK_THAT(refusal([](auto& s) { s.before = {{"a", {1, 2}}}; }), contains("post_processor"));
}

// What llama.cpp's scores mean: "gguf models" and "gguf keys" compare what is read with its ids.
TEST_CASE("gguf: byte pairs of characters are SentencePiece's tokens, whose scores give the same ids", "[models]") {
    const BpeSpec spec = sentence_piece();
    const BpeTokenizer tokenizer(spec);
    const auto keys = keys_of(spec, 1);
    check_holds(keys, "tokenizer.ggml.model", "llama", "tokenizer.ggml.add_space_prefix", true,
                "tokenizer.ggml.add_bos_token", true, "tokenizer.ggml.bos_token_id", 1, "tokenizer.ggml.eos_token_id",
                2, "tokenizer.ggml.unknown_token_id", 0);
    const auto kinds = keys["tokenizer.ggml.token_type"].get<std::vector<int>>();
    for (const auto& [id, kind] : {std::pair{0, 2}, {1, 3}, {2, 3}, {3, 6}, {260, 1}, {271, 5}})
        CHECK(kinds.at(static_cast<std::size_t>(id)) == kind);
    const auto back =
        read_gguf([&](auto& out) { set_gguf_tokenizer(out, tokenizer, {.vocab_size = tokenizer.vocab_size()}); },
                  [](const auto& path) { return read_gguf_tokenizer(GgufFile::open(path)); });
    const std::vector<std::string> letters = {"a", "b", "c", " ", "d", "\u00E9", "a", "b"};
    for (std::uint64_t n = 0; n < 2000; ++n) {
        std::string text;
        for (std::uint64_t i = 0; i <= n % 9; ++i) text += letters[random_below({n, 0}, i, letters.size())];
        INFO(text);
        CHECK(back->encode(text) == tokenizer.encode(text));
    }
    const auto refused = [&](const std::function<void(BpeSpec&)>& change) {
        BpeSpec other = spec;
        change(other);
        CHECK_THROWS_AS(keys_of(other), BadInput);
    };
    refused([](auto& s) { s.merges.pop_back(); });
    refused([](auto& s) {  // those of one token do not stand together
        const auto two = std::adjacent_find(s.merges.begin(), s.merges.end(),
                                            [](const auto& x, const auto& y) { return x.merged == y.merged; });
        std::swap(*two, s.merges.back());
    });
    refused([](auto& s) { s.normalizer.clear(); });
    refused([](auto& s) { s.byte_fallback = false; });
    refused([](auto& s) { s.ignore_merges = true; });
}

TEST_CASE("gguf: a tokenizer that llama.cpp would run differently is refused by name", "[models]") {
    CHECK(refusal([](auto&) {}).empty());
    CHECK_THAT(refusal([](auto& s) {
                   s.ignore_merges = true;
                   s.merges.erase(s.merges.begin());
               }),
               contains("ignore_merges"));
    CHECK_THAT(refusal([](auto& s) { s.pre_tokenizer = {{ByteLevelStep{.add_prefix_space = true}}}; }),
               contains("add_prefix_space"));
    CHECK_THAT(refusal([](auto& s) { s.pre_tokenizer = pre_tokenizer_of(SplitStyle::nanochat); }),
               contains("a pattern of its own"));
    CHECK_THAT(refusal([](auto& s) { s.added.at(0).rstrip = true; }), contains("rstrip"));
    CHECK_THAT(refusal([](auto& s) { s.added.clear(); }), contains("no token ends a text"));
    Transformer<float> model(shape_of("qwen3", 11, 1, 2, 16, 8, 0, true));
    const ScratchFolder scratch;
    CHECK_THROWS_WITH(write_gguf(scratch.path("x"), model, CharTokenizer::from_text("abc"), GgufType::F32, "x"),
                      contains("llama.cpp's qwen3 has no bias behind attention"));
    CHECK_FALSE(fs::exists(scratch.path("x")));
}

TEST_CASE("gguf: blocks of q8_0 and q4_0 as ggml makes them, of zeros and one large number too", "[models]") {
    std::vector<float> x(96);
    x[40] = 1e-44f;
    x[70] = -63.5f, x[71] = 0.25f, x[72] = 0.24f, x[73] = 63.5f;
    const auto values = gguf_of([&](auto& out) {
                            out.add("x", GgufType::Q8_0, {3, 32}, array_of(x));
                        })
                            .tensors.at("x")
                            .values;
    std::vector<float> want(96);
    want[70] = -63.5f, want[71] = 0.5f, want[73] = 63.5f;  // d = 0.5, halves away from 0
    CHECK(values == want);
    std::vector<float> y(96), wanted(96);  // blocks of q4_0 as ggml makes them
    for (std::size_t i = 0; i < 32; ++i) wanted[i] = y[i] = (static_cast<float>(i % 16) - 8) / 2;  // d = 0.5
    y[32] = 8, y[33] = 7.2f, y[34] = -0.4f, y[35] = -8;  // d = -1: 8 is exact, -8 is beyond 7 d
    wanted[32] = 8, wanted[33] = 7, wanted[34] = 0, wanted[35] = -7;
    y[64] = 1e-44f;
    const ScratchFolder scratch;
    GgufWriter out;
    out.add("x", GgufType::Q4_0, {3, 32}, array_of(y));
    CHECK_THROWS_WITH(out.add("b", GgufType::Q4_0, {2, 31}, array_of(y)), contains("for Q4_0"));
    out.write(scratch.path("x.gguf"));
    const auto file = GgufFile::open(scratch.path("x.gguf"));
    std::vector<float> found(96);
    CHECK(file.read("x", found.data(), 96) == 0);
    CHECK(found == wanted);
    const auto bytes = file.tensor("x").bytes;
    REQUIRE(bytes.size() == 54);
    for (int i = 0; i < 16; ++i) CHECK(static_cast<int>(bytes[static_cast<std::size_t>(2 + i)]) == 17 * i);
}

TEST_CASE("gguf: blocks with searched scales hold what they can express, and round the rest to within a bound",
          "[models]") {
    constexpr std::size_t n = 64 * 256;
    std::vector<float> normal(n), found(n);
    for (std::size_t i = 0; i < n; ++i) normal[i] = 0.02f * static_cast<float>(random_normal({5, 0}, i));
    const auto error = [&](const NumberLayout& layout, const std::vector<float>& x) {  // relative to x
        std::vector<std::byte> blocks(layout.bytes_of(x.size()));
        layout.round(x.data(), x.size() / layout.block, blocks.data());
        layout.widen(blocks.data(), x.size() / layout.block, found.data());
        double squares = 0, errors = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            squares += std::pow(static_cast<double>(x[i]), 2);
            errors += std::pow(static_cast<double>(x[i] - found[i]), 2);
        }
        return squares == 0 ? errors : std::sqrt(errors / squares);
    };
    // of normal numbers; scales that just hold the largest number give 0.083, 0.041, 0.044, 0.038, 0.019
    for (const auto& [type, most] : {std::pair{GgufType::Q4_K, 0.0715},
                                     {GgufType::Q5_K, 0.0355},
                                     {GgufType::Q5_0, 0.0418},
                                     {GgufType::Q5_1, 0.0345},
                                     {GgufType::Q6_K, 0.0181}}) {
        const NumberLayout& layout = *gguf_layout(type);
        INFO(layout.name);
        CHECK(error(layout, normal) < most);
        CHECK(error(layout, std::vector<float>(256)) == 0);
        std::vector<float> x(256, -0.3f);
        CHECK(error(layout, x) < 1e-3);
        x.assign(256, 1e-44f);
        CHECK(std::isfinite(error(layout, x)));
        for (std::size_t i = 0; i < 256; ++i) x[i] = (static_cast<float>(i % 16) - 8) / 2;
        CHECK(error(layout, x) < 5e-4);  // 16 steps, up to float16's rounding of the scale
        x[255] = -8, x[3] = 4.0f;
        CHECK(error(layout, x) < 0.07);
    }
    // eight ranges of their own: scales 63, 56 .. 14 and minima 0, 9 .. 63 of units that float16 holds
    std::vector<float> x(256);
    for (std::size_t i = 0; i < 256; ++i) {
        const auto j = static_cast<float>(i / 32);
        x[i] = (63 - 7 * j) / 1024 * static_cast<float>(i % 16) - 9 * j / 64;
    }
    CHECK(error(*gguf_layout(GgufType::Q4_K), x) < 1e-6);
    for (std::size_t i = 0; i < 256; ++i)  // 16 scales, of either sign
        x[i] = (static_cast<float>(i / 16) - 8) * 16 / 1024 * (static_cast<float>(i * 7 % 16 * 4) - 32);
    CHECK(error(*gguf_layout(GgufType::Q6_K), x) < 1e-6);
}

TEST_CASE("gguf: the writer refuses what makes no file", "[models]") {
    GgufWriter out;
    const auto make = array_of(std::vector<float>(64));
    out.set_u32("a", 1);
    CHECK_THROWS_WITH(out.set_text("a", "b"), contains("the key a was set twice"));
    out.add("a", GgufType::Q8_0, {2, 32}, make);
    CHECK_THROWS_WITH(out.add("a", GgufType::F32, {2}, make), contains("added twice"));
    CHECK_THROWS_WITH(out.add("b", GgufType::Q8_0, {2, 31}, make), contains("(2, 31)"));
    CHECK_THROWS_AS(out.write("/nowhere/x.gguf"), Error);
    const ScratchFolder scratch;
    const auto refuses = [&](GgufType type, float value, const char* shown) {
        GgufWriter one;
        one.add("c", type, {2}, array_of({1, value}));
        CHECK_THROWS_WITH(one.write(scratch.path("x.gguf")), contains(std::string("c has the value ") + shown));
    };
    refuses(GgufType::F16, 70000, "70000");
    for (const GgufType type : {GgufType::F32, GgufType::BF16, GgufType::F16}) {
        refuses(type, std::numeric_limits<float>::infinity(), "inf");
        refuses(type, std::nanf(""), "nan");
    }
    CHECK(fs::is_empty(scratch.path()));
}
