// One client's socket with time limits: the head of a request (its line and headers) arrives whole within its time or
// not at all, a body within its own, and an answer is read on or given up.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace inkling::serve {

struct ConnectionLimits {
    double header_time, idle_time;                  // seconds
    std::size_t max_head = 32 << 10, max_read = 0;  // bytes; max_read: of a body, as it is transferred
};

class Connection {
  public:
    Connection(int socket, const ConnectionLimits& limits) : socket_(socket), limits_(limits) {}
    ~Connection();  // closes the socket
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Waits for the next request. `closed`: the client left, or sent nothing for the idle time.
    enum class Head { whole, closed, late, too_long };
    Head read_head();
    const std::string& head() const { return head_; }  // with the empty line that ends it

    // Of the body, as it is transferred; 0 or below: no more, or not within the limits.
    std::ptrdiff_t read(char* data, std::size_t size);
    bool late() const { return late_; }  // a body did not come in time

    // All of it, or false: the client has gone, or read nothing for the idle time.
    bool write(const char* data, std::size_t size);

    // No more is written. Waits for a moment, so that what was written arrives.
    void finish();

    // Whether the client has closed its side. Any thread may ask.
    static bool hung_up(int socket);
    int socket() const { return socket_; }

  private:
    using Time = std::chrono::steady_clock::time_point;
    enum class Wait { ready, timeout, failed };
    Wait wait(short events, Time deadline) const;
    std::ptrdiff_t receive();  // appends to ahead_

    int socket_;
    ConnectionLimits limits_;
    std::string ahead_;      // received
    std::size_t taken_ = 0;  // of it, for a request
    std::string head_;
    std::size_t body_read_ = 0;
    Time body_deadline_{};
    bool late_ = false, written_ = false;
};

}  // namespace inkling::serve
