// Invalid model folders: each is bad input, and the message names the file.
#include <sys/resource.h>

#include "models/files/state_dict.h"
#include "tests/models/folders.h"

TEST_CASE("damaged folder: a missing file is named, and JSON that is none, of another kind or tokenizer", "[models]") {
    for (const char* name : {"config.json", "model.safetensors", "tokenizer.json"}) {
        const ModelFolder folder;
        fs::remove(folder.path(name));
        INFO(name);
        CHECK_THAT(folder.refusal(), contains(folder.path(name).string()));
        fs::create_directory(folder.path(name));
        CHECK_THAT(folder.refusal(), contains(folder.path(name).string()));
    }
    const ModelFolder folder;
    CHECK(folder.refusal().empty());
    fs::remove(folder.path("generation_config.json")), fs::remove(folder.path("tokenizer_config.json"));
    CHECK(folder.refusal().empty());  // these only tell other programs how to write text
    const std::string config = read_file(folder.path("config.json"));
    for (const char* text :
         {"", "{", "[]", "3", "\"gpt2\"", "{\"model_type\": \"gpt2\"}", "{\"model_type\": \"llama\"}",
          "version https://git-lfs.github.com/spec/v1", "\xff\xfe{}"}) {
        folder.scratch.write("config.json", text);
        INFO(text);
        CHECK_THAT(folder.refusal(), contains("config.json"));
    }
    folder.scratch.write("config.json", config);
    for (const char* text : {"", "{}", "[]", "{\"model\": {\"type\": \"WordPiece\"}}"}) {
        folder.scratch.write("tokenizer.json", text);
        INFO(text);
        CHECK_THAT(folder.refusal(), contains("tokenizer.json"));
    }
    folder.scratch.write("tokenizer.json", CharTokenizer::from_text("abcdefghi").to_json());
    CHECK_THAT(folder.refusal(), contains("tokenizer.json: 9 tokens do not fit the model's vocabulary of 8"));
    folder.scratch.write("tokenizer.json", CharTokenizer::from_text("abc").to_json());
    CHECK(folder.refusal().empty());  // a padded vocabulary
}

TEST_CASE("damaged folder: a FIFO and a far too large file are refused by name", "[models]") {
    for (const char* name : {"config.json", "tokenizer.json", "model.safetensors", "model.safetensors.index.json"}) {
        const ModelFolder folder;
        if (std::string(name).ends_with("index.json")) fs::remove(folder.weights());
        const std::string path = folder.path(name);
        fs::remove(path);
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);  // nobody writes to it
        CHECK_THAT(folder.refusal(), contains("cannot read " + path + ": it is a FIFO"));
        fs::remove(path);
        if (std::string(name).ends_with(".safetensors")) continue;
        folder.scratch.write(name, "{");
        fs::resize_file(path, std::uintmax_t{1} << 40);
        CHECK_THAT(folder.refusal(), contains("cannot read " + path + ": ", "the limit for a JSON file is 64 MB"));
    }
    const ModelFolder folder;  // weights are mapped: a terabyte of them is only more than the header says
    fs::resize_file(folder.weights(), std::uintmax_t{1} << 40);
    CHECK_THAT(folder.refusal(), contains("the file was added to"));
}

TEST_CASE("damaged folder: tensors that are only compared are not read when they are larger", "[models]") {
    for (const char* name : {"lm_head.weight", "transformer.ln_f.bias"}) {
        const ModelFolder folder(false);
        folder.change_weights([&](StoredTensors& t) { t.erase(name); });
        const std::string old = read_file(folder.weights());
        std::uint64_t size = 0;
        std::memcpy(&size, old.data(), sizeof size);
        json header = json::parse(old.substr(8, size));
        // a terabyte of numbers behind the others, in a sparse file
        const std::uint64_t count = std::uint64_t{1} << 38, end = old.size() - 8 - size;
        header[name] = {{"dtype", "F32"}, {"shape", {count}}, {"data_offsets", {end, end + 4 * count}}};
        std::string text = header.dump();
        text.resize((text.size() + 7) / 8 * 8, ' ');
        const std::uint64_t text_size = text.size();
        text.insert(0, reinterpret_cast<const char*>(&text_size), 8);
        folder.scratch.write("model.safetensors", text + old.substr(8 + size));
        fs::resize_file(folder.weights(), text.size() + end + 4 * count);
        CHECK_THAT(folder.refusal(), contains(name));
    }
}

TEST_CASE("damaged folder: all that is wrong with the weights is listed at once", "[models]") {
    const ModelFolder folder;
    folder.change_weights([](StoredTensors& t) {
        t.erase("transformer.h.0.ln_1.weight"), t.erase("transformer.ln_f.bias");
        t["transformer.h.1.mlp.c_fc.weight"].shape = {48, 12};
        t["transformer.wpe.weight"] = {{7, 12}, std::vector<float>(84)};
        t["transformer.h.2.ln_1.weight"] = {{12}, std::vector<float>(12)};
        t["adapter"] = {{100}, std::vector<float>(100)};
    });
    const std::string message = folder.refusal();
    CHECK_THAT(message, contains(folder.weights().string() + ": the weights do not fit config.json"));
    CHECK_THAT(message, contains("transformer.h.0.ln_1.weight is missing", "transformer.ln_f.bias is missing",
                                 "transformer.h.1.mlp.c_fc.weight has shape (48, 12) where config.json wants (12, 48)",
                                 "transformer.wpe.weight has shape (7, 12) where config.json wants (6, 12)",
                                 "transformer.h.2.ln_1.weight is not known", "adapter is not known"));
    CHECK(message.find('\n') == std::string::npos);
    const ModelFolder larger;  // a width that is too large names the tensors that are smaller
    larger.change_json("config.json", [](json& j) { j["n_inner"] = 96; });
    CHECK_THAT(larger.refusal(),
               contains("transformer.h.1.mlp.c_fc.weight has shape (12, 48) where config.json wants (12, 96)"));
    larger.change_json("config.json", [](json& j) { j["n_layer"] = 1000; });
    CHECK_THAT(larger.refusal(), contains("transformer.h.999.ln_1.weight is missing"));
}

