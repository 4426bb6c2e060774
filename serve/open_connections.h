// The connections of a server: which are open, on which a request is being answered, and how they end.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

namespace inkling::serve {

class OpenConnections {
  public:
    // Of a socket that is open until leave(). Returns whether the server ends: then it is not counted as busy.
    bool set_busy(int socket, bool busy);
    void leave(int socket);
    std::size_t count() const;

    // Those without a request are told at once, the others have `grace` seconds, then `give_up` is to end their
    // requests. A moment later the sockets that are left are shut down, and so are all that come.
    void end(double grace, const std::function<void()>& give_up);

  private:
    bool none_busy() const;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<int, bool> busy_;  // of each open socket
    bool ending_ = false, cut_ = false;
};

}  // namespace inkling::serve
