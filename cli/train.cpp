// inkling train
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "cli/arguments/access.h"
#include "cli/arguments/model_argument.h"
#include "cli/arguments/prompt.h"
#include "cli/signals.h"
#include "cli/training/beginning.h"
#include "cli/training/ending.h"
#include "cli/training/json_lines.h"
#include "cli/training/multiprocess.h"
#include "cli/training/progress.h"
#include "cli/training/train_flags.h"
#include "engine/base/clock.h"
#include "formats/files/file.h"
#include "formats/named.h"
#include "models/adapter.h"
#include "models/files/adapter_folder.h"
#include "train/callbacks.h"
#include "train/run/run_metadata.h"
#include "train/setup/setup.h"
#include "web/live/live_run.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;
using train::TrainOptions;

// Throws Usage if --out holds another run than the resumed one, unless --overwrite is given.
void check_place(const TrainOptions& options, const train::Resume& resume) {
    if (!train::holds_run(options.out) || options.overwrite) return;
    if (!resume.candidates.empty() && fs::exists(resume.run) && fs::equivalent(resume.run, options.out)) return;
    // `auto` starts a run over if it ended before its first checkpoint
    check<Usage>(
        options.resume == "auto" && train::find_checkpoints(options.out).empty(),
        "{} already holds a run: continue it with --resume auto, replace it with --overwrite, or choose another --out",
        options.out);
}

// Throws Usage if the new run in --out would remove or replace this input.
void check_input(const TrainOptions& options, const char* flag, const fs::path& input) {
    check<Usage>(!train::is_replaced(input, options.out),
                 "--{} {}: the new run in {} would replace it: copy it to another folder, or choose another --out",
                 flag, input.string(), options.out);
}

// The same of all inputs of a run. A run's config.toml is not counted: the new run writes it again.
void check_inputs(const TrainOptions& options, bool resumed, const data::Corpus& corpus) {
    for (const std::string& source : corpus.sources) check_input(options, "data", source);
    if (std::count(options.data.begin(), options.data.end(), "-") > 0) check_input(options, "data", "/dev/stdin");
    const auto check_model = [&](const char* flag, const std::string& model) {
        if (model.empty()) return;
        for (const fs::path& part : models::model_parts(models::find_model(model))) check_input(options, flag, part);
    };
    if (!resumed) check_model("init-from", options.init_from);
    if (!resumed) check_model("init-adapter", options.init_adapter);
    for (const std::string& teacher : options.teacher) check_model("teacher", teacher);
    const fs::path tokenizer = options.tokenizer;
    check_input(options, "tokenizer", tokenizer);
    for (const char* const link : {"best", "latest"})  // of a run
        if (formats::is_folder(tokenizer) && !formats::is_there(tokenizer / "tokenizer.json") &&
            formats::is_there(tokenizer / link))
            check_input(options, "tokenizer", tokenizer / link);
    const std::string& config = options.config;
    if (config.empty() || !train::is_replaced(config, options.out)) return;
    if (train::to_toml(train::read_toml(config).options) != formats::read_file(config))
        check_input(options, "config", config);
}

std::string nothing_to_do(const train::TrainingLoop& loop) {
    if (loop.stop_reason() == train::StopReason::patience)
        return fmt::format(
            "nothing to do: the validation loss has not improved since step {}: continue all the same with "
            "--patience 0",
            loop.state().best_step);
    if (loop.stop_reason() == train::StopReason::max_time)
        return fmt::format("nothing to do: the time is up at step {}: go on with a longer --max-time than {} s",
                           loop.state().step, loop.options().max_time);
    return fmt::format("nothing to do: step {} of {} is reached", loop.state().step, loop.options().max_iters);
}

// The first signal that any process got; 0 without a signal.
int signal_of_any(int own) { return std::ranges::max(distributed::processes().gather_all(own)); }

