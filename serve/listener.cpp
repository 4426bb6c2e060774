#include "serve/listener.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace inkling::serve {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

}  // namespace

Listener::Listener(int socket, std::size_t max, std::function<void(int)> serve, std::string refusal)
    : socket_(socket), max_(max), serve_(std::move(serve)), refusal_(std::move(refusal)) {
    fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);  // a client may leave before it is accepted
    accepting_ = std::thread([this] { accept_all(); });
}

Listener::~Listener() {
    stopping_ = true;
    shutdown(socket_, SHUT_RDWR);  // wakes it
    accepting_.join();
    std::unique_lock lock(mutex_);
    empty_.wait(lock, [&] { return running_.empty(); });
}

void Listener::accept_all() {
    while (!stopping_) {
        pollfd p{socket_, POLLIN, 0};
        poll(&p, 1, refused_.empty() ? 1000 : 20);
        close_refused();
        if (p.revents == 0 || stopping_) continue;
        const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) {  // no file is left for it, or no memory: it waits
            std::this_thread::sleep_for(milliseconds(10));
        } else if (!start(connection)) {
            refuse(connection);
        }
    }
    for (const Refused& r : refused_) close(r.connection);
}

bool Listener::start(int connection) {
    const std::lock_guard lock(mutex_);
    ended_.clear();  // joins
    if (running_.size() >= max_) return false;
    try {
        const auto place = running_.emplace(running_.end());
        try {
            *place = std::jthread([this, place, connection] {
                try {
                    serve_(connection);
                } catch (...) {  // no memory: the connection is closed
                }
                const std::lock_guard end(mutex_);
                ended_.splice(ended_.end(), running_, place);
                empty_.notify_all();
            });
        } catch (...) {
            running_.erase(place);
            throw;
        }
    } catch (const std::exception&) {
        return false;
    }
    return true;
}

// A socket that is closed while it holds what nobody read makes the system drop the refusal.
void Listener::refuse(int connection) {
    constexpr std::size_t kMost = 64;
    send(connection, refusal_.data(), refusal_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(connection, SHUT_WR);
    try {
        refused_.push_back({connection, Clock::now() + milliseconds(1000)});
    } catch (const std::exception&) {
        close(connection);
    }
    if (refused_.size() > kMost) refused_.front().until = {};
}

void Listener::close_refused() {
    std::erase_if(refused_, [now = Clock::now()](const Refused& r) {
        char unread[16384];
        const ssize_t n = recv(r.connection, unread, sizeof unread, MSG_DONTWAIT);
        if (n != 0 && now < r.until) return false;
        close(r.connection);
        return true;
    });
}

}  // namespace inkling::serve
