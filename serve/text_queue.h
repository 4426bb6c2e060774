// What is written for one request on its way from the scheduler's thread to the request's own:
//   auto queue = std::make_shared<TextQueue>(texts, hung_up);
//   scheduler.add(jobs_that_write_into(queue));
//   while (const auto piece = queue->wait()) send(piece->text);
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/clock.h"
#include "generate/writer.h"
#include "serve/http_error.h"

namespace inkling::serve {

// What is new of one of a request's texts.
struct TextPiece {
    std::size_t index = 0;  // of the text
    std::string text = "";
    std::vector<generate::TokenLogprobs> logprobs = {};
    std::optional<generate::TokenLogprobs> end_logprobs = std::nullopt;  // of the token that ended it
    std::size_t tokens = 0;                                              // so far
    generate::FinishReason finish = generate::FinishReason::none;
};

class TextQueue {
  public:
    // `hung_up`: whether the client has gone.
    TextQueue(std::size_t texts, std::function<bool()> hung_up) : unfinished_(texts), hung_up_(std::move(hung_up)) {}

    // The next piece, in order for each text; none: all are finished. Throws what went wrong.
    std::optional<TextPiece> wait();
    void abandon();  // nobody waits any more

    void push(std::vector<TextPiece> pieces);
    void fail(const HttpError& error);
    bool abandoned();
    double seconds() const { return seconds_now() - start_; }  // since it was made

  private:
    const double start_ = seconds_now();
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<TextPiece> pieces_;
    std::size_t unfinished_;
    std::optional<HttpError> error_;
    std::function<bool()> hung_up_;
    bool abandoned_ = false;
};

}  // namespace inkling::serve
