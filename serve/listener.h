// Accepts the connections of a listening socket and serves each on a thread of its own. A client holds up neither
// accepting nor the end, and where the system has no thread, no memory or no file for another connection, that one is
// refused, and the program goes on.
//   Listener listener(socket, 256, [](int connection) { serve_and_close(connection); }, "HTTP/1.1 503 ...");
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace inkling::serve {

class Listener {
  public:
    // At most `max` connections are served at once; what is beyond reads `refusal`. `serve` closes its socket.
    Listener(int socket, std::size_t max, std::function<void(int connection)> serve, std::string refusal);
    ~Listener();  // accepts no more, and waits for the threads
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

  private:
    struct Refused {
        int connection;
        std::chrono::steady_clock::time_point until;
    };

    void accept_all();
    bool start(int connection);  // its thread; false: there is none
    void refuse(int connection);
    void close_refused();  // those that have read the refusal, or had their time

    const int socket_;
    const std::size_t max_;
    const std::function<void(int)> serve_;
    const std::string refusal_;
    std::atomic<bool> stopping_ = false;
    std::mutex mutex_;
    std::condition_variable empty_;
    std::list<std::jthread> running_, ended_;
    std::deque<Refused> refused_;  // of the accepting thread
    std::thread accepting_;
};

}  // namespace inkling::serve
