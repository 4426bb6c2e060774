#define PCRE2_CODE_UNIT_WIDTH 8
#include "data/tokenizers/split/regex.h"

#include <pcre2.h>

#include <cstdlib>
#include <new>

#include "engine/base/check.h"

namespace inkling::data {

namespace {

std::string message_of(int error) {
    PCRE2_UCHAR8 text[120];
    return pcre2_get_error_message(error, text, sizeof text) < 0 ? fmt::format("error {}", error)
                                                                 : reinterpret_cast<const char*>(text);
}

struct Work {
    std::uint64_t left = 0, allowed = 0;
    std::size_t place = 0;  // position in the text at the last step
};

// PCRE2 calls this before each part of the pattern that it tries. The bytes passed between two calls bound the time
// between them. (PCRE2's own limits restart at each position of the text and do not count runs over a class.)
int count_step(pcre2_callout_block* block, void* data) {
    Work& work = *static_cast<Work*>(data);
    const std::size_t place = block->current_position;
    const std::uint64_t steps = 1 + (place > work.place ? place - work.place : 0);
    work.place = place;
    if (steps > work.left) return PCRE2_ERROR_CALLOUT;
    work.left -= steps;
    return 0;
}

}  // namespace

Regex::Regex(const std::string& pattern, Steps steps) : counted_(steps == Steps::counted) {
    int error = 0;
    PCRE2_SIZE where = 0;
    const std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | (counted_ ? PCRE2_AUTO_CALLOUT : 0);
    pcre2_code* const code =
        pcre2_compile(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(), options, &error, &where, nullptr);
    if (!code) check<BadInput>(false, "the pattern has an error at byte {}: {}", where, message_of(error));
    code_ = std::shared_ptr<const void>(code, [code](const void*) { pcre2_code_free(code); });
    std::uint32_t empty = 0;
    pcre2_pattern_info(code, PCRE2_INFO_MATCHEMPTY, &empty);
    check<BadInput>(empty == 0, "the pattern can match the empty text");
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // without JIT support, PCRE2 interprets
}

int Regex::unicode_version() {
    char text[64] = "";  // "14.0.0"
    pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, text);
    return std::atoi(text);
}

struct Regex::Scan::State {
    std::shared_ptr<const void> code;
    pcre2_match_data* match = nullptr;
    pcre2_match_context* context = nullptr;
    pcre2_jit_stack* stack = nullptr;  // only for texts that need more than the machine stack's 32 KiB
    Work work = {};

    ~State() {
        pcre2_match_data_free(match);
        pcre2_match_context_free(context);
        pcre2_jit_stack_free(stack);
    }
};

Regex::Scan::Scan(const Regex& regex) : state_(std::make_unique<State>()) {
    state_->code = regex.code_;
    state_->match = pcre2_match_data_create(1, nullptr);
    state_->context = pcre2_match_context_create(nullptr);
    if (!state_->match || !state_->context) throw std::bad_alloc();
    if (regex.counted_) pcre2_set_callout(state_->context, count_step, &state_->work);
}

Regex::Scan::~Scan() = default;
Regex::Scan::Scan(Scan&&) noexcept = default;

std::optional<Regex::Match> Regex::Scan::find(std::string_view text, std::size_t from) {
    State& s = *state_;
    const auto attempt = [&] {
        s.work.place = from;
        return pcre2_match(static_cast<const pcre2_code*>(s.code.get()), reinterpret_cast<PCRE2_SPTR8>(text.data()),
                           text.size(), from, PCRE2_NO_UTF_CHECK, s.match, s.context);
    };
    int result = attempt();
    if (result == PCRE2_ERROR_JIT_STACKLIMIT && !s.stack) {
        s.stack = pcre2_jit_stack_create(64 * 1024, 256 * 1024 * 1024, nullptr);  // allocated when touched
        pcre2_jit_stack_assign(s.context, nullptr, s.stack);
        result = attempt();
    }
    if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
    check<BadInput>(result != PCRE2_ERROR_CALLOUT, "the pattern cannot split this text: it takes more than {} steps",
                    s.work.allowed);
    check<BadInput>(result >= 0, "the pattern cannot split this text: {}", message_of(result));
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(s.match);
    return Match{ends[0], ends[1]};
}

void Regex::Scan::allow(std::uint64_t steps) { state_->work.left = state_->work.allowed = steps; }

}  // namespace inkling::data
