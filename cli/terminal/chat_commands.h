// The commands inside `inkling chat`, which /help lists.
#pragma once

#include <string>

#include "generate/conversation.h"

namespace inkling::cli {

// Returns false if the line is a message. Throws BadInput for a command that is unknown or fails.
bool run_chat_command(const std::string& line, generate::Conversation& talk);

}  // namespace inkling::cli
