// A fuzz target for safetensors files: any bytes are read within their bounds or refused with BadInput. The input is
// read as a file; and as a header up to the first NUL, with a matching length, and the data. See run.sh.
#include "formats/safetensors/safetensors.h"
#include "tests/fuzz/target.h"

static void read_all_tensors(std::string_view bytes) {
    refuse_in_a_line([&] {
        const auto file = formats::SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "fuzz");
        std::uint64_t total = 0;
        for (const auto& [name, t] : file.tensors()) {
            total += t.bytes.size();
            const auto* const begin = reinterpret_cast<const char*>(t.bytes.data());
            const bool inside = begin >= bytes.data() && begin + t.bytes.size() <= bytes.data() + bytes.size();
            if (t.name != name || !inside || t.count > 8 * bytes.size()) std::abort();
            std::uint64_t sum = 0;
            for (const std::byte b : t.bytes) sum += static_cast<std::uint64_t>(b);
            if (sum > 255 * bytes.size()) std::abort();
            std::vector<float> values(t.count);
            refuse_in_a_line([&, &name = name] { file.read(name, values.data(), values.size()); });  // no floats
        }
        if (total > bytes.size()) std::abort();
    });
}

FUZZ_TARGET(safetensors) {
    const std::string_view input(reinterpret_cast<const char*>(bytes), size);
    read_all_tensors(input);
    const std::string_view header = input.substr(0, input.find('\0'));
    const std::uint64_t length = header.size();
    std::string file(reinterpret_cast<const char*>(&length), sizeof length);
    file += header;
    if (header.size() < input.size()) file += input.substr(header.size() + 1);
    read_all_tensors(file);
    return 0;
}
