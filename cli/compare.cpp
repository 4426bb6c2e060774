// inkling compare
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "cli/arguments/output_file.h"
#include "cli/common.h"
#include "cli/compare/candidate.h"
#include "cli/compare/paired_test.h"
#include "cli/log.h"
#include "cli/usage/flag_values.h"
#include "engine/base/clock.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "formats/json_object.h"
#include "train/callback.h"
#include "train/run/resume.h"
#include "train/run/run_folder.h"
#include "web/report/pages.h"
#include "web/report/run_data.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct CompareArguments {
    std::vector<std::string> files;
    std::string out;
    std::size_t max_seeds = 10;
    bool json = false;
    std::unique_ptr<TrainFlags> flags;  // for all runs
};

// Keeps a run's final loss. A run that had already ended has it from its checkpoint.
struct Ending : train::Callback {
    double loss = std::nan("");
    void stopped(train::TrainingLoop& loop) override { loss = loop.state().val_loss; }
};

class Comparison {
  public:
    explicit Comparison(const CompareArguments& args) : args_(args) {
        for (const std::string& file : args.files) add(file);  // report mistakes before any run
        std::error_code error;
        fs::create_directories(args_.out, error);
        check(!error, "cannot make {}: {}", args_.out, error.message());
        read_results();
        for (const Candidate& c : all_)
            for (std::size_t seed = c.losses.size() + 1; seed <= args_.max_seeds; ++seed)
                if (const fs::path run = folder(c, seed); !train::find_checkpoints(run).empty())
                    check_identity(c, run, comparison_of(run));  // an interrupted run goes on
    }

    int run() {
        for (std::size_t k = 1; k <= args_.max_seeds && !decided(); ++k) {
            std::string line = fmt::format("seed {}:", k);
            for (Candidate& c : all_) {
                if (c.losses.size() < k)
                    if (const int code = train_one(c, k); code != 0) return code;
                line += fmt::format("{} {} {:.4f}", &c == &all_[0] ? "" : ",", c.name, c.losses[k - 1]);
            }
            spdlog::info("{}", line);
        }
        write_page();
        print_result();
        return 0;
    }

  private:
    fs::path results() const { return fs::path(args_.out) / "compare.jsonl"; }
    fs::path page() const { return fs::path(args_.out) / "report.html"; }
    fs::path folder(const Candidate& c, std::size_t seed) const {
        return fs::path(args_.out) / fmt::format("{}-seed-{}", c.name, seed);
    }

    void add(const std::string& file) {
        Candidate c = make_candidate(file, *args_.flags, texts_);
        for (const Candidate& other : all_)
            check<BadInput>(other.name != c.name, "{}: two files have this name: give them names that differ", c.name);
        for (const fs::path& written : {results(), page()}) {
            const OutputFile out{written.string()};
            out.check_inputs({c.text->corpus.sources.begin(), c.text->corpus.sources.end()});
        }
        all_.push_back(std::move(c));
    }

    // Reads the results of runs that an earlier start has finished.
    void read_results() {
        if (!formats::is_there(results())) return;
        done_ = formats::read_file(results());
        std::istringstream lines(done_);
        std::size_t number = 0;
        for (std::string text; std::getline(lines, text);) {
            const std::string place = fmt::format("{}: line {}", results().string(), ++number);
            const nlohmann::json line = formats::parse_json(text, place, 4);
            try {
                take_result(formats::JsonObject(line, place + ": "));
            } catch (const formats::BadKey& e) {
                throw BadInput(fmt::format("{}: remove this line", e.what()));
            }
        }
    }

    void take_result(const formats::JsonObject& in) {
        const auto needed = [&](const char* key, const auto& value) {
            return value ? *value : (in.refuse(key, "it is missing"), *value);
        };
        const std::string name = needed("name", in.text("name"));
        const auto c = std::find_if(all_.begin(), all_.end(), [&](const Candidate& x) { return x.name == name; });
        if (c == all_.end()) return;
        check_identity(*c, args_.out, in.text("settings").value_or(""));
        const double loss = needed("val_loss", in.number("val_loss"));
        if (needed("seed", in.integer("seed", 1)) == std::ssize(c->losses) + 1) c->losses.push_back(loss);
    }

