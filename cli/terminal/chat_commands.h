// What can be typed in `inkling chat` beside messages: /help lists it.
#pragma once

#include <string>

#include "generate/conversation.h"

namespace inkling::cli {

// False for a line that is a message. Throws BadInput for a command that there is not, or that cannot be carried out.
bool run_chat_command(const std::string& line, generate::Conversation& talk);

}  // namespace inkling::cli
