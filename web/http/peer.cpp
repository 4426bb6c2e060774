#include "web/http/peer.h"

#include <poll.h>
#include <sys/socket.h>

#include <string_view>

#include "engine/base/clock.h"

namespace inkling::web {

// TCP shows only on sending whether a client that closed its side still reads: a closed socket answers with a reset. So
// until the answer begins, this sends an interim response now and then, which HTTP/1.1 clients skip (RFC 9110, 15.2).
bool Peer::left() {
    constexpr double kBetween = 0.5;  // seconds
    constexpr std::string_view kInterim = "HTTP/1.1 100 Continue\r\n\r\n";
    const std::lock_guard lock(mutex_);
    pollfd p{socket_, POLLRDHUP, 0};
    if (poll(&p, 1, 0) <= 0 || p.revents == 0) return false;  // open
    if ((p.revents & (POLLHUP | POLLERR)) != 0 || !interim_) return true;
    if (answered_ || seconds_now() - asked_ < kBetween) return false;
    asked_ = seconds_now();
    return ::send(socket_, kInterim.data(), kInterim.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
           static_cast<ssize_t>(kInterim.size());
}

void Peer::begin_answer() {
    const std::lock_guard lock(mutex_);
    answered_ = true;
}

}  // namespace inkling::web
