// inkling export
#include <unistd.h>

#include "cli/arguments/model_argument.h"
#include "cli/arguments/output_file.h"
#include "cli/common.h"
#include "cli/log.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/wrong_usage.h"
#include "formats/files/file.h"
#include "formats/gguf/gguf_file.h"
#include "generate/utf8_stream.h"
#include "models/families/as_qwen3.h"
#include "models/families/family.h"
#include "models/files/adapter_folder.h"
#include "models/files/folder.h"
#include "models/files/gguf/gguf_export.h"
#include "models/files/gguf/modelfile.h"
#include "models/files/weight_files.h"
#include "train/run/run_folder.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;

struct ExportArguments {
    ModelArgument model;
    OutputFile out;
    std::string format = "gguf", type = "", proof = "";
    bool modelfile = false;

    fs::path modelfile_path() const { return fs::path(out.path).parent_path() / "Modelfile"; }
};

const std::map<std::string, formats::GgufType> kGgufTypes = {
    {"f32", formats::GgufType::F32},   {"f16", formats::GgufType::F16},   {"bf16", formats::GgufType::BF16},
    {"q8_0", formats::GgufType::Q8_0}, {"q4_0", formats::GgufType::Q4_0}, {"q4_k_m", formats::GgufType::Q4_K}};
const std::map<std::string, formats::DType> kFolderTypes = {
    {"f32", formats::DType::F32}, {"f16", formats::DType::F16}, {"bf16", formats::DType::BF16}};

// Writes the folder under another name beside `out`, and renames it, so that it appears whole.
void write_folder(const char* flag, const fs::path& out, const std::function<void(const fs::path&)>& fill) {
    check<Usage>(!formats::is_there(out) || (fs::is_directory(out) && fs::is_empty(out)),
                 "{} {} already exists: choose another name", flag, out.string());
    const fs::path whole = without_slash(out);
    const fs::path made = whole.parent_path() / fmt::format(".{}.tmp.{}", whole.filename().string(), getpid());
    fs::create_directories(whole.parent_path());
    formats::write_folder(whole, made, fill);
}

// Writes what others need to train a run again and compare: its settings, records, hashes and tokenizer, but neither
// weights nor text.
int export_proof(const ExportArguments& args) {
    const fs::path run = args.model.model;
    const auto checkpoints = train::find_checkpoints(run);
    check<BadInput>(!checkpoints.empty() && formats::is_there(run / "chain.jsonl"),
                    "--proof needs a run, and {} has no {}", run.string(),
                    checkpoints.empty() ? "checkpoint" : "chain.jsonl: an older version trained it");
    write_folder("--proof", args.proof, [&](const fs::path& folder) {
        const auto copy = [&](const fs::path& file) {
            if (formats::is_there(file)) formats::write_file_atomic(folder / file.filename(), formats::read_file(file));
        };
        for (const char* name : {"chain.jsonl", "config.toml", "metrics.jsonl", "run.json"}) copy(run / name);
        for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) copy(checkpoints.front() / name);
    });
    spdlog::info("wrote {}: check it with inkling verify {} --data TEXT", args.proof, args.proof);
    return 0;
}

// Warns that qwen3 has no soft cap. The remedy is to train on without it.
void warn_of_softcap(const ExportArguments& args, double cap) {
    if (cap <= 0) return;
    spdlog::warn(
        "this model caps its logits at {:g}, and a qwen3 cannot: the exported model writes worse text. To remove the "
        "cap, run inkling train --init-from {} --softcap 0, and export that model",
        cap, args.model.name());
}

// Ollama's Modelfile beside the exported file. Throws BadInput if it would replace another.
std::string make_modelfile(const ExportArguments& args, const data::Tokenizer& tokenizer, const fs::path& base) {
    const std::string own = "./" + fs::path(args.out.path).filename().string();
    const std::string text =
        base.empty() ? models::modelfile(own, "", tokenizer) : models::modelfile(base.string(), own, tokenizer);
    const fs::path path = args.modelfile_path();
    const bool same = !formats::is_there(path) || args.out.overwrite || formats::read_file(path) == text;
    check<BadInput>(same, "--modelfile: {} exists and differs: replace it with --overwrite", path.string());
    return text;
}

// The model's folder or file, without its adapter.
fs::path base_of(const ExportArguments& args) {
    return models::base_of_adapter(
        models::find_model(args.model.model.empty() ? args.model.adapter : args.model.model));
}

// --type, or the type of the model's files. An adapter alone is f32, like its file.
std::string type_of(const ExportArguments& args) {
    if (!args.type.empty() || args.format == "gguf-lora") return args.type.empty() ? "f32" : args.type;
    const std::string_view stored = models::WeightFiles::open(base_of(args)).type();
    for (const auto& [name, type] : kGgufTypes)
        if (stored == formats::gguf_layout(type)->name && (args.format == "gguf" || kFolderTypes.contains(name)))
            return name;
    return "f32";
}

