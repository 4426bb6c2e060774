// Runs the program on a pseudo-terminal, as a user sees it:
//   Terminal t(words("chat --model", model), 80);
//   t.enter("hello\n");  t.expect("\r\n");  t.type("\x03");  CHECK(t.wait() == 0);
#pragma once

#include <poll.h>
#include <pty.h>

#include "tests/cli/program.h"

namespace inkling::testing {

class Terminal {
  public:
    explicit Terminal(Arguments arguments, unsigned short columns = 80) {
        arguments.insert(arguments.begin(), kProgram);
        std::vector<char*> argv;
        for (std::string& a : arguments) argv.push_back(a.data());
        argv.push_back(nullptr);
        winsize size{};
        size.ws_row = 24, size.ws_col = columns;
        pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) {
            execv(argv[0], argv.data());
            _exit(127);
        }
    }
    ~Terminal() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
        close(terminal_);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    void type(const std::string& keys) const {
        REQUIRE(write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
    }

    // Types this after the next prompt.
    void enter(const std::string& keys) {
        expect("> ");
        type(keys);
    }

    // Types Ctrl-C, and again after 3 seconds without `text`: the kernel drops output that arrives together with the
    // key, which may be the answer, and a program that is about to wait for a key may miss it.
    std::string interrupt(const std::string& text) {
        using Clock = std::chrono::steady_clock;
        for (int i = 0; i < 20; ++i) {
            type("\x03");
            const auto end = Clock::now() + std::chrono::seconds(3);
            while (Clock::now() < end && read_more(1000))
                if (shown_.find(text, seen_) != std::string::npos) return expect(text);
        }
        return expect(text);
    }

    // Waits until `text` is shown after all earlier expected texts, and returns the text shown before it.
    std::string expect(const std::string& text) {
        std::size_t at = 0;
        while ((at = shown_.find(text, seen_)) == std::string::npos) {
            INFO("shown: " << shown_.substr(seen_, 2000) << "; expected: " << text);
            REQUIRE(read_more());
        }
        const std::string before = shown_.substr(seen_, at - seen_);
        seen_ = at + text.size();
        return before;
    }

    int wait() {
        while (read_more()) {
        }
        int status = 0;
        INFO("shown: " << rest().substr(0, 2000) << "; expected: the end");
        wait_until([&] { return waitpid(pid_, &status, WNOHANG) != 0; });  // or it waits for a key, for ever
        pid_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    std::string rest() const { return shown_.substr(seen_); }

  private:
    bool read_more(int milliseconds = 60'000) {  // false: the program ended, or showed nothing for this long
        pollfd waiting{terminal_, POLLIN, 0};
        char bytes[4096];
        if (poll(&waiting, 1, milliseconds) <= 0) return false;
        const ssize_t n = read(terminal_, bytes, sizeof bytes);
        if (n <= 0) return false;
        shown_.append(bytes, static_cast<std::size_t>(n));
        return true;
    }

    int terminal_ = -1;
    pid_t pid_ = 0;
    std::string shown_;
    std::size_t seen_ = 0;
};

}  // namespace inkling::testing
