#include "cli/program.h"

#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sstream>
#include <stdexcept>

#include "cli/common.h"
#include "cli/log.h"
#include "cli/signals.h"
#include "cli/usage/completion.h"
#include "cli/usage/help.h"
#include "cli/usage/wrong_usage.h"
#include "distributed/launch.h"
#include "engine/base/cpu.h"
#include "engine/base/interrupt.h"
#include "engine/process/threads.h"
#include "train/loop.h"

namespace inkling::cli {
namespace {

// What must be set before main() is set here, and the program is executed again: each function below returns whether it
// changed anything.

// Variables that libraries read (engine/process/threads.h), unless the user has set them.
bool set_up_libraries(char** argv) {
    if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return false;
    if (omp_get_proc_bind() != omp_proc_bind_false) return false;  // bound to one processor; a new program would be too
    // a server allocates blocks on one thread and frees them on another, whose cache of 2,000 would only grow
    const bool caches_blocks = !argv[1] || std::string_view(argv[1]) != "serve";
    for (const EnvironmentVariable& variable : kEnvironment)
        if (caches_blocks || std::string_view(variable.name) != "GLIBC_TUNABLES")
            setenv(variable.name, variable.value, 0);
    return true;
}

// INKLING_CPU=avx2: tells the system's loader, which chooses the library at program start, that the CPU has less.
bool set_up_cpu() {
    constexpr const char *kVariable = "GLIBC_TUNABLES", *kLess = "glibc.cpu.hwcaps=-AVX512F";
    if (train::about_settings(allowed_kind) > CpuKind::avx2 || library_kind() <= CpuKind::avx2) return false;
    const char* const now = std::getenv(kVariable);
    const std::string before = now ? now : "";
    check<Usage>(before.find(kLess) == std::string::npos, "INKLING_CPU={}: this program is built for {} alone",
                 name_of(allowed_kind()), name_of(library_kind()));
    setenv(kVariable, (before + (before.empty() ? "" : ":") + kLess).c_str(), 1);
    return true;
}

// The system kills a program with too small a stack without a message. So this raises the limit as far as allowed; new
// threads get the limit from the program's start.
bool set_up_stack() {
    constexpr rlim_t kMin = rlim_t{1} << 20, kUsual = rlim_t{8} << 20;
    rlimit limit{};
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kMin) return false;
    const rlim_t now = limit.rlim_cur;
    limit.rlim_cur = std::min(limit.rlim_max, kUsual);
    if (limit.rlim_cur >= kMin && setrlimit(RLIMIT_STACK, &limit) == 0) return true;
    char line[128];
    const int size = std::snprintf(
        line, sizeof line, "inkling: the stack limit is %llu kB, at least 1024 are required: set ulimit -s 8192\n",
        static_cast<unsigned long long>(now / 1024));
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line, static_cast<std::size_t>(size));
    _exit(kRunFailed);
}

// Flags may be written with underscores: --n_layer is --n-layer.
std::vector<std::string> with_dashes(std::vector<std::string> arguments) {
    for (std::string& text : arguments) {
        if (text == "--") break;
        if (text.starts_with("--"))
            std::replace(text.begin(),
                         text.begin() + static_cast<std::ptrdiff_t>(std::min(text.find('='), text.size())), '_', '-');
    }
    return arguments;
}

int fail(int code, std::string message) {
    std::replace(message.begin(), message.end(), '\n', ' ');
    distributed::processes().fail(message, code);
    if (distributed::launched_rank() > 0) {  // only the first process of mpirun reports it
        sleep(1);
        return code;
    }
    spdlog::error("{}", message);
    return code;
}

// Returns action(), the exit code of the error that it throws, or of a signal that ended it.
template <class Action>
int run(const Action& action) {
    try {
        const int code = action();
        return code == 0 ? signal_code() : code;
    } catch (const Interrupted&) {
        return signal_code();
    } catch (const Usage& e) {
        return fail(kWrongUsage, e.what());
    } catch (const BadInput& e) {
        return fail(kBadInput, e.what());
    } catch (const train::Diverged& e) {
        return fail(kDiverged, e.what());
    } catch (const std::bad_alloc& e) {
        return fail_out_of_memory(e);
    } catch (const std::length_error&) {  // larger than any memory
        return fail_out_of_memory(std::bad_alloc());
    } catch (const std::exception& e) {
        return fail(kRunFailed, e.what());
    }
}