std::string folder_name(const ExportArguments& args) {  // a name for other programs to show
    const fs::path path = args.model.name();
    return formats::is_gguf(path) ? generate::to_valid_utf8(path.stem().string()) : name_of_folder(path);
}

int export_model(const ExportArguments& args) {
    if (!args.proof.empty()) return export_proof(args);
    const fs::path out = args.out.path;
    set_threads(0);
    check<Usage>(!out.empty(), "--out must name a file or folder to write");
    check<Usage>(args.format == "gguf" || args.type.empty() || kFolderTypes.contains(args.type),
                 "--type for --format {} must be one of f32, f16, bf16, got '{}'", args.format, args.type);
    if (args.format.starts_with("gguf")) args.out.check("GGUF", "a GGUF file");
    check<Usage>(!args.modelfile || args.format.starts_with("gguf"),
                 "--modelfile is for --format gguf and gguf-lora, got {}", args.format);
    check<Usage>(!args.modelfile || out.filename() != "Modelfile",
                 "--out {}: --modelfile writes a file of this name: choose another", args.out.path);
    args.out.check_inputs(
        models::model_parts(models::find_model(args.model.model.empty() ? args.model.adapter : args.model.model)));
    models::LoadedModel loaded = load_current(args.model, {.in_files = true});
    const bool adapter = args.format == "gguf-lora";
    std::string modelfile;  // made before anything is written
    if (args.modelfile)
        modelfile = make_modelfile(args, *loaded.tokenizer,
                                   adapter ? fs::absolute(base_of(args)).lexically_normal() : fs::path());
    std::string type = type_of(args);
    if (adapter) {
        check<BadInput>(loaded.model->adapter.rank > 0, "{}: has no adapter, which --format gguf-lora writes",
                        args.model.name());
        models::write_gguf_adapter(out, *loaded.model, kGgufTypes.at(type), folder_name(args));
    } else {
        const models::Architecture& own = loaded.model->config;
        const bool in_gguf = !models::family(own.family).gguf_name.empty();
        if (args.format == "hf-qwen3" ? own.family != "qwen3" : args.format == "gguf" && !in_gguf) {
            const double cap = own.softcap;
            loaded.model = models::as_qwen3(*loaded.model);
            warn_of_softcap(args, cap);
        }
        if (args.format != "gguf")
            write_folder("--out", out, [&](const fs::path& folder) {
                models::save_model(folder, *loaded.model, *loaded.tokenizer, kFolderTypes.at(type));
            });
        else if (const auto asked = kGgufTypes.at(type);
                 models::write_gguf(out, *loaded.model, *loaded.tokenizer, asked, folder_name(args)) != asked)
            type = fmt::format("f16 ({} needs rows of a multiple of 32 numbers)", type);
    }
    spdlog::info("wrote {}: {}, {}", args.out.path, args.format, type);
    if (args.modelfile) {
        formats::write_file_atomic(args.modelfile_path(), modelfile);
        spdlog::info("wrote {}", args.modelfile_path().string());
    }
    return 0;
}

}  // namespace

Action add_export(CLI::App& app) {
    auto args = std::make_shared<ExportArguments>();
    add_model_flags(app, args->model);
    auto* const out =
        add_output_flags(app, args->out, "--out", "file (gguf, gguf-lora) or folder (hf, hf-qwen3) to write");
    auto* const proof =
        app.add_option("--proof", args->proof,
                       "instead of --out: write settings, losses and hashes, without weights, from which inkling "
                       "verify can train the run again and compare");
    offer(*proof->excludes(out), {kFolders});
    app.add_option(
           "--format", args->format,
           "gguf: for llama.cpp (a nanochat becomes a qwen3); hf: a folder for transformers; hf-qwen3: the same, with "
           "a nanochat as qwen3; gguf-lora: only the adapter, for llama.cpp's --lora")
        ->check(refuse_other_than({"gguf", "hf", "hf-qwen3", "gguf-lora"}));
    app.add_option("--type,--outtype", args->type,
                   "type of the weights: f32, f16 or bf16; gguf also q8_0, q4_0 with token tables in q8_0, or q4_k_m, "
                   "llama.cpp's mixture; default: the type of the model's files, or f32")
        ->check(refuse_other_than({"f32", "f16", "bf16", "q8_0", "q4_0", "q4_k_m"}));
    app.add_flag("--modelfile", args->modelfile, "also write an Ollama Modelfile beside the GGUF file");
    return [args] { return export_model(*args); };
}

}  // namespace inkling::cli
