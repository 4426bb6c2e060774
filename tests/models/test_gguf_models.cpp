// Models from GGUF files: writing and reading give the same model, in every family and type; a file of llama.cpp's own
// package, with llama.cpp's ids and logits (make_gguf_models.py); adapters and templates; errors.
#include <limits>

#include "data/chat/chat_template.h"
#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "engine/base/half.h"
#include "engine/kernels/block_types.h"
#include "models/files/adapter_folder.h"
#include "models/files/gguf/gguf_export.h"
#include "models/files/stored_weights.h"
#include "models/files/weight_files.h"
#include "models/inference/inference_model.h"
#include "tests/models/chat_folder.h"
#include "tests/models/folders.h"
#include "tests/models/transformers.h"
#include "tests/support/gguf.h"

const char* const kTexts[] = {"the hen and the duck", " a  b\n\n12345", "caf\u00e9 \u4e16\u754c's I'LL", ""};

static ConstArray<float> some_logits(const Transformer<float>& model) {
    IdArray ids({1, std::min<std::size_t>(model.config.block_size, 6)});
    for (std::size_t i = 0; i < ids.size(); ++i)
        ids.data()[i] = static_cast<std::int32_t>((5 * i + 1) % model.config.vocab_size);
    return model.forward(ids).value().contiguous();
}

static std::vector<fs::path> gguf_folders() {
    std::vector<fs::path> all = {kGpt2Tiny, kLlamaTiny, kLlamaTinyTied};
    for (const auto& entry : fs::directory_iterator(tests_path("reference/families"))) all.push_back(entry.path());
    return all;
}

// Rounds weights to the precision of this file type.
static void round_weights(Transformer<float>& model, GgufType type) {
    for (const ParameterSpec& p : parameters(model.config)) {
        if (!may_be_packed(p)) continue;
        float* const values = model.at(p).tensor().value_in_place().data();
        for (std::size_t i = 0; i < model.at(p).size(); ++i)
            values[i] =
                type == GgufType::BF16 ? widen(round_to_bfloat16(values[i])) : f16_to_f32(f32_to_f16(values[i]));
    }
}

// What the refusal of the file that `fill` makes says after its name.
template <class Read>
static std::string refused_by(const Read& read, const std::function<void(GgufWriter&)>& fill) {
    return read_gguf(fill, [&](const fs::path& path) {
        const std::string error = error_of([&] { read(path); }), name = path.string() + ": ";
        CHECK(error.find('\n') == std::string::npos);
        CHECK(error.starts_with(name));
        return error.substr(std::min(error.size(), name.size()));
    });
}
const auto load_file = [](const fs::path& path) { load_model(path); };

