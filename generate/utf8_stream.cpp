#include "generate/utf8_stream.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "formats/utf8.h"

namespace inkling::generate {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

// Whether more bytes may complete the broken character of `size` bytes at the front of the text.
bool may_go_on(std::string_view text, std::size_t size) {
    const auto lead = static_cast<std::uint8_t>(text[0]);
    return size == text.size() && lead >= 0xC2 && lead <= 0xF4;
}

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
    held_ += bytes;
    std::string text;
    std::string_view rest = held_;
    while (!rest.empty()) {
        const std::size_t valid = std::min(formats::find_invalid_utf8(rest), rest.size());
        text += rest.substr(0, valid);
        rest.remove_prefix(valid);
        if (rest.empty()) break;
        const std::size_t broken = formats::invalid_utf8_size(rest, 0);
        if (may_go_on(rest, broken)) break;
        text += replacement;
        rest.remove_prefix(broken);
    }
    held_ = std::string(rest);
    return text;
}

std::string Utf8Stream::finish() { return std::exchange(held_, "").empty() ? "" : std::string(replacement); }

std::string to_valid_utf8(std::string_view bytes) {
    Utf8Stream stream;
    const std::string text = stream.push(bytes);
    return text + stream.finish();
}

}  // namespace inkling::generate