    int train_one(Candidate& c, std::size_t seed) {
        const fs::path run = folder(c, seed);
        train::Config config = c.config;
        train::TrainOptions& o = config.options;
        o.seed = seed, o.out = run.string(), o.resume = "auto", o.quiet = true;
        o.eval_iters = 0;  // the whole validation part
        for (const char* name : {"seed", "out", "eval-iters"}) config.given[name] = train::Config::Source::flag;
        Ending ending;
        const double start = seconds_now();
        try {
            const int code = run_train(config, {.callback = &ending, .text = c.text, .comparison = c.identity});
            if (code != 0) spdlog::info("stopped: the same command goes on, from {}", args_.out);
            if (code != 0) return code;
        } catch (const train::Mismatch& e) {
            throw BadInput(e.bare + ": choose another --out");
        } catch (const train::NotSaved& e) {
            throw Error(e.bare + ": the same command goes on");
        }
        check(std::isfinite(ending.loss), "{}: the run has no validation loss: give it --val-fraction", run.string());
        c.losses.push_back(ending.loss);
        const ordered_json line = {{"name", c.name},
                                   {"seed", seed},
                                   {"val_loss", ending.loss},
                                   {"elapsed_s", seconds_now() - start},
                                   {"settings", c.identity}};
        done_ += formats::json_text(line) + "\n";
        formats::write_file_atomic(results(), done_, formats::Links::replaced);
        return 0;
    }

    PairedTest test(const Candidate& a, const Candidate& b) const {
        return paired_test(a.losses, b.losses, args_.max_seeds);
    }

    // Calls visit(a, b) for each pair.
    template <class Visit>
    void each_pair(const Visit& visit) const {
        for (std::size_t b = 1; b < all_.size(); ++b)
            for (std::size_t a = 0; a < b; ++a) visit(all_[a], all_[b]);
    }

    bool decided() const {
        bool all = true;
        each_pair([&](const Candidate& a, const Candidate& b) { all = all && test(a, b).decided; });
        return all;
    }

    std::string verdict(const Candidate& a, const Candidate& b) const {
        const PairedTest t = test(a, b);
        return fmt::format("{} - {}: {:+.4f}, 95% between {:+.4f} and {:+.4f}, p = {:.2g}: {}", b.name, a.name, t.mean,
                           t.low, t.high, t.p,
                           !t.decided   ? "not decided"
                           : t.mean < 0 ? b.name + " is better"
                                        : a.name + " is better");
    }

    // Writes the page with the curves of all runs whose folders still exist.
    void write_page() const {
        web::RunDataOptions shown;
        shown.max_points = 1000, shown.tokenizer = false;
        std::vector<ordered_json> runs;
        std::vector<std::string> verdicts;
        for (const Candidate& c : all_)
            for (std::size_t k = 1; k <= c.losses.size(); ++k) {
                if (!formats::is_there(folder(c, k).string())) continue;
                runs.push_back(web::run_data(folder(c, k), shown));
                runs.back()["group"] = c.name;
            }
        each_pair([&](const Candidate& x, const Candidate& y) { verdicts.push_back(verdict(x, y) + "."); });
        web::sort_best_first(runs);
        ordered_json data = web::run_page(runs);
        data["verdicts"] = verdicts;
        const std::string text = web::page_file(web::kRunPage, counted(runs.size(), "run"), data);
        formats::write_file_atomic(page(), text, formats::Links::replaced);
        spdlog::info("see the curves: {}", page().string());
    }

    void print_result() const {
        for (const Candidate& c : all_) {
            const double mean =
                std::accumulate(c.losses.begin(), c.losses.end(), 0.0) / static_cast<double>(c.losses.size());
            if (!args_.json)
                print(fmt::format("{}: mean loss {:.4f} of {}\n", c.name, mean, counted(c.losses.size(), "seed")));
        }
        each_pair([&](const Candidate& a, const Candidate& b) {
            const PairedTest t = test(a, b);
            const ordered_json line = {
                {"a", a.name},  {"b", b.name},    {"seeds", t.seeds}, {"mean_difference", t.mean},
                {"low", t.low}, {"high", t.high}, {"p", t.p},         {"decided", t.decided}};
            print((args_.json ? formats::json_text(line) : verdict(a, b)) + "\n");
        });
    }

    const CompareArguments& args_;
    Texts texts_;
    std::vector<Candidate> all_;
    std::string done_;  // lines of results()
};

}  // namespace

Action add_compare(CLI::App& app) {
    auto args = std::make_shared<CompareArguments>();
    const std::string run = name_of(train::Group::run);
    offer(*app.add_option("settings", args->files, "TOML files of settings; flags apply to all of them"), {kFiles})
        ->required()
        ->expected(2, 100)
        ->group(run);
    offer(*app.add_option("--out", args->out, "folder of the runs; repeat the command to continue there"), {kFolders})
        ->required()
        ->group(run);
    app.add_option("--max-seeds", args->max_seeds, "maximum number of seeds (1, 2, 3 ...) to try")
        ->check(CLI::Range(2, 1000))
        ->group(run);
    app.add_flag("--json", args->json, "print one JSON object per pair of files")->group(run);
    const auto takes = [](const train::Setting& s) {
        const bool own = s.is(train::kOneStart) || s.name == "out" || s.name == "seed" || s.name == "eval-iters";
        return !own || s.name == "recipe";
    };
    args->flags = std::make_unique<TrainFlags>(app, takes, false);
    return [args] { return Comparison(*args).run(); };
}

}  // namespace inkling::cli
