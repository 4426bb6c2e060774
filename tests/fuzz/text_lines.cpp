// A fuzz target for texts in lines and tables: JSON lines of documents (first byte d, or s to skip bad lines), a list
// of them (l), JSON lines of texts (j), CSV (c). Any bytes are read or refused in one line. A conversation that is read
// survives writing and reading. See run.sh.
#include <string_view>

#include "data/text/examples.h"
#include "data/text/records.h"
#include "tests/fuzz/target.h"

FUZZ_TARGET(text_lines) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
    std::size_t taken = 0;
    const auto take = [&](std::string_view record) { taken += record.size(); };
    refuse_in_a_line([&] {
        switch (bytes[0]) {
            case 'j':
                data::read_records(data::RecordKind::json_lines, text, "text", take);
                break;
            case 'c':
                data::read_records(data::RecordKind::csv, text, "text", take);
                if (taken > text.size()) std::abort();
                break;
            default: {
                data::layout_of(text, bytes[0] == 's');
                const auto layout = bytes[0] == 'l' ? data::ExampleLayout::list : data::ExampleLayout::lines;
                for (const data::Example& d : data::read_examples(text, bytes[0] == 's', layout).list) {
                    if (d.line == 0 || d.parts.empty()) std::abort();
                    if (d.shape == data::ExampleShape::messages &&
                        data::read_examples(data::to_line(d.parts)).list.at(0).parts != d.parts)
                        std::abort();
                }
            }
        }
    });
    return 0;
}