TEST_CASE("damaged folder: weights that are not finite, no floats, or of another form are refused", "[models]") {
    for (const float bad :
         {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()})
        for (const char* name :
             {"transformer.h.1.attn.c_proj.weight", "transformer.wte.weight", "transformer.ln_f.bias"}) {
            const ModelFolder folder;
            folder.change_weights([&](StoredTensors& t) { t[name].values.back() = bad; });
            CHECK_THAT(folder.refusal(), contains(std::string("model.safetensors: ") + name));
        }
    const ModelFolder folder;
    const StoredTensors tensors = read_tensors(folder.weights());
    SafetensorsWriter out;
    for (const auto& [name, t] : tensors)
        out.add(name, name == "transformer.wpe.weight" ? DType::I32 : DType::F32, t.shape, t.values.data());
    out.write(folder.weights());
    CHECK_THAT(folder.refusal(), contains("transformer.wpe.weight"));
    for (const char* pickle : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
        const ModelFolder pickled;
        fs::rename(pickled.weights(), pickled.path(pickle));
        CHECK_THAT(pickled.refusal(),
                   contains(std::string("holds ") + pickle + ", which is not read", "AutoModelForCausalLM"));
    }
    for (const char* name : {"gpt2", "Qwen/Qwen2.5-0.5B", "openai-community/gpt2"})
        CHECK_THROWS_WITH(find_model(name), contains("there is no such model folder: if it is on huggingface.co",
                                                     std::string("hf download ") + name + " --local-dir "));
    for (const char* name : {"/no/where", "./gpt2", "a/b/c", "no such one"})
        CHECK_THROWS_WITH(find_model(name), std::string(name) + ": there is no such model folder");
}

TEST_CASE("damaged folder: no infinite weights are written, and nothing where nothing can be written", "[models]") {
    ModelFolder folder;
    const std::string before = read_file(folder.weights());
    float& value = folder.model.at(parameters(folder.model.config)[3]).tensor().value_in_place().data()[2];
    for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
        value = bad;
        for (const auto type : {DType::F32, DType::F16, DType::BF16})
            CHECK_THROWS_WITH(save_model(folder.path(), folder.model, folder.tokenizer, type),
                              contains("has the value " + fmt::format("{}", bad)));
        CHECK_THROWS_WITH(save_state_dict(folder.model, folder.weights()), contains("has the value"));
    }
    CHECK(read_file(folder.weights()) == before);
    ModelFolder full;
    const std::string whole = read_file(full.weights());
    CHECK_THROWS_AS(save_model(full.path("nowhere"), full.model, full.tokenizer), Error);
    fs::remove(full.path("tokenizer.json"));
    fs::create_directory(full.path("tokenizer.json"));
    full.model.outer[ParameterName::token_table].weight.tensor().value_in_place().data()[0] += 1;
    CHECK_THROWS_AS(save_model(full.path(), full.model, full.tokenizer), Error);
    CHECK(read_file(full.weights()) == whole);
    for (const auto& entry : fs::directory_iterator(full.path()))
        CHECK(entry.path().filename().string().find(".tmp") == std::string::npos);
}

TEST_CASE("damaged folder: a config that claims huge sizes takes no memory", "[models]") {
    const ModelFolder folder;
    const auto claims = [&](std::uint64_t vocab, std::uint64_t layers, std::uint64_t width, std::uint64_t positions) {
        folder.change_json("config.json", [&](json& j) {
            j["vocab_size"] = vocab, j["n_layer"] = layers, j["n_head"] = 1, j["n_embd"] = width,
            j["n_positions"] = positions;
        });
    };
    constexpr std::uint64_t most = 1u << 30;
    const auto peak_mb = [] {
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        return used.ru_maxrss / 1024;
    };
    const long before = peak_mb();
    claims(most, most, most, most);
    CHECK_THAT(folder.refusal(), contains("model.safetensors"));
    claims(most, 165191053, most, 1073741781);  // as many parameters as a multiple of 2^64
    CHECK_THAT(folder.refusal(), contains("model.safetensors"));
    for (const std::uint64_t size : {std::uint64_t{1} << 20, most})
        for (std::size_t i = 0; i < 4; ++i) {
            std::uint64_t sizes[] = {8, 2, 12, 6};
            sizes[i] = size;
            claims(sizes[0], sizes[1], sizes[2], sizes[3]);
            CHECK_THAT(folder.refusal(), contains("model.safetensors"));
        }
    CHECK(peak_mb() - before < 64);
}

TEST_CASE("find_model: links that lead in a circle are bad input", "[models]") {
    const ScratchFolder folder;
    fs::create_symlink("loop", folder.path("loop"));
    CHECK_THROWS_WITH(find_model(folder.path("loop")), contains("Too many levels of symbolic links"));
    fs::create_symlink("best", folder.path("best"));
    CHECK_THROWS_WITH(find_model(folder.path()), contains(folder.path("best")));
    fs::remove(folder.path("best"));
    fs::create_symlink("nowhere", folder.path("best"));
    CHECK_THROWS_WITH(find_model(folder.path()), contains("neither a model folder", ": name the --out of a"));
}
