// inkling compare
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "cli/common.h"
#include "cli/log.h"
#include "cli/training/train_options.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/help.h"
#include "cli/usage/setting_flag.h"
#include "engine/base/clock.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "train/callback.h"
#include "train/loop.h"
#include "train/recipes/recipes.h"
#include "train/settings/settings.h"
#include "web/report/pages.h"
#include "web/report/run_data.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;
using Flags = std::map<std::string, std::vector<std::string>>;  // arguments of run_train()
using nlohmann::ordered_json;

constexpr double kSure = 0.01;          // a difference with a lower p is real
constexpr std::size_t kLeastSeeds = 3;  // needed for a decision

struct CompareArguments {
    std::vector<std::string> files;
    std::string out;
    std::size_t max_seeds = 10;
    bool json = false;
    TrainArguments train;
    std::vector<std::pair<std::string, const CLI::Option*>> flags;  // for all runs
};

// The mean of the differences b - a of runs with the same seeds, its 95% confidence interval, and p of the paired
// t-test.
struct Difference {
    double mean = 0, low = 0, high = 0, p = 1;
    bool decided = false;
};

Difference difference(const std::vector<double>& a, const std::vector<double>& b) {
    const std::size_t n = std::min(a.size(), b.size());
    Difference d;
    for (std::size_t i = 0; i < n; ++i) d.mean += (b[i] - a[i]) / static_cast<double>(n);
    d.low = d.high = d.mean;
    if (n < 2) return d;
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += (b[i] - a[i] - d.mean) * (b[i] - a[i] - d.mean);
    const double error = std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
    const boost::math::students_t t(static_cast<double>(n - 1));
    const double width = boost::math::quantile(t, 0.975) * error;
    d.low = d.mean - width, d.high = d.mean + width;
    if (error > 0)
        d.p = 2 * boost::math::cdf(boost::math::complement(t, std::abs(d.mean) / error));
    else
        d.p = d.mean == 0 ? 1 : 0;
    d.decided = n >= kLeastSeeds && d.p < kSure;
    return d;
}

// Keeps a run's final loss. A run that had already ended has it from its checkpoint.
struct Ending : train::Callback {
    double loss = std::nan("");
    void stopped(train::TrainingLoop& loop) override { loss = loop.state().val_loss; }
};

class Comparison {
  public:
    explicit Comparison(const CompareArguments& args) : args_(args), losses_(args.files.size()) {
        Flags common;
        for (const auto& [name, option] : args.flags)
            if (option->count() > 0) common[name] = option->results();
        for (const std::string& file : args.files) {
            train::TrainOptions options;
            const std::set<std::string> given =  // report mistakes before any run
                train::about_settings([&] { return train::read_toml(file, options); });
            const auto has = [&](const char* flag) { return common.contains(flag) || given.contains(flag); };
            if (!has("max-flops") && !has("max-iters") && !has("max-time"))
                throw Usage("a budget is required: --max-flops 2e13, about a minute on two fast cores, or --max-iters");
            names_.push_back(fs::path(file).stem().string());
            flags_.push_back(common);
            if (!has("recipe"))  // the default of `train`
                flags_.back()["recipe"] = {
                    train::default_recipe(!has("data"), has("init-from") || has("init-adapter")).name};
            settings_.push_back(nlohmann::json({formats::read_file(file), flags_.back()}).dump());
            check<BadInput>(std::count(names_.begin(), names_.end(), names_.back()) == 1,
                            "{}: two files have this name: give them names that differ", names_.back());
        }
        read_results();
    }

    int run() {
        for (std::size_t k = 1; k <= args_.max_seeds && !decided(); ++k) {
            for (std::size_t i = 0; i < names_.size(); ++i) {
                if (losses_[i].size() >= k) continue;
                if (const int code = train_one(i, k); code != 0) return code;
            }
            std::string line = fmt::format("seed {}:", k);
            for (std::size_t i = 0; i < names_.size(); ++i)
                line += fmt::format("{} {} {:.4f}", i ? "," : "", names_[i], losses_[i][k - 1]);
            spdlog::info("{}", line);
        }
        write_page();
        print_result();
        return 0;
    }

  private:
    fs::path results() const { return fs::path(args_.out) / "compare.jsonl"; }
    fs::path folder(std::size_t i, std::size_t seed) const {
        return fs::path(args_.out) / fmt::format("{}-seed-{}", names_[i], seed);
    }

    // Reads the runs that an earlier start has finished.
    void read_results() {
        std::error_code error;
        fs::create_directories(args_.out, error);
        check(!error, "cannot make {}: {}", args_.out, error.message());
        if (!fs::exists(results(), error)) return;
        done_ = formats::read_file(results());
        std::istringstream lines(done_);
        for (std::string text; std::getline(lines, text);) {
            const nlohmann::json line = formats::parse_json(text, results().string(), 4);
            for (std::size_t i = 0; i < names_.size(); ++i) {
                if (line.value("name", "") != names_[i]) continue;
                if (line.value("settings", "") != settings_[i])
                    throw Usage(
                        fmt::format("{}: holds runs of other settings than {} and these flags: choose another "
                                    "--out",
                                    args_.out, args_.files[i]));
                if (line.value("seed", 0u) == losses_[i].size() + 1) losses_[i].push_back(line.value("val_loss", NAN));
            }
        }
    }

