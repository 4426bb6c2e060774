// One prompt of a request, and the texts that continue it, as the scheduler writes them.
#pragma once

#include <memory>
#include <vector>

#include "serve/text_queue.h"

namespace inkling::serve {

class TextJob {
  public:
    // `prompt` has what is to be continued; of its seed, the texts are samples 0 .. n - 1, and the first is text
    // `first` of the request. `in_pieces`: they go to the queue as they come, else each once it is finished.
    TextJob(generate::Writer prompt, std::size_t n, std::size_t first, bool in_pieces,
            std::shared_ptr<TextQueue> queue);

    std::size_t texts() const { return n_; }
    TextQueue& queue() { return *queue_; }
    const generate::Writer& prompt() const { return prompt_; }  // read once one of the texts has a piece

    // Of the scheduler's thread.
    void read();  // the prompt: then there are writers
    std::vector<generate::Writer>& writers() { return writers_; }
    void publish();  // what is new of them
    bool finished() const;

  private:
    generate::Writer prompt_;
    const std::size_t n_, first_;
    const bool in_pieces_;
    const std::shared_ptr<TextQueue> queue_;
    std::vector<generate::Writer> writers_;
    struct Sent {
        std::size_t logprobs = 0;
        bool all = false;
    };
    std::vector<Sent> sent_;
};

}  // namespace inkling::serve
