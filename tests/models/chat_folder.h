// A chat model that answers nonsense.
#pragma once

#include "models/files/chat_tokens.h"
#include "models/files/folder.h"

namespace inkling::testing {

// A folder with a model of random weights, a chat template, and ChatML's special tokens 811 and 812.
struct ChatFolder {
    ScratchFolder scratch;
    explicit ChatFolder(const std::string& chat_template = kChatMl, std::size_t context = 96);
};

}  // namespace inkling::testing
