#include "cli/signals.h"

#include <unistd.h>

#include <csignal>

#include "engine/base/interrupt.h"

namespace inkling::cli {
namespace {

std::atomic<int> received_signal = 0;
std::atomic<bool> flag_is_polled = false;  // if false, a signal ends the program at once
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler may not lock");

extern "C" void on_signal(int number) {
    if (!flag_is_polled || received_signal.exchange(number) != 0) _exit(128 + number);
}

}  // namespace

void end_on_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    struct sigaction hang_up {};
    sigaction(SIGHUP, nullptr, &hang_up);
    if (hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup ignores it
}

const std::atomic<int>& catch_signals() {
    flag_is_polled = true;
    return received_signal;
}

int signal_code() { return received_signal == 0 ? 0 : 128 + received_signal; }

void end_within(unsigned seconds) {
    std::signal(SIGALRM, [](int) { _exit(signal_code()); });
    alarm(seconds);
}

void until_signal(const std::function<void()>& work) {
    const Interruptible scope([&signal = catch_signals()] { return signal != 0; });
    try {
        work();
    } catch (const Interrupted&) {  // the caller checks the signal
    }
}

void forget_signal() { received_signal = 0; }

void ask_to_stop() {
    int none = 0;
    received_signal.compare_exchange_strong(none, SIGINT);
}

}  // namespace inkling::cli