// The keys of a small model without weights, a gpt2 or one with RMSNorm.
static void set_small_model(GgufWriter& out, const std::string& architecture) {
    out.set_text("general.architecture", architecture);
    const std::pair<const char*, std::uint32_t> sizes[] = {{"block_count", 1},
                                                           {"context_length", 8},
                                                           {"embedding_length", 4},
                                                           {"feed_forward_length", 16},
                                                           {"attention.head_count", 2}};
    for (const auto& [key, value] : sizes) out.set_u32(architecture + "." + key, value);
    out.set_f32(architecture + ".attention.layer_norm_epsilon", 1e-5f);
    out.set_f32(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
    out.add("token_embd.weight", GgufType::F32, {3, 4}, array_of(std::vector<float>(12)));
}

TEST_CASE("gguf models: each family comes back with the same logits, ids and context", "[models]") {
    for (const auto& folder : gguf_folders()) {
        const std::string name = folder.filename().string();
        for (const GgufType type : {GgufType::F32, GgufType::BF16, GgufType::F16}) {
            INFO(name << " " << static_cast<int>(type));
            LoadedModel loaded = load_model(folder);
            const Architecture& a = loaded.model->config;
            // a file names no activation, and llama.cpp has no qwen3 with a bias after attention
            if (a.activation != family(a.family).defaults(true).activation) break;
            if (a.family == "qwen3" && a.attention_bias) break;
            if (a.family == "gemma3" && a.score_width != 0) break;
            const ScratchFolder scratch;
            const fs::path path = scratch.path("m.gguf");
            write_gguf(path, *loaded.model, *loaded.tokenizer, type, "mine");
            if (type != GgufType::F32) round_weights(*loaded.model, type);
            const LoadedModel back = load_model(find_model(path));
            const ConstArray<float> theirs = some_logits(*back.model), ours = some_logits(*loaded.model);
            CHECK(same_bits(theirs, ours.sliced(1, 0, theirs.dim(1))));  // Mistral's context may be shorter
            Architecture same = back.model->config;
            same.dropout = a.dropout, same.begin_token = a.begin_token, same.end_tokens = a.end_tokens;
            same.has_bos = a.has_bos;
            if (a.family == "llama" && a.window > 0) {  // Mistral, whose context there is no longer than its window
                CHECK(same.block_size == a.window);
                CHECK(same.window == 0);
            } else {
                CHECK(same == a);
            }
            CHECK(load_config(path) == back.model->config);
            for (const char* const text : kTexts)
                if (loaded.tokenizer->knows(text))
                    CHECK(back.tokenizer->encode(text) == loaded.tokenizer->encode(text));
            CHECK(open_tokenizer(path)->to_json() == back.tokenizer->to_json());
        }
    }
}

TEST_CASE("gguf models: q8_0 is the same in memory as in the file, whichever way it is kept", "[models]") {
    Transformer<float> model(llama_shape(40, 2, 4, 2, 64, 12));
    fill_parameters(model, 0.2, {3, 0});
    model.eval();
    const ScratchFolder scratch;
    const fs::path path = scratch.path("m.gguf"), again = scratch.path("again.gguf");
    const auto tokenizer = CharTokenizer::from_text("abcdefgh");
    write_gguf(path, model, tokenizer, GgufType::Q8_0, "m");
    const LoadedModel wide = load_model(path), packed = load_model(path, std::nullopt, {WeightType::q8_0});
    CHECK(same_bits(some_logits(*wide.model), some_logits(*packed.model)));
    CHECK(packed.model->layers[1][ParameterName::query].weight.packed());
    CHECK_FALSE(same_bits(some_logits(*wide.model), some_logits(model)));
    write_gguf(again, *packed.model, *packed.tokenizer, GgufType::Q8_0, "m");
    CHECK(read_file(again) == read_file(path));
    const auto files = WeightFiles::open(path);
    CHECK(files.type() == "Q8_0");
    CHECK(files.tensor("blk.0.attn_q.weight").bytes.size() == 64 * 64 / 32 * 34);
}

TEST_CASE("gguf models: q4_0 keeps the words in q8_0, and the model's answers roughly", "[models]") {
    Transformer<float> model(llama_shape(40, 2, 4, 2, 64, 12));
    model.eval();
    const ScratchFolder scratch;
    const auto tokenizer = CharTokenizer::from_text("abcdefgh");
    write_gguf(scratch.path("m.gguf"), model, tokenizer, GgufType::Q4_0, "m");
    const auto files = WeightFiles::open(scratch.path("m.gguf"));
    CHECK(files.type() == "Q4_0");
    CHECK(files.tensor("blk.1.ffn_up.weight").bytes.size() == 256 * 64 / 32 * 18);
    for (const char* const words : {"token_embd.weight", "output.weight"})
        CHECK(files.tensor(words).layout->name == "Q8_0");
    const LoadedModel wide = load_model(scratch.path("m.gguf")),
                      half = load_model(scratch.path("m.gguf"), std::nullopt, {WeightType::bf16});
    const ConstArray<float> here = some_logits(model), back = some_logits(*wide.model);
    for (std::size_t i = 0; i < here.size(); ++i) CHECK(here.data()[i] == Approx(back.data()[i]).margin(0.06));
    // in the file's own blocks: the same numbers, whole and in the rows of each head's rotation
    const LoadedModel blocks = load_model(scratch.path("m.gguf"), std::nullopt, {WeightType::file});
    CHECK(same_bits(some_logits(*blocks.model), back));
    const auto& query = blocks.model->layers[1][ParameterName::query].weight;
    CHECK(query.packed()->type() == WeightType::file);
    CHECK(query.bytes() == 64 * 64 / 32 * 18);
    CHECK(blocks.model->outer[ParameterName::head].weight.packed()->type() == WeightType::q8_0);
    CHECK(usual_weights(scratch.path("m.gguf")) == WeightType::file);
    const auto logits_of = [](const LoadedModel& loaded, WeightType type) {
        const InferenceModel inference(*loaded.model, type);
        KvCache cache(inference.config());
        Array<float> logits({inference.config().vocab_size});
        inference.prefill(cache, std::vector<std::int32_t>{1, 2, 3}, std::span(logits.data(), logits.size()));
        return logits;
    };
    const Array<float> rounded_logits = logits_of(blocks, WeightType::file), exact = logits_of(wide, WeightType::fp32);
    for (std::size_t i = 0; i < exact.size(); ++i)
        CHECK(rounded_logits.data()[i] == Approx(exact.data()[i]).margin(0.03));
    CHECK_FALSE(same_bits(rounded_logits, exact));
    // read as bfloat16 at once: the same as rounded later
    const auto& up = wide.model->layers[1][ParameterName::up].weight;
    const auto& rounded = half.model->layers[1][ParameterName::up].weight;
    CHECK(same_bits(rounded.values(), up.as(WeightType::bf16).values()));
}

TEST_CASE("gguf models: q4_k_m gives more bits to words, and to values and down of some layers", "[models]") {
    const auto files_of = [](const Architecture& a, const fs::path& path) {
        Transformer<float> model(a);
        CHECK(write_gguf(path, model, CharTokenizer::from_text("abcdefgh"), GgufType::Q4_K, "m") ==
              (a.n_embd % 32 == 0 ? GgufType::Q4_K : GgufType::F16));
        return WeightFiles::open(path);
    };
    const ScratchFolder scratch;
    const auto type_in = [](const WeightFiles& files, const std::string& name) {
        return std::string(files.tensor(name).layout->name);
    };
    const auto whole = files_of(llama_shape(40, 8, 4, 2, 256, 12), scratch.path("whole.gguf"));
    CHECK(type_in(whole, "token_embd.weight") == "Q4_K");  // the head is a matrix of its own
    CHECK(type_in(whole, "output.weight") == "Q6_K");
    for (std::size_t i = 0; i < 8; ++i) {
        const std::string layer = "blk." + std::to_string(i) + ".", high = i == 0 || i == 3 || i >= 6 ? "Q6_K" : "Q4_K";
        INFO(layer);
        for (const char* const more : {"attn_v.weight", "ffn_down.weight"}) CHECK(type_in(whole, layer + more) == high);
        for (const char* const less : {"attn_q.weight", "attn_k.weight", "attn_output.weight", "ffn_up.weight"})
            CHECK(type_in(whole, layer + less) == "Q4_K");
        CHECK(type_in(whole, layer + "attn_norm.weight") == "F32");
    }
    Architecture tied = llama_shape(40, 3, 4, 2, 64, 12);  // up and gate have rows of 64, down of 256
    tied.tied_head = true;
    const auto narrow = files_of(tied, scratch.path("narrow.gguf"));
    CHECK(type_in(narrow, "token_embd.weight") == "Q8_0");
    CHECK(type_in(narrow, "blk.0.attn_q.weight") == "Q5_0");
    CHECK(type_in(narrow, "blk.2.attn_v.weight") == "Q8_0");
    CHECK(type_in(narrow, "blk.0.ffn_down.weight") == "Q4_K");
    const auto gpt2 = files_of(gpt2_shape(40, 2, 4, 256, 12, 0.0, true), scratch.path("gpt2.gguf"));
    CHECK(type_in(gpt2, "blk.0.attn_qkv.weight") == "Q5_K");
    files_of(llama_shape(40, 1, 2, 2, 20, 12), scratch.path("odd.gguf"));
}

TEST_CASE("gguf models: a model that stays in its files is written as one in memory", "[models]") {
    std::vector<fs::path> folders = gguf_folders();
    for (const char* const adapter : {"llama", "qwen3", "gpt2", "gpt_neox", "llama_head", "patterns"})
        folders.push_back(tests_path("reference/adapters/") + adapter);
    folders.push_back(tests_path("reference/nanochat_tiny"));
    folders.push_back(tests_path("reference/gguf/sentence_piece.gguf"));
    for (const fs::path& folder : folders) {
        INFO(folder.string());
        const ScratchFolder scratch;
        const auto [in_files, tokenizer] = load_model(folder, std::nullopt, {.in_files = true});
        const auto [in_memory, same] = load_model(folder);
        CHECK(in_files->config == in_memory->config);
        if (!is_adapter(folder) && !in_memory->config.tied_head)
            for (const WeightStorage storage :
                 {WeightStorage{}, {WeightType::bf16}, {WeightType::q8_0, true}, {WeightType::fp32, true}}) {
                const auto loaded = load_model(folder, std::nullopt, storage);
                std::uint64_t taken = 0;
                for (const ParameterSpec& p : parameters(loaded.model->config)) taken += loaded.model->at(p).bytes();
                CHECK(loaded_bytes(loaded.model->config, WeightFiles::open(folder), storage) == taken);
            }
        for (const ParameterSpec& p : parameters(in_memory->config)) {
            const ConstArray<float> all = in_memory->values(p);
            CHECK(same_bits(in_files->values(p), all));
            if (p.shape[0] > 1) CHECK(same_bits(in_files->rows(p, 1, 2), all.sliced(0, 1, 2).contiguous()));
        }
        for (const bool files : {true, false}) {
            const fs::path out = scratch.path(files ? "a" : "b");
            fs::create_directory(out);
            save_model(out, files ? *in_files : *in_memory, *tokenizer);
        }
        CHECK(read_file(scratch.path("a/model.safetensors")) == read_file(scratch.path("b/model.safetensors")));
    }
}

TEST_CASE("gguf models: llama.cpp's ids and logits come out of a file of its own package", "[models]") {
    const auto expected = reference("gguf/models.json");
    const auto [model, tokenizer] = load_model(tests_path("reference/gguf/sentence_piece.gguf"));
    const auto texts = expected["texts"].get<std::vector<std::string>>();
    const auto ids = expected["ids"].get<std::vector<std::vector<std::int32_t>>>();
    for (std::size_t i = 0; i < texts.size(); ++i) WITH_INFO(texts[i], CHECK(tokenizer->encode(texts[i]) == ids[i]));
    CHECK(tokenizer->decode(ids[0]) == texts[0]);
    CHECK(tokenizer->tokens_before() == std::vector<std::int32_t>{1});
    CHECK(model->config.begin_token == 1);
    CHECK(model->config.end_tokens == std::vector<std::int32_t>{2});
    CHECK(tokenizer->chat->special_tokens.at("eos_token") == "</s>");
    CHECK(tokenizer->is_special(281));
    CHECK_FALSE(tokenizer->is_special(282));
    const ConstArray<float> logits = model->forward(row_of(ids[0])).value().contiguous();
    const auto want = expected["logits"].get<std::vector<double>>();
    REQUIRE(logits.size() == want.size() * ids[0].size());
    const float* const last = logits.data() + logits.size() - want.size();
    for (std::size_t i = 0; i < want.size(); ++i) REQUIRE(static_cast<double>(last[i]) == Approx(want[i]).margin(5e-3));
    // a folder of it has the same ids
    const ScratchFolder folder;
    save_model(folder.path(), *model, *tokenizer);
    const auto saved = open_tokenizer(folder.path());
    for (std::size_t i = 0; i < texts.size(); ++i) CHECK(saved->encode(texts[i]) == ids[i]);
}

TEST_CASE("gguf models: products with blocks are those of the numbers that llama.cpp's package widens", "[models]") {
    const auto file = formats::GgufFile::open(tests_path("reference/gguf/types.gguf"));
    Array<float> x({1, 256});  // rounded to 8 bits they stay as they are: the largest of each 32 is 127
    for (std::size_t i = 0; i < 256; ++i) x.data()[i] = i % 32 == 7 ? -127 : static_cast<float>(37 * i % 255) - 127;
    std::size_t types = 0;
    for (const auto& [name, tensor] : file.tensors()) {
        const BlockType* const type = block_type(name);
        if (!type) continue;
        INFO(name);
        std::vector<float> wide(256);
        file.read(name + ".f32", wide.data(), 256);
        double sum = 0, size = 0;
        for (std::size_t i = 0; i < 256; ++i) {
            const double part = static_cast<double>(wide[i]) * x.data()[i];
            sum += part, size += std::abs(part);
        }
        const PackedMatrix w(*type, 1, 256, [&t = tensor](std::size_t, std::byte*) { return t.bytes.data(); });
        float y = 0;
        w.multiply(0, 1, x.data(), 1, &y, 1);
        CHECK(static_cast<double>(y) == Approx(sum).margin(1e-6 * size));
        ++types;
    }
    CHECK(types == 8);
}

TEST_CASE("gguf models: a model whose matrices are of all types of blocks writes what llama.cpp writes", "[models]") {
    const auto expected = reference("gguf/models.json");
    const auto written = expected["written"].get<std::vector<std::int32_t>>();
    const auto logits = expected["block_logits"].get<std::vector<std::vector<float>>>();
    for (const WeightType type : {WeightType::file, WeightType::fp32}) {
        INFO(name_of(type));
        const LoadedModel loaded =
            models::load_model(tests_path("reference/gguf/blocks.gguf"), std::nullopt, {type, true});
        const models::InferenceModel inference(*loaded.model, type);
        CHECK(inference.cache_type == (type == WeightType::file ? models::CacheType::f16 : models::CacheType::f32));
        models::KvCache cache(inference.config(), inference.cache_type);
        std::vector<float> ours(logits[0].size());
        for (std::size_t i = 0; i < written.size(); ++i) {
            if (i < 2)
                inference.prefill(cache, std::span(&written[i], 1), ours);
            else
                inference.step(std::array{&cache}, std::span(&written[i], 1), ours);
            for (std::size_t k = 0; k < ours.size(); ++k) CHECK(ours[k] == Approx(logits[i][k]).margin(5));
            const auto best = std::max_element(ours.begin(), ours.end()) - ours.begin();
            if (i >= 2 && i + 1 < written.size()) CHECK(best == written[i + 1]);
        }
    }
}

TEST_CASE("gguf models: a chat model says the same as its folder, and its copy as a folder", "[models]") {
    const ChatFolder folder(kChatMl, 32);
    const LoadedModel own = load_model(folder.scratch.path());
    const ScratchFolder scratch, copy;
    write_gguf(scratch.path("m.gguf"), *own.model, *own.tokenizer, GgufType::F32, "m");
    const LoadedModel read = load_model(scratch.path("m.gguf"));
    save_model(copy.path(), *read.model, *read.tokenizer);
    const LoadedModel again = load_model(copy.path());
    const std::vector<ChatMessage> talk{{"user", "Where is the hen?<|im_end|>"}};
    const auto ids = ChatTemplate::of(*own.tokenizer).encode(talk, *own.tokenizer);
    for (const LoadedModel* const other : {&read, &again}) {
        const auto chat = ChatTemplate::of(*other->tokenizer);
        CHECK(chat.encode(talk, *other->tokenizer) == ids);
        CHECK(chat.end_of_turn() == 812);
        CHECK(other->tokenizer->vocab_size() == own.tokenizer->vocab_size());
        CHECK(same_bits(some_logits(*other->model), some_logits(*own.model)));
    }
}

TEST_CASE("gguf models: characters with bytes, a llama's window, and an adapter's model", "[models]") {
    const std::string text = "a\\b\n\u00e9";
    const std::string_view part = text;
    const auto own = CharTokenizer::from_texts(std::span(&part, 1), ByteFallback::always);
    Transformer<float> model(gpt2_shape(own.vocab_size() + 3, 1, 2, 8, 6));
    const ScratchFolder scratch;
    write_gguf(scratch.path("m.gguf"), model, own, GgufType::F32, "m");
    const auto back = open_tokenizer(scratch.path("m.gguf"));
    CHECK(back->to_json() == own.to_json());
    CHECK(back->encode("\u4e16a") == own.encode("\u4e16a"));
    for (const auto& [given, window] : {std::pair{0u, 0u}, {4u, 4u}, {8u, 0u}}) {
        const auto read = read_gguf(
            [&, size = given](auto& out) {
                set_small_model(out, "llama");
                if (size) out.set_u32("llama.attention.sliding_window", size);
            },
            load_config);
        CHECK(read.window == window);
    }
    const fs::path adapter = tests_path("reference/adapters/llama");
    const auto adapted = load_model(adapter);
    const auto base = load_model(base_of_adapter(adapter));
    write_gguf(scratch.path("base.gguf"), *base.model, *base.tokenizer, GgufType::F32, "m");
    fs::create_directory(scratch.path("lora"));
    for (const char* const name : {"adapter_config.json", "adapter_model.safetensors"})
        fs::copy_file(adapter / name, scratch.path("lora") + "/" + name);
    change_json_file(scratch.path("lora") + "/adapter_config.json",
                     [](auto& j) { j["base_model_name_or_path"] = "../base.gguf"; });
    const auto loaded = load_model(scratch.path("lora"));
    CHECK(loaded.model->adapter.rank > 0);
    CHECK(same_bits(some_logits(*loaded.model), some_logits(*adapted.model)));
    CHECK(open_tokenizer(scratch.path("lora"))->origin == scratch.path("lora") + "/../base.gguf");
}

// Gemma's windows, and rotary angles: the tests of GGUF's keys.

TEST_CASE("gguf models: an unreadable file is named in one line", "[models]") {
    for (const auto& [key, text, message] :
         {std::tuple{"general.architecture", "gemma2",
                     "architecture 'gemma2' is not supported: gpt2, llama, qwen2, qwen3, gptneox, gemma3 are"},
          {"general.type", "adapter", "general.type is 'adapter': a file of a whole model is required"},
          {"general.architecture", "llama", "llama.block_count must be a whole number of at least 1, got nothing"}})
        CHECK(refused_by(load_file, [k = key, t = text](auto& out) { out.set_text(k, t); }) == message);
    CHECK(refused_by(load_file, [](auto& out) { set_small_model(out, "gpt2"); })
              .starts_with("the weights do not fit its metadata; position_embd.weight is missing; "
                           "blk.0.attn_norm.weight is missing"));
    CHECK(refused_by(open_tokenizer, [](auto&) {}) == "it has no tokenizer: take a file that has one");
    const auto kind = [&](const char* model, const std::vector<std::string>& texts, const char* pre = "gpt-2",
                          const std::vector<std::string>& merges = {}) {
        return refused_by(open_tokenizer, [&](auto& out) {
            out.set_text("tokenizer.ggml.model", model);
            out.set_text("tokenizer.ggml.pre", pre);
            out.set_texts("tokenizer.ggml.tokens", texts);
            out.set_texts("tokenizer.ggml.merges", merges);
        });
    };
    CHECK(kind("t5", {"a"}) == "tokenizer.ggml.model 't5' is not supported: gpt2 and llama are");
    CHECK(kind("gpt2", {"a"}, "tekken") ==
          "tokenizer.ggml.pre 'tekken' is not supported: gpt-2, llama-bpe, qwen2, smollm, default are");
    CHECK(kind("gpt2", {"a", "a"}) == "token 1 is the same as another: 'a'");
    CHECK(kind("gpt2", {"a", "\xff"}) == "token 1 is not UTF-8");
    CHECK(kind("gpt2", {"a"}, "gpt-2", {"a b"}) ==
          "tokenizer.ggml.merges: merge 0 needs \"b\", which is not in the vocabulary");
    CHECK(kind("llama", {"a"}) == "tokenizer.ggml.scores must hold 1 numbers, got 0");
    const auto numbers = [&](const std::vector<float>& types, const std::vector<float>& scores) {
        return refused_by(open_tokenizer, [&](auto& out) {
            out.set_text("tokenizer.ggml.model", "llama");
            out.set_texts("tokenizer.ggml.tokens", {"a", "b"});
            out.set_f32s("tokenizer.ggml.token_type", types);
            out.set_f32s("tokenizer.ggml.scores", scores);
        });
    };
    for (const auto& [type, text] :
         {std::pair{1e10f, "10000000000"}, {-1.0f, "-1"}, {std::nanf(""), "nan"}, {7.0f, "7"}})
        CHECK(numbers({1, type}, {0, 0}) == std::string("token 1 has the unknown type ") + text);
    for (const float score : {std::nanf(""), -std::numeric_limits<float>::infinity()})
        CHECK(numbers({1, 1}, {0, score}) == "the score of token 1 is not finite");
    const std::string chains =
        refused_by(open_tokenizer, [&](auto& out) {  // each token begins with all shorter ones of its letter
            std::vector<std::string> texts;
            for (const char letter : {'a', 'b', 'c', 'd'})
                for (std::size_t n = 1; n <= 999; ++n) texts.push_back(letter + std::string(n - 1, 'a'));
            out.set_text("tokenizer.ggml.model", "llama");
            out.set_texts("tokenizer.ggml.tokens", texts);
            out.set_f32s("tokenizer.ggml.token_type", std::vector<float>(texts.size(), 1));
            out.set_f32s("tokenizer.ggml.scores", std::vector<float>(texts.size(), 0));
        });
    CHECK_THAT(chains, contains("not a SentencePiece vocabulary"));
    CHECK(kind("rwkv", {"ab"}) == "tokenizer.ggml.model 'rwkv' is supported for characters alone, and token 0 is 'ab'");
    CHECK(kind("rwkv", {"\\n"}) == "token '\\n' has a backslash that escapes nothing");
}

TEST_CASE("gguf models: where a name is wrong, the message says what there is", "[models]") {
    const ScratchFolder scratch;
    const std::string missing = scratch.path("none.gguf");
    CHECK(error_of([&] { find_model(missing); }) == missing + ": there is no such file");
    scratch.write("notes.txt", "text");
    CHECK_THAT(error_of([&] { find_model(scratch.path("notes.txt")); }), contains("nor a GGUF file"));
    scratch.write("m.gguf", "text");
    CHECK(error_of([&] { load_model(find_model(scratch.path("m.gguf"))); }) ==
          scratch.path("m.gguf") + ": not a GGUF file: it does not begin with GGUF");
    CHECK_THAT(error_of([&] { find_model(scratch.path()); }),
               contains("neither a model folder (no config.json) nor a run with a checkpoint: name a file "
                        "that it holds, such as " +
                        scratch.path("m.gguf")));
    CHECK(holds_model(scratch.path("m.gguf")));
}