// Reading a mapped file beyond the end to which another program truncated it raises SIGBUS.
extern "C" void on_bus_error(int) {
    constexpr char text[] = "inkling: a file was truncated while it was read: run the command again\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(kBadInput);
}

// All commands, each with the action that runs after parsing.
struct Commands {
    Commands();
    int run(const std::vector<std::string>& given);

    CLI::App app{"Inkling trains small language models on a CPU, writes text with them, and checks its own gradients.",
                 "inkling"};
    std::vector<std::pair<CLI::App*, Action>> actions;
};

Commands::Commands() {
    app.set_version_flag("--version", "inkling " INKLING_VERSION);
    app.set_help_flag("-h,--help", "show this help");
    app.require_subcommand(1);
    app.option_defaults()->always_capture_default();  // --help shows them; commands inherit it
    app.formatter(std::make_shared<Help>());
    const auto add = [&](const char* name, const char* help, auto add_flags) {
        CLI::App* const command = app.add_subcommand(name, help);
        actions.emplace_back(command, add_flags(*command));
        std::vector<CLI::App*> parts = command->get_subcommands({});
        parts.push_back(command);
        for (CLI::App* const part : parts) {
            add_log_level_flag(*part);
            read_whole_numbers(*part);
            for (CLI::Option* const option : part->get_options()) {
                if (option->get_expected_max() == 1 &&
                    option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw)
                    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // if a flag is repeated
                const bool takes_any_text = option->check_lname("prompt") || option->check_lname("stop");
                if (option->get_expected_min() > 0 && !takes_any_text) option->check(refuse_flag_names(*part));
            }
        }
    };
    add("train", "Train a model on text, or on the built-in stories", add_train);
    add("generate", "Write text with a model", add_generate);
    add("chat", "Chat with a model", add_chat);
    add("serve", "Serve models over an HTTP API like OpenAI's", add_serve);
    add("eval", "Measure a model's loss on a text", add_eval);
    add("tokenize", "Train a tokenizer, or encode and decode with one", add_tokenize);
    add("data", "Print the built-in stories, or questions about them", add_data);
    add("attention", "Show the attention weights of every head", add_attention);
    add("report", "Write a page about runs: curves, samples, settings", add_report);
    add("compare", "Train configurations with several seeds, and test whether they differ", add_compare);
    add("export", "Write a model for other programs: a GGUF file or a folder", add_export);
    add("gradcheck", "Check every gradient against finite differences", add_gradcheck);
    add("info", "Show the size and settings of a model", add_info);
    add("verify", "Check the files of a run, or train parts of it again and compare", add_verify);
    add("bench", "Time whole training steps on random tokens", add_bench);
}

int Commands::run(const std::vector<std::string>& given) {
    if (given.empty()) {
        std::fputs(app.help().c_str(), stderr);
        return kWrongUsage;
    }
    if (given[0] == "help") {
        print(help_on(app, {given.begin() + 1, given.end()}));
        return 0;
    }
    if (given[0] == "__complete") {  // used by shells
        print(complete(app, {given.begin() + 1, given.end()}));
        return 0;
    }
    if (!given[0].starts_with('-')) find_command(app, given[0]);  // refused before --help is parsed
    try {
        app.parse(std::vector<std::string>(given.rbegin(), given.rend()));  // CLI11 expects the reverse order
    } catch (const CLI::Success& e) {                                       // --help, --version
        std::ostringstream text;
        app.exit(e, text);
        print(text.str());
        return 0;
    } catch (const CLI::ParseError& e) {
        throw Usage(wrong_usage(app, e, given));
    }
    for (const auto& [command, action] : actions) {
        if (command->parsed()) return action();
    }
    return kWrongUsage;
}

}  // namespace

int run_program(int argc, char** argv, char** again) {
    end_on_signals();
    set_up_log();
    bool changed = set_up_stack();
    changed = set_up_libraries(again) || changed;
    std::signal(SIGBUS, on_bus_error);
    std::signal(SIGXFSZ, SIG_IGN);  // makes a file size limit an error like a full disk
    const int code = run([&] { return changed = set_up_cpu() || changed, 0; });
    if (code == 0 && changed) execv("/proc/self/exe", again);  // if that fails, the program continues unchanged
    return code ? code : run_command({argv + 1, argv + argc});
}

int run_command(std::vector<std::string> arguments) {
    set_up_log();
    return run([&] { return Commands().run(with_dashes(std::move(arguments))); });
}

}  // namespace inkling::cli
