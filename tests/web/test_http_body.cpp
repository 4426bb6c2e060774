// Where the bodies of requests and responses end: no byte of one request counts for another, and a client gets chunks
// only if it understands them.
#include "web/http/http_request.h"

#include "tests/web/echo_server.h"

namespace {

struct Read {
    int status = 200;
    std::string body, rest;
};

// Reads a chunked body, which arrives `piece` bytes at a time.
Read read_all(std::string_view chunks, std::size_t max = 1000, std::size_t piece = 7) {
    web::RequestParser parser(max);
    std::string bytes = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    REQUIRE(parser.read_head(bytes));
    try {
        while (!parser.read_body(bytes)) {
            if (chunks.empty()) return {400, "", ""};
            bytes += chunks.substr(0, piece);
            chunks.remove_prefix(std::min(piece, chunks.size()));
        }
        return {200, parser.request().body, bytes + std::string(chunks)};
    } catch (const web::HttpError& e) {
        return {e.status, "", ""};
    }
}

}  // namespace

TEST_CASE("http bodies: chunks are read to the byte, and nothing behind a broken body", "[serve]") {
    const std::pair<std::string, std::string> good[] = {
        {"0\r\n\r\n", ""},
        {"3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n", "abcd"},
        {"00003\r\n\r\n\n\r\n000\r\n\r\n", "\r\n\n"},
        {"a\r\n0123456789\r\nA;x=\"y\"\r\n0123456789\r\n0;last\r\n\r\n", "01234567890123456789"},
        {"1\r\na\r\n0\r\nTrailer: value\r\nB: c\r\n\r\n", "a"},
    };
    for (const auto& [bytes, body] : good) {
        INFO(bytes);
        for (const std::size_t piece : {1, 2, 100}) {
            const Read r = read_all(bytes + "GET / HTTP/1.1", 1000, piece);
            CHECK_ALL(r.status == 200, r.body == body, r.rest == "GET / HTTP/1.1");
        }
    }
    const std::string rest = "\r\nabc\r\n0\r\n\r\n", whole = "3" + rest;
    for (std::size_t n = 0; n < whole.size(); ++n) {
        INFO(n);
        CHECK(read_all(whole.substr(0, n)).status == 400);
        if (whole[n] == '\r') CHECK(read_all(std::string(whole).erase(n, 1)).status == 400);
    }
    for (const char* size : {"", "zz", "26zz", "0x3", "+3", "-3", " 3", "3 ", ";a", "2", "4", "3;a\nb"})
        WITH_INFO(size, CHECK(read_all(size + rest).status == 400));
    for (const char* bytes : {"3\nabc\n0\n\n", "3\rabc\r\n0\r\n\r\n", "0\r\nA: b\nC: d\r\n\r\n"})
        WITH_INFO(bytes, CHECK(read_all(bytes).status == 400));
    CHECK(read_all("3;" + std::string(40000, 'a') + "\r\nabc\r\n0\r\n\r\n").status == 400);
    CHECK(read_all("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", 4).status == 413);
    CHECK(read_all("7fffffffffffffff\r\n").status == 413);
    CHECK(read_all("10000000000000000000000000000000001\r\n").status == 400);
    const EchoServer server;
    const std::string hidden = "GET /open HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const std::string head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n";
    for (const std::string& bytes :
         {head + "\r\n26zz\r\n" + hidden + "\r\n0\r\n\r\n", head + "\r\n3\nabc\n0\n\n" + hidden,
          head + "\r\n3\r\nabc" + hidden, head + "\r\n3\r\nabc\r\n0\r\n\n" + hidden,
          head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
          head + "Content-Length: 5\r\n\r\n0\r\n\r\n" + hidden,
          "GET /open HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(hidden.size()) + "\r\n\r\n" +
              hidden,
          "DELETE /open HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + hidden,
          "GET /open HTTP/1.1\r\nHost: localhost\r\nHost: 127.0.0.1\r\n\r\n" + hidden,
          "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden}) {
        INFO(bytes);
        Wire wire(server.port());
        wire.send(bytes);
        CHECK_ALL(wire.answer().status == 400, wire.rest().empty());
    }
    Wire wire(server.port());  // and behind one that is whole, the next
    wire.send(head + "\r\n3;a=b\r\nabc\r\n0\r\nT: u\r\n\r\n" + hidden);
    CHECK_ALL(wire.answer().body == "abc", wire.answer().body == "{}");
}

TEST_CASE("http bodies: a client of HTTP/1.0 gets no chunks, and one answer a connection", "[serve]") {
    const EchoServer server;
    const auto whole = [&](const std::string& request) {
        Wire wire(server.port());
        wire.send(request);
        return wire.rest();
    };
    for (const char* headers : {"", "Connection: keep-alive\r\n", "Connection: Keep-Alive\r\nHost: localhost\r\n"}) {
        INFO(headers);
        const std::string stream = whole(std::string("GET /stream HTTP/1.0\r\n") + headers + "\r\n");
        CHECK_ALL(stream.starts_with("HTTP/1.1 200"), stream.ends_with("\r\n\r\ndata: a\n\ndata: b\n\n"));
        CHECK_THAT(stream, !contains("chunked") && contains("\r\nConnection: close\r\n"));
        const std::string plain = whole(std::string("POST /echo HTTP/1.0\r\n") + headers +
                                        "Content-Length: 2\r\n\r\nab" + "GET /open HTTP/1.0\r\n\r\n");
        CHECK(plain.ends_with("\r\n\r\nab"));
        CHECK_THAT(plain, contains("Content-Length: 2\r\n"));
    }
    const std::string expecting = whole("POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab");
    CHECK(expecting.starts_with("HTTP/1.1 200"));  // it knows no 100 either
    CHECK(whole("GET /nothing HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 404"));
    const std::string chunks = whole("GET /stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    CHECK_THAT(chunks, contains("\r\nTransfer-Encoding: chunked\r\n"));
    CHECK(chunks.ends_with("\r\n0\r\n\r\n"));
}
