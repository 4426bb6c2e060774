#include "serve/open_connections.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>

namespace inkling::serve {

bool OpenConnections::set_busy(int socket, bool busy) {
    const std::lock_guard lock(mutex_);
    busy_[socket] = busy && !ending_;
    if (cut_) shutdown(socket, SHUT_RDWR);
    changed_.notify_all();
    return ending_;
}

void OpenConnections::leave(int socket) {
    const std::lock_guard lock(mutex_);
    busy_.erase(socket);
    changed_.notify_all();
}

std::size_t OpenConnections::count() const {
    const std::lock_guard lock(mutex_);
    return busy_.size();
}

bool OpenConnections::none_busy() const {
    return std::none_of(busy_.begin(), busy_.end(), [](const auto& entry) { return entry.second; });
}

void OpenConnections::end(double grace, const std::function<void()>& give_up) {
    constexpr std::chrono::milliseconds kMoment(500);
    std::unique_lock lock(mutex_);
    ending_ = true;
    for (const auto& [socket, busy] : busy_)
        if (!busy) shutdown(socket, SHUT_RD);
    if (!changed_.wait_for(lock, std::chrono::duration<double>(grace), [&] { return none_busy(); }) && give_up) {
        lock.unlock();
        give_up();
        lock.lock();
        changed_.wait_for(lock, kMoment, [&] { return none_busy(); });
    }
    changed_.wait_for(lock, kMoment, [&] { return busy_.empty(); });
    cut_ = true;
    for (const auto& [socket, busy] : busy_) shutdown(socket, SHUT_RDWR);
}

}  // namespace inkling::serve
