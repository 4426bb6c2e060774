// inkling verify
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/common.h"
#include "cli/signals.h"
#include "cli/training/replays.h"
#include "cli/training/verify_lines.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/help.h"
#include "data/dataset.h"
#include "distributed/launch.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "models/files/folder.h"
#include "train/run/chain.h"
#include "train/run/checkpoint.h"
#include "train/run/resume.h"
#include "train/run/run_folder.h"
#include "train/run/verify.h"
#include "train/settings/settings.h"
#include "train/setup/setup.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct VerifyArguments {
    std::string run;
    ReplayFlags replay;
    std::vector<std::string> data;
    std::size_t threads = 0;
    bool text = true, json = false;
};

class Verification {
  public:
    explicit Verification(const VerifyArguments& args) : args_(args), lines_(args.json) {
        const fs::path run = fs::path(args.run) / "";  // parent_path() then drops a trailing slash
        run_ = run.parent_path();
        check<BadInput>(formats::is_there(args.run), "{}: no such folder", args.run);
        folders_ = train::find_checkpoints(run_);
        is_run_ = !folders_.empty();
        if (!is_run_ && formats::is_there(run_ / "training_state.safetensors")) folders_ = {run_};
        is_proof_ =
            folders_.empty() && formats::is_there(run_ / "chain.jsonl") && formats::is_there(run_ / "config.toml");
        check<BadInput>(!folders_.empty() || is_proof_,
                        "{}: is neither a run, a checkpoint nor a proof: it has no step-NNNNNN, no "
                        "training_state.safetensors, and no chain.jsonl with a config.toml",
                        args.run);
        replay_ = args.replay;
        if (is_proof_ && replay_.count.empty()) replay_.count = "all";
        check<Usage>(!replay_.seed || !replay_.count.empty(), "--seed is for --replay: add --replay K");
        if (replay_.count.empty()) return;
        static_cast<void>(replay_.limit());
        check<Usage>(is_run_ || is_proof_, "--replay is for a run, and {} is one checkpoint: name the run", args.run);
        check<Usage>(args.text, "--replay trains on the text: leave out --no-text");
    }

    int run() {
        for (const fs::path& folder : folders_) {
            const train::CheckedCheckpoint checkpoint = train::verify_checkpoint(folder, args_.replay.moved.init_from);
            std::error_code none;
            const bool removed = !fs::exists(fs::symlink_status(folder, none));  // a run may have removed it meanwhile
            if (removed && !checkpoint.problem.empty()) continue;
            lines_.say(checkpoint);
            checked_.push_back(checkpoint);
        }
        if (is_run_)
            for (const train::CheckedLink& link : train::verify_links(run_, checked_))
                lines_.say(link, first_whole() != nullptr);
        if (is_run_ || is_proof_) check_settings();
        if (is_run_ || is_proof_) check_chain();
        const train::CheckedCheckpoint* const whole = first_whole();
        if (args_.text && (whole || can_replay_proof())) {
            const CheckedText text = check_text(whole);
            text_changed_ = !text.problem.empty();
            lines_.say(text);
        }
        if (!replay_.count.empty()) replay(whole);
        if (signal_code() != 0) return 0;
        conclude(whole);
        return lines_.problems > 0 ? kCheckFailed : counts_.not_replayed > 0 ? kBadInput : 0;
    }

  private:
    const train::CheckedCheckpoint* first_whole() const {  // null if there is none
        for (const train::CheckedCheckpoint& c : checked_)
            if (c.problem.empty()) return &c;
        return nullptr;
    }

    bool can_replay_proof() const { return !chain_.empty() && settings_; }

    void check_settings() {
        std::error_code none;
        if (!fs::exists(fs::symlink_status(run_ / "config.toml", none))) return;
        try {
            settings_ = train::read_toml(run_ / "config.toml").options;
        } catch (const Error& e) {
            lines_.say_problem("settings", e.what(), "config.toml");
        }
    }

    // Replays a proof by its lines, if the chain is unbroken.
    void check_chain() {
        std::map<std::size_t, train::FileHashes> whole;
        for (const train::CheckedCheckpoint& c : checked_)
            if (c.problem.empty()) whole[train::step_of(c.folder)] = c.files;
        const std::vector<std::string> problems = train::chain_problems(run_, whole);
        for (const std::string& problem : problems) lines_.say_problem("chain", problem);
        if (!problems.empty()) return;
        const std::vector<train::ChainLine> chain = train::read_chain(run_);
        check<BadInput>(!is_proof_ || !chain.empty(), "{}: has no line", (run_ / "chain.jsonl").string());
        if (chain.empty()) return;
        lines_.line({{"event", "chain"},
                     {"lines", chain.size()},
                     {"step", chain.back().step},
                     {"sha256", chain.back().sha256},
                     {"problem", nullptr}},
                    fmt::format("chain: {}, the last, of step {}, has sha256 {}", counted(chain.size(), "line"),
                                chain.back().step, chain.back().sha256));
        if (is_proof_) chain_ = chain;
    }

    // Trains stretches of the run again, unless its text has changed, which was reported before.
    void replay(const train::CheckedCheckpoint* whole) {
        if (whole && settings_) {
            const std::string what = whole->folder.string();
            const train::Config then = train::parse_toml(train::stored_state(whole->folder).config, what);
            for (const std::string& change : train::changed_settings(then, *settings_))
                lines_.say_problem("settings", fmt::format("config.toml is not that of {}: {}",
                                                           whole->folder.filename().string(), change));
        }
        if (text_changed_ || (!whole && !can_replay_proof())) return;
        const auto stretches = whole ? train::stretches_of(run_, checked_)
                                     : std::vector{train::Stretch{.run = run_, .last = chain_.back().step}};
        counts_ = replay_stretches(stretches, replay_, text_, [this](const auto&... line) { lines_.line(line...); });
        lines_.problems += counts_.differ;
    }

