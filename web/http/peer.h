// Tells whether the client of a running request has gone. Any thread may ask.
//   Peer peer(socket, !http_1_0);
//   if (peer.left()) stop();
//   peer.begin_answer();   // before the first byte of the answer
#pragma once

#include <mutex>

namespace inkling::web {

class Peer {
  public:
    // `interim`: whether it takes an interim response; a client of HTTP/1.0 does not.
    Peer(int socket, bool interim) : socket_(socket), interim_(interim) {}
    bool left();
    void begin_answer();  // nothing is sent to the socket from here on

  private:
    const int socket_;
    const bool interim_;
    std::mutex mutex_;
    bool answered_ = false;
    double asked_ = -1;  // time of the last interim response
};

}  // namespace inkling::web