    int train_one(std::size_t i, std::size_t seed) {
        Flags flags = flags_[i];
        flags["config"] = {args_.files[i]};
        flags["seed"] = {std::to_string(seed)};
        flags["out"] = {folder(i, seed).string()};
        flags["resume"] = {"auto"};
        flags["eval-iters"] = {"0"};  // the whole validation part
        flags["quiet"] = {"true"};
        Ending ending;
        const double start = seconds_now();
        if (const int code = run_train(flags, {.callback = &ending}); code != 0) {
            spdlog::info("stopped: the same command goes on, from {}", args_.out);
            return code;
        }
        check(std::isfinite(ending.loss), "{}: the run has no validation loss: give it --val-fraction",
              folder(i, seed).string());
        losses_[i].push_back(ending.loss);
        const ordered_json line = {{"name", names_[i]},
                                   {"seed", seed},
                                   {"val_loss", ending.loss},
                                   {"elapsed_s", seconds_now() - start},
                                   {"settings", settings_[i]}};
        done_ += formats::json_text(line) + "\n";
        formats::write_file_atomic(results(), done_);
        return 0;
    }

    bool decided() const {
        for (std::size_t b = 1; b < names_.size(); ++b)
            for (std::size_t a = 0; a < b; ++a)
                if (!difference(losses_[a], losses_[b]).decided) return false;
        return true;
    }

    std::string verdict(std::size_t a, std::size_t b) const {
        const Difference d = difference(losses_[a], losses_[b]);
        return fmt::format("{} - {}: {:+.4f}, 95% between {:+.4f} and {:+.4f}, p = {:.2g}: {}", names_[b], names_[a],
                           d.mean, d.low, d.high, d.p,
                           !d.decided   ? "not decided"
                           : d.mean < 0 ? names_[b] + " is better"
                                        : names_[a] + " is better");
    }

    // Writes the page with the curves of all runs whose folders still exist.
    void write_page() const {
        web::RunDataOptions shown;
        shown.max_points = 1000, shown.tokenizer = false;
        std::vector<ordered_json> runs;
        std::vector<std::string> verdicts;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            for (std::size_t k = 1; k <= losses_[i].size(); ++k) {
                if (!formats::is_there(folder(i, k).string())) continue;
                runs.push_back(web::run_data(folder(i, k), shown));
                runs.back()["group"] = names_[i];
            }
            for (std::size_t a = 0; a < i; ++a) verdicts.push_back(verdict(a, i) + ".");
        }
        web::sort_best_first(runs);
        const ordered_json data = {{"runs", runs},
                                   {"verdicts", verdicts},
                                   {"defaults", web::default_settings()},
                                   {"heads", nullptr},
                                   {"live", nullptr}};
        const std::string page = (fs::path(args_.out) / "report.html").string();
        formats::write_file_atomic(page, web::page_file(web::kRunPage, counted(runs.size(), "run"), data));
        spdlog::info("see the curves: {}", page);
    }

    void print_result() const {
        const std::size_t seeds = losses_[0].size();
        for (std::size_t i = 0; i < names_.size() && !args_.json; ++i) {
            const double mean =
                std::accumulate(losses_[i].begin(), losses_[i].end(), 0.0) / static_cast<double>(losses_[i].size());
            print(fmt::format("{}: mean loss {:.4f} of {}\n", names_[i], mean, counted(losses_[i].size(), "seed")));
        }
        for (std::size_t b = 1; b < names_.size(); ++b) {
            for (std::size_t a = 0; a < b; ++a) {
                const Difference d = difference(losses_[a], losses_[b]);
                if (args_.json) {
                    const ordered_json line = {
                        {"a", names_[a]}, {"b", names_[b]}, {"seeds", seeds}, {"mean_difference", d.mean},
                        {"low", d.low},   {"high", d.high}, {"p", d.p},       {"decided", d.decided}};
                    print(formats::json_text(line) + "\n");
                } else {
                    print(verdict(a, b) + "\n");
                }
            }
        }
    }

    const CompareArguments& args_;
    std::vector<Flags> flags_;                   // of each file
    std::vector<std::string> names_, settings_;  // per file
    std::vector<std::vector<double>> losses_;    // per file, by seed
    std::string done_;                           // lines of results()
};

}  // namespace

Action add_compare(CLI::App& app) {
    auto args = std::make_shared<CompareArguments>();
    app.formatter(std::make_shared<Help>(names_of<train::Group>()));
    app.set_help_all_flag("--help-all", "explain every flag");
    const std::string run = name_of(train::Group::run);
    offer(*app.add_option("settings", args->files, "TOML files of settings; the flags of train hold for all of them"),
          {kFiles})
        ->required()
        ->expected(2, 100)
        ->group(run);
    offer(*app.add_option("--out", args->out, "folder of the runs; repeating the command continues there"), {kFolders})
        ->required()
        ->group(run);
    app.add_option("--max-seeds", args->max_seeds, "maximum number of seeds (1, 2, 3 ...) to try")
        ->check(CLI::Range(2, 1000))
        ->capture_default_str()
        ->group(run);
    app.add_flag("--json", args->json, "print one JSON object per pair of files")->group(run);
    for (const train::Setting& s : all_settings(args->train)) {
        const bool own = s.is(train::kOneStart) || s.name == "out" || s.name == "seed" || s.name == "resume" ||
                         s.name == "overwrite" || s.name == "eval-iters";
        if (!own || s.name == "recipe") args->flags.emplace_back(s.name, add_setting(app, s, false));
    }
    return [args] { return Comparison(*args).run(); };
}

}  // namespace inkling::cli
