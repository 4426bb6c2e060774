#include "data/tokenizers/normalizer.h"

#include <algorithm>

#include "data/tokenizers/nfc.h"
#include "engine/base/check.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

void check_growth(const std::string& text, std::size_t limit) {
    check<BadInput>(text.size() <= limit, "its steps make a text too long: at most {} bytes", limit);
}

}  // namespace

std::string replaced(std::string_view text, const Pattern& pattern, std::string_view content, std::size_t limit) {
    std::string result;
    result.reserve(text.size());
    Pattern::Scan scan(pattern);
    scan.allow(text.size());
    while (!text.empty()) {  // a byte that is not UTF-8 ends the run
        const std::string_view run = text.substr(0, formats::find_invalid_utf8(text));
        std::size_t at = 0;
        while (const auto match = scan.find(run, at)) {
            result.append(run.substr(at, match->begin - at)).append(content);
            at = match->end;
            check_growth(result, limit);
        }
        result.append(run.substr(at)).append(text.substr(run.size(), 1));
        text.remove_prefix(std::min(run.size() + 1, text.size()));
    }
    return result;
}

bool may_be_cut(const std::vector<NormalizerStep>& steps) {
    return std::all_of(steps.begin(), steps.end(), [](const NormalizerStep& step) {
        return step.kind == NormalizerStep::Kind::nfc || step.kind == NormalizerStep::Kind::lowercase;
    });
}

std::string normalized(std::string_view text, const std::vector<NormalizerStep>& steps) {
    using Kind = NormalizerStep::Kind;
    const std::size_t limit = growth_limit(text.size());
    std::string result(text);
    for (const NormalizerStep& step : steps) {
        switch (step.kind) {
            case Kind::nfc:
                result = to_nfc(result);
                break;
            case Kind::lowercase:
                result = to_lowercase(result);
                break;
            case Kind::replace:
                result = replaced(result, step.pattern, step.content, limit);
                break;
            case Kind::prepend:
                if (!result.empty()) result.insert(0, step.content);
                break;
            case Kind::strip: {
                const auto [begin, end] = formats::stripped(result, formats::is_white_space, step.left, step.right);
                result = result.substr(begin, end - begin);
                break;
            }
        }
        check_growth(result, limit);
    }
    return result;
}

}  // namespace inkling::data
