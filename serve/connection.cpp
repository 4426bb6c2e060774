#include "serve/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace inkling::serve {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point after(double seconds) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

// A socket that is closed while it holds what nobody read makes the system drop what was written last: so the rest of
// a refused body is read for a moment, and thrown away.
void Connection::finish() {
    shutdown(socket_, SHUT_WR);
    const Time deadline = after(written_ ? 1 : 0);
    std::size_t left = std::size_t{4} << 20;
    while (left > 0 && wait(POLLIN, deadline) == Wait::ready) {
        ahead_.clear();
        const std::ptrdiff_t n = receive();
        if (n <= 0) break;
        left -= std::min(left, static_cast<std::size_t>(n));
    }
}

Connection::~Connection() { close(socket_); }

Connection::Wait Connection::wait(short events, Time deadline) const {
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd p{socket_, events, 0};
        const int n = poll(&p, 1, static_cast<int>(std::clamp<long long>(left, 0, 1'000'000)));
        if (n > 0) return Wait::ready;
        if (n < 0 && errno != EINTR) return Wait::failed;
        if (n == 0 && left <= 0) return Wait::timeout;
    }
}

std::ptrdiff_t Connection::receive() {
    char buffer[16384];
    std::ptrdiff_t n;
    do {
        n = recv(socket_, buffer, sizeof buffer, 0);
    } while (n < 0 && errno == EINTR);
    ahead_.erase(0, std::exchange(taken_, 0));
    if (n > 0) ahead_.append(buffer, static_cast<std::size_t>(n));
    return n;
}

Connection::Head Connection::read_head() {
    body_read_ = 0;
    ahead_.erase(0, std::exchange(taken_, 0));
    Time deadline = after(ahead_.empty() ? limits_.idle_time : limits_.header_time);
    for (bool begun = !ahead_.empty();;) {
        const std::size_t end = ahead_.find("\r\n\r\n");
        if (std::min(end, ahead_.size()) > limits_.max_head) return Head::too_long;
        if (end != std::string::npos) {
            head_ = ahead_.substr(0, end + 4);
            taken_ = end + 4;
            body_deadline_ = after(limits_.idle_time);
            return Head::whole;
        }
        const Wait result = wait(POLLIN, deadline);
        if (result == Wait::timeout && begun) return Head::late;
        if (result != Wait::ready || receive() <= 0) return Head::closed;
        if (!begun) deadline = after(limits_.header_time);
        begun = true;
    }
}

std::ptrdiff_t Connection::read(char* data, std::size_t size) {
    size = std::min(size, limits_.max_read - body_read_);
    if (size == 0) return -1;
    if (taken_ == ahead_.size()) {
        const Wait result = wait(POLLIN, body_deadline_);
        late_ = result == Wait::timeout;
        if (result != Wait::ready || receive() <= 0) return -1;
    }
    const std::size_t n = std::min(size, ahead_.size() - taken_);
    std::memcpy(data, ahead_.data() + taken_, n);
    taken_ += n;
    body_read_ += n;
    return static_cast<std::ptrdiff_t>(n);
}

bool Connection::write(const char* data, std::size_t size) {
    written_ = true;
    while (size > 0) {
        const std::ptrdiff_t n = send(socket_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            data += n;
            size -= static_cast<std::size_t>(n);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (wait(POLLOUT, after(limits_.idle_time)) != Wait::ready) return false;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

bool Connection::hung_up(int socket) {
    pollfd p{socket, POLLRDHUP, 0};
    return poll(&p, 1, 0) > 0;
}

}  // namespace inkling::serve
