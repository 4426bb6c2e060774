#include "train/setup/resolve.h"

#include <algorithm>

#include "data/text/token_ids.h"
#include "data/tokenizers/tokenizer.h"
#include "formats/files/file.h"
#include "formats/gguf/gguf_file.h"
#include "models/families/family.h"
#include "models/files/adapter_folder.h"
#include "models/files/folder.h"
#include "train/recipes/fit.h"
#include "train/recipes/recipes.h"
#include "train/run/checkpoint.h"
#include "train/run/run_folder.h"

namespace inkling::train {

namespace fs = std::filesystem;

namespace {

// A resumed run starts from its own settings: those in its folder, which may be newer, else those in a checkpoint.
TrainOptions own_options(const Resume& resume) {
    TrainOptions own;
    if (!resume.run.empty() && formats::is_there(resume.run / "config.toml")) {
        own = read_toml(resume.run / "config.toml").options;
    } else {
        for (const fs::path& candidate : resume.candidates) {
            try {
                own = parse_toml(stored_state(candidate).config, candidate.string()).options;
                break;
            } catch (const BadInput&) {  // reported when the checkpoint is tried
            }
        }
    }
    if (!resume.run.empty()) own.out = resume.run.string();  // the folder may have been moved
    return own;
}

// Checks which adapter flags may be combined. An adapter that training continues from brings its settings and names its
// model.
void check_adapter_flags(bool resumed, Config& c) {
    TrainOptions& o = c.options;
    if (!o.init_adapter.empty() && !resumed) {
        const fs::path folder = models::find_adapter("--init-adapter", o.init_adapter);
        if (o.init_from.empty()) o.init_from = models::base_of_adapter(folder).string();
        take_adapter(models::read_adapter_config(folder), c);
    }
    check<WrongSetting>(o.lora_rank == 0 || !c.is_flag("softcap"),
                        "--softcap changes the model, which adapters leave as it is: leave it out");
    for (const char* flag : {"lora-alpha", "lora-dropout", "lora-targets", "rs-lora", "base-precision"})
        check<WrongSetting>(o.lora_rank > 0 || !c.is_flag(flag), "--{} is for adapters: add --lora-rank", flag);
}

// Takes over `loaded`, the options changed by the contents of a folder. Throws WrongSetting for flags that contradict
// them.
void take_over(const TrainOptions& loaded, const char* what, Config& c) {
    for (const Setting* const s : differing(c.options, loaded))
        check<WrongSetting>(!c.is_flag(s->name), "--{} is {} in the {} that is loaded, got {}: leave the flag out",
                            s->name, s->text(loaded), what, s->text(c.options));
    c.options = loaded;
}

}  // namespace

Resume find_resume(const TrainOptions& given) {
    const std::string &out = given.out, &from = given.resume;
    for (const std::string& path : {out, from})
        if (path != "auto") static_cast<void>(formats::is_there(path));  // throws if that cannot be determined
    if (from.empty()) return {};
    if (from == "auto") return {out, find_checkpoints(out)};
    Resume resume{from, find_checkpoints(from)};
    if (!resume.candidates.empty()) return resume;
    check<BadInput>(formats::is_there(from), "{}: there is no such run or checkpoint", from);
    const fs::path checkpoint = fs::weakly_canonical(models::find_model(from));  // `latest` is a link
    const bool named_as_one = is_checkpoint(checkpoint.filename().string());
    return {named_as_one ? checkpoint.parent_path() : fs::path(), {checkpoint}};
}

Config resolve(Config c, const Resume& resume) {
    TrainOptions& o = c.options;
    const bool resumed = !resume.candidates.empty();
    const Recipe* start = o.recipe.empty() ? nullptr : &recipe(o.recipe);
    if (!start && o.config.empty())
        start = &default_recipe(!c.is_flag("data"), c.is_flag("init-from") || c.is_flag("init-adapter"));
    if (resumed) start = nullptr;  // its first choices still hold
    c.fill({.options = resumed ? own_options(resume) : start ? start->options : TrainOptions()});
    c.fits = start ? start->fits : Fits::nothing;
    check_adapter_flags(resumed, c);
    check<WrongSetting>(!c.is_flag("teacher-weight") || !o.teacher.empty(),
                        "--teacher-weight is for --teacher: name a model with it");
    check<WrongSetting>(c.fits != Fits::model || !o.init_from.empty(),
                        "--recipe finetune needs a model to start from: give --init-from MODEL");
    if (!resumed) c.choose("shards", o.shards, o.processes);
    if (c.fits != Fits::nothing) fit_given(c);
    if (resumed && (c.is_flag("max-iters") || c.is_flag("max-flops")) && !c.is_flag("max-time")) o.max_time = 0;
    const auto ids = std::find_if(o.data.begin(), o.data.end(), data::names_token_ids);
    if (ids != o.data.end() && !resumed && !c.is_given("tokenizer") && o.init_from.empty() && o.teacher.empty()) {
        check<WrongSetting>(c.is_given("vocab-size"),
                            "{} holds token ids: give the size of their vocabulary with --vocab-size, or their "
                            "tokenizer with --tokenizer",
                            *ids);
        o.tokenizer = name_of(data::TokenizerKind::ids);
    }
    const bool sized =
        o.tokenizer == "bpe" || o.tokenizer == "ids" || (c.fits == Fits::shape && !c.is_given("tokenizer"));
    check<WrongSetting>(!c.is_flag("vocab-size") || sized,
                        "--vocab-size is for --tokenizer bpe and ids, got --tokenizer {}", o.tokenizer);
    check<WrongSetting>((o.processes & (o.processes - 1)) == 0,
                        "the number of processes must be a power of two, got {}", o.processes);
    about_settings([&] { o.validate(); });
    check<WrongSetting>(o.shards % o.processes == 0,
                        "--shards must be a multiple of the number of processes, got {} and {}", o.shards, o.processes);
    return c;
}

void change_softcap(const Config& c, models::Architecture& model) {
    const double cap = c.options.softcap;
    if (!c.is_given("softcap") || cap < 0) return;
    check<WrongSetting>(cap == 0 || models::family(model.family).has_flag("softcap"),
                        "--softcap is not for --arch {}: leave it out", model.family);
    model.softcap = cap;
}

void take_adapter(const models::AdapterOptions& adapter, Config& c) {
    TrainOptions loaded = c.options;
    loaded.lora_rank = adapter.rank;
    loaded.lora_alpha = adapter.alpha;
    loaded.rs_lora = adapter.rank_stabilized;
    if (!c.is_flag("lora-dropout")) loaded.lora_dropout = adapter.dropout;
    take_over(loaded, "adapter", c);
}

void check_targets(const models::Architecture& model, const TrainOptions& options) {
    if (options.lora_rank > 0) about_settings([&] { return models::adapter_targets(model, options.lora_targets); });
}

void fit_base_precision(const fs::path& base, Config& c) {
    TrainOptions& o = c.options;
    if (o.lora_rank > 0 && !c.is_given("base-precision")) o.base_precision = models::usual_weights(base);
}

void take_shape(const models::Architecture& model, bool chosen, Config& c) {
    TrainOptions& o = c.options;
    check<WrongSetting>(!c.is_flag("block-size") || o.block_size <= model.block_size,
                        "--block-size must be at most {}, the context of the model that is loaded, got {}",
                        model.block_size, o.block_size);
    o.block_size = chosen ? std::min(o.block_size, model.block_size) : model.block_size;
    TrainOptions loaded = o;
    loaded.arch = model.family;
    loaded.n_layer = model.n_layer, loaded.n_head = model.n_head, loaded.n_embd = model.n_embd;
    // sets the others only where the model differs from the default, which is in `shape`
    const models::Architecture shape = loaded.model_config(1);
    if (shape.kv_heads() != model.kv_heads()) loaded.n_kv_head = model.kv_heads();
    if (shape.inner() != model.inner()) loaded.n_inner = model.inner();
    if (shape.head_size() != model.head_size()) loaded.head_dim = model.head_size();
    if (shape.rope_theta != model.rope_theta) loaded.rope_theta = model.rope_theta;
    if (shape.softcap != model.softcap) loaded.softcap = model.softcap;
    if (models::family(model.family).defaults(o.bias).qkv_bias != model.qkv_bias)  // Qwen 2 always has them
        loaded.bias = model.qkv_bias;
    take_over(loaded, "model", c);
}

}  // namespace inkling::train