// Binds before any long work, so that an error such as a used port shows at once.
std::unique_ptr<web::LiveRun> bind(const TrainOptions& options) {
    if (options.serve.empty()) return nullptr;
    web::HttpOptions http{.insecure = options.insecure};
    std::tie(http.host, http.port) = parse_flag("--serve", options.serve, web::parse_address);
    read_access("--serve", options.allow_host, options.api_key_file, http);
    return std::make_unique<web::LiveRun>(http);
}

// Trains in the processes other than the first. Returns an exit code, as train_model() does.
int follow(train::TrainingLoop& loop) {
    const std::atomic<int>& signal = catch_signals();
    loop.run({}, [&signal] { return signal != 0; });
    const int stopped_by = signal_of_any(signal);
    return stopped_by != 0 ? 128 + stopped_by : 0;
}

int train_model(train::Config config, const TrainCaller& caller, distributed::Processes& processes) {
    const double start = seconds_now();
    const bool first = processes.first(), several = processes.count > 1;
    std::signal(SIGPIPE, SIG_IGN);  // training goes on without a reader of its progress
    const TrainOptions& options = config.options;
    const bool writes = first && !options.dry_run;
    Report report(options.quiet || (options.json && isatty(STDOUT_FILENO)), !first);  // a terminal shows either
    check<Usage>(options.dry_run || !config.is_flag("processes"),
                 "--processes is for --dry-run: mpirun -np N starts N of them");
    for (const char* flag : {"allow-host", "api-key-file", "insecure"})
        check<Usage>(!config.is_flag(flag) || !options.serve.empty(), "--{} is for --serve: add --serve PORT", flag);
    if (config.is_flag("config")) config.fill(train::read_toml(options.config));  // `compare` has read it already
    const train::Resume resume = train::find_resume(options);
    config = train::resolve(std::move(config), resume);
    if (several) check_same_start(processes, config, resume);
    const std::size_t threads = set_threads_of(processes, options.threads);
    if (writes) check_place(options, resume);
    const std::unique_ptr<web::LiveRun> live = writes ? bind(options) : nullptr;
    std::optional<train::RunFolder> folder;
    if (writes && !resume.candidates.empty() && fs::exists(options.out))
        folder.emplace(options.out, options.keep_checkpoints, options.steps_to_save());  // locked from here on
    train::PreparedRun run;
    const bool broadcasts = several && options.broadcast_data && !options.data.empty();
    if (first || !broadcasts) run.corpus = caller.text ? caller.text->corpus : train::read_text(options);
    if (caller.text) run.datasets = &caller.text->datasets;
    if (broadcasts) broadcast(processes, run.corpus);
    if (several && !broadcasts) check_same_text(processes, run.corpus);
    for (const std::string& note : run.corpus.notes()) report.note(note);
    const bool stays = !resume.candidates.empty() && fs::exists(options.out) &&
                       fs::equivalent(resume.candidates[0].parent_path(), options.out);
    if (writes && !stays) check_inputs(options, !resume.candidates.empty(), run.corpus);

    if (options.dry_run) return print_estimate(config, run.corpus, threads);
    train::prepare(config, resume, report, run);
    for (const std::string& prompt : options.sample_prompt) {  // report unreadable prompts before training
        check_utf8({prompt, "--sample-prompt"});
        formats::named("--sample-prompt", [&] { run.loaded.tokenizer->encode(prompt); });
    }
    run.corpus = {};  // frees large texts

    if (!first) return follow(*run.loop);

    if (!folder) folder.emplace(options.out, options.keep_checkpoints, options.steps_to_save());
    check_place(options, resume);  // again, in case another run has started there
    const fs::path& checkpoint = run.checkpoint;
    const bool goes_on = !checkpoint.empty() && fs::equivalent(checkpoint.parent_path(), folder->path());
    const std::uint64_t parameters = run.loaded.model->parameter_count();
    const models::AdapterOptions& adapter = run.loaded.model->adapter;
    train::TrainingLoop& loop = *run.loop;
    print_header(report, run, threads);

    const std::atomic<int>& signal = catch_signals();
    const data::Tokenizer& tokenizer = *run.loaded.tokenizer;
    const nlohmann::ordered_json plan =
        plan_json(loop.options(), parameters, run.text.ids.size(), tokenizer.vocab_size(), threads);
    if (!goes_on && adapter.rank > 0) check_input(options, "init-from", adapter.base);
    goes_on ? folder->repair_links(checkpoint, run.damaged)
            : folder->clear();  // everything is checked before this point
    train::MetricsFile metrics(folder->path() / "metrics.jsonl", loop.state().step);
    train::CheckpointSaver checkpoints(*folder, tokenizer, loop, &metrics);
    train::LinesFile samples_file(folder->path() / "samples.jsonl", loop.state().step);
    nlohmann::ordered_json facts = {{"inkling", INKLING_VERSION},
                                    {"parameters", parameters},
                                    {"vocab_size", tokenizer.vocab_size()},
                                    {"tokens", run.text.ids.size()},
                                    {"text_bytes", run.text.bytes},
                                    {"documents", run.text.has_examples()},
                                    {"threads", threads}};
    if (adapter.rank > 0)
        facts.update({{"trained_parameters", run.loaded.model->adapter_count()}, {"base_model", adapter.base}});
    if (!caller.comparison.empty()) facts["comparison"] = caller.comparison;
    train::RunMetadata metadata(folder->path(), facts);
    JsonLines json;
    const auto take_sample = [&](const std::string& prompt, const std::string& text) {
        report.sample(prompt + text);
        if (options.json) json.sample(loop, prompt, text);
        samples_file.write({{"step", loop.state().step}, {"prompt", prompt}, {"text", text}});
    };
    train::SampleWriter samples(tokenizer, take_sample);
    std::vector<train::Callback*> callbacks = {&metrics, &report, &checkpoints, &samples, &metadata};
    if (options.json) {
        json.plan(plan);
        callbacks.push_back(&json);
    }
    if (live) {
        callbacks.push_back(live.get());
        live->start(folder->path(), tokenizer, ask_to_stop);
        report.note(fmt::format("live view: {}", live->places()));
    }
    if (caller.callback) callbacks.push_back(caller.callback);
    if (loop.finished()) report.note(nothing_to_do(loop));
    loop.run(callbacks, [&] { return signal != 0 || (caller.stop && caller.stop()); });
    int stopped_by = signal_of_any(signal);
    if (stopped_by == 0 && loop.stop_reason() == train::StopReason::interrupted) stopped_by = SIGINT;
    if (stopped_by != 0) {
        report.note(fmt::format("stopped at step {}; saved in {}; continue with --resume auto", loop.state().step,
                                (folder->path() / "latest").string()));
        if (options.json) json.end(loop, folder->path(), checkpoints.sha256());
        if (live) live->finish();
        return 128 + stopped_by;
    }
    print_summary(report, loop, tokenizer, metadata, seconds_now() - start, checkpoints.sha256(), take_sample);
    if (options.json) json.end(loop, folder->path(), checkpoints.sha256());
    if (live) live->finish();
    return 0;
}

}  // namespace

Action add_train(CLI::App& app) {
    const auto flags = std::make_shared<TrainFlags>(app, [](const train::Setting&) { return true; });
    return [flags] { return run_train(flags->config()); };
}

int run_train(train::Config config, const TrainCaller& caller) {
    forget_signal();  // a page may have stopped an earlier run
    if (distributed::launched_count() > 1) config.options.processes = distributed::launched_count();
    if (config.options.dry_run)
        return distributed::launched_rank() > 0 ? 0 : train_model(std::move(config), caller, distributed::alone());
    distributed::Processes& processes = distributed::start_processes();
    const int code = train_model(std::move(config), caller, processes);
    distributed::finish_processes(code);
    return code;
}

}  // namespace inkling::cli