    // Reads the text as a resumed run would. Without a checkpoint, the folder holds a chain.
    CheckedText check_text(const train::CheckedCheckpoint* whole) {
        const fs::path folder = whole ? whole->folder : run_;
        train::TrainOptions options =
            settings_ ? *settings_ : train::parse_toml(train::stored_state(folder).config, folder.string()).options;
        if (!args_.data.empty()) options.data = args_.data;
        CheckedText text{
            options.data.empty() ? "the built-in stories" : fmt::format("{}", fmt::join(options.data, ", ")), "", ""};
        for (const std::string& path : options.data) {
            std::error_code none;
            if (path == "-" || fs::is_fifo(path, none))
                text.not_checked = "it was read from a pipe";
            else if (!fs::exists(path, none) && path.find_first_of("*?[") == std::string::npos)
                text.not_checked = fmt::format("there is no {} here: resume with --data", path);
        }
        check<BadInput>(text.not_checked.empty() || replay_.count.empty(),
                        "{}: --replay trains on the text, and it is not here: name it with --data", text.name);
        if (!text.not_checked.empty()) return text;
        const auto tokenizer = models::open_tokenizer(folder);
        try {
            text_.corpus = train::read_text(options);
            tokenizer->take_unknown(options.strict_vocabulary);
            const data::DatasetOptions how{.loss_on = options.loss_on, .in_memory = &text_.datasets};
            if (data::make_dataset(text_.corpus, *tokenizer, how).fingerprint !=
                (whole ? whole->data_fingerprint : chain_.back().text))
                text.problem = "is another text than was trained on: resume with --data and that text";
        } catch (const BadInput& e) {
            text.problem = fmt::format("is another text than was trained on: {}", e.what());
        }
        return text;
    }

    void conclude(const train::CheckedCheckpoint* whole) const {
        const auto good = static_cast<std::size_t>(
            std::count_if(checked_.begin(), checked_.end(), [](const auto& c) { return c.problem.empty(); }));
        std::string text = fmt::format("{} of {} whole", good, counted(checked_.size(), "checkpoint"));
        if (is_proof_)
            text = fmt::format("{} of {} hold", counts_.lines, counted(chain_.size(), "line"));
        else if (counts_.hold + counts_.differ > 0)
            text += fmt::format("; {} of {} replayed stretches hold", counts_.hold, counts_.hold + counts_.differ);
        if (whole && !text_changed_)
            text += is_run_ ? fmt::format("; to go on from {}: inkling train --out {} --resume auto",
                                          whole->folder.filename().string(), run_.string())
                            : fmt::format("; to go on from it: inkling train --resume {}", run_.string());
        else if (whole)
            text +=
                fmt::format("; to go on from {}, give the text that was trained on", whole->folder.filename().string());
        else if (!is_proof_)
            text += "; nothing can be resumed";
        lines_.line({{"event", "end"},
                     {"checkpoints", checked_.size()},
                     {"whole", good},
                     {"problems", lines_.problems},
                     {"resumes", whole ? ordered_json(whole->folder.string()) : ordered_json()}},
                    text);
    }

    const VerifyArguments& args_;
    fs::path run_;
    bool is_run_ = false, is_proof_ = false, text_changed_ = false;
    ReplayFlags replay_;
    ReplayCounts counts_;
    std::vector<train::ChainLine> chain_;  // of a folder without checkpoints
    train::TextOfRuns text_;
    std::optional<train::TrainOptions> settings_;  // of the run's config.toml
    std::vector<fs::path> folders_;
    std::vector<train::CheckedCheckpoint> checked_;  // newest first
    VerifyLines lines_;
};

}  // namespace

Action add_verify(CLI::App& app) {
    auto args = std::make_shared<VerifyArguments>();
    offer(*app.add_option("run", args->run, "folder of a run, or one of its checkpoints")->required(), {kFolders});
    offer(
        *app.add_option(
                "--replay", args->replay.count,
                "train N stretches between checkpoints (or all) again, and compare losses, weights and optimizer state")
             ->type_name("N"),
        {"all"});
    app.add_option("--seed", args->replay.seed, "seed for choosing the stretches; default: random");
    repeatable(*offer(*app.add_option("--data", args->data, "the run's text, if it has moved; repeatable"), {kFiles}));
    offer(*app.add_option("--init-from", args->replay.moved.init_from, "the run's base model, if it has moved"),
          {kFiles});
    repeatable(*offer(
        *app.add_option("--teacher", args->replay.moved.teacher, "the run's teacher, if it has moved; repeatable"),
        {kFiles}));
    app.add_flag("--text,!--no-text", args->text, "compare the text with the training text")->default_str(kOn);
    app.add_option("--threads", args->threads, "maximum number of threads; 0: one for each physical core");
    app.add_flag("--json", args->json, "print one JSON object per line");
    return [args] {
        if (distributed::launched_rank() > 0) return 0;  // under mpirun, only the first process verifies
        set_threads(args->threads);
        return Verification(*args).run();
    };
}

}  // namespace inkling::cli
