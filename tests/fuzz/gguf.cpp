// A fuzz target for GGUF files: any bytes are read within their bounds or refused in one line. A file with the keys of
// a model is read as its architecture and its tokenizer. See run.sh.
#include "formats/gguf/gguf_file.h"

#include "models/families/family.h"
#include "models/files/gguf/gguf_tokenizer.h"
#include "tests/fuzz/target.h"

FUZZ_TARGET(gguf) {
    refuse_in_a_line([&] {
        const auto file = formats::GgufFile::parse(std::as_bytes(std::span(bytes, size)), "fuzz");
        for (const auto& [name, t] : file.tensors()) {
            if (t.bytes.data() < reinterpret_cast<const std::byte*>(bytes) || t.bytes.size() > size ||
                t.bytes.data() + t.bytes.size() > reinterpret_cast<const std::byte*>(bytes) + size)
                std::abort();
            std::vector<float> values(t.count);
            refuse_in_a_line([&, &name = name] { file.read(name, values.data(), values.size()); });
        }
        for (auto at = file.values().begin(); at != file.values().end(); ++at) {
            const std::string name = at.key();
            const std::size_t count = file.is_list(name) ? file.lists().at(name).count : 1;
            refuse_in_a_line([&] { file.size(name); });
            refuse_in_a_line([&] { file.texts(name); });
            refuse_in_a_line([&] { file.numbers(name, count); });
        }
        refuse_in_a_line([&] {
            models::Architecture a = models::read_gguf_architecture(file);
            models::take_gguf_special_tokens(file, a);
        });
        refuse_in_a_line([&] {
            const auto tokenizer = models::read_gguf_tokenizer(file);
            refuse_in_a_line([&] { tokenizer->encode("the hen, 12"); });
        });
    });
    return 0;
}
