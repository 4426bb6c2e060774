#include "data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "data/text/content_hash.h"
#include "data/token_view.h"
#include "data/tokenizers/unknown_characters.h"
#include "engine/base/check.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/named.h"

namespace inkling::data {
namespace {

namespace fs = std::filesystem;

// Ends a file of the cache, which is in the byte order of memory: the ids, 2 or 4 bytes each; for examples a byte per
// id, whether it is learned, and 8 bytes per example, where it ends. Each part begins at a multiple of 8.
struct Trailer {
    char magic[8] = {'I', 'N', 'K', 'D', 'A', 'T', 'A', '1'};
    std::uint64_t key = 0, count = 0, examples = 0, bytes = 0, fingerprint = 0;
    std::uint64_t checksum = 0;  // of all that stands before it
};

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

template <class T>
std::string_view bytes_of(std::span<const T> numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

std::string shown(std::size_t count, std::uint64_t fingerprint) {
    return fmt::format("{}-{:016x}", count, fingerprint);
}

// The hash of ids, learn and ends, in this order.
struct Fingerprint {
    WordHash hash;
    template <class Id>
    void add(std::span<const Id> ids) {
        for (const Id id : ids) hash.add(static_cast<std::uint32_t>(id));
    }
    std::uint64_t finish(std::span<const std::uint8_t> learn, std::span<const std::uint64_t> ends) {
        for (const std::uint8_t learned : learn) hash.add(learned);
        for (const std::uint64_t end : ends) hash.add(static_cast<std::uint32_t>(end));
        return hash.value;
    }
};

// Takes the ids as they are made, in memory or in a file.
class Builder {
  public:
    Builder(std::size_t vocab_size, const fs::path& file) : bytes_each_(id_bytes(vocab_size)), kept_(vocab_size) {
        if (!file.empty()) file_.emplace(file, formats::Links::replaced);
    }
    void add(std::span<const std::int32_t> ids) {
        fingerprint_.add(ids);
        trailer_.count += ids.size();
        if (!file_) return kept_.ids.append(ids);
        if (bytes_each_ == 4) return write(bytes_of(ids));
        narrow_.assign(ids.begin(), ids.end());
        write(bytes_of(std::span<const std::uint16_t>(narrow_)));
    }
    void add(const EncodedExample& example) {
        add(std::span<const std::int32_t>(example.ids));
        kept_.learn.insert(kept_.learn.end(), example.learn.begin(), example.learn.end());
        kept_.ends.push_back(trailer_.count);
    }
    // In memory.
    Dataset take() {
        const auto owner = std::make_shared<const Kept>(std::move(kept_));
        Dataset made;
        made.ids = owner->ids.ids();
        made.learn = owner->learn;
        made.ends = owner->ends;
        made.fingerprint = shown(made.ids.size(), fingerprint_.finish(made.learn, made.ends));
        made.owner = owner;
        return made;
    }
    void commit(std::uint64_t key, std::size_t bytes) {
        pad();
        write(bytes_of(std::span<const std::uint8_t>(kept_.learn)));
        pad();
        write(bytes_of(std::span<const std::uint64_t>(kept_.ends)));
        trailer_.key = key, trailer_.bytes = bytes, trailer_.examples = kept_.ends.size();
        trailer_.fingerprint = fingerprint_.finish(kept_.learn, kept_.ends);
        write({reinterpret_cast<const char*>(&trailer_), offsetof(Trailer, checksum)});
        trailer_.checksum = checksum_.value();
        file_->write(&trailer_.checksum, sizeof trailer_.checksum);
        file_->commit();
    }

  private:
    struct Kept {
        explicit Kept(std::size_t vocab_size) : ids(vocab_size) {}
        GrowingIds ids;
        std::vector<std::uint8_t> learn = {};
        std::vector<std::uint64_t> ends = {};
    };
    void write(std::string_view bytes) {
        file_->write(bytes.data(), bytes.size());
        checksum_.add(bytes);
        written_ += bytes.size();
    }
    void pad() { write(std::string_view("\0\0\0\0\0\0\0", padded(written_) - written_)); }

    std::size_t bytes_each_, written_ = 0;
    Kept kept_;
    std::optional<formats::FileWriter> file_;
    std::vector<std::uint16_t> narrow_;
    Trailer trailer_;
    Fingerprint fingerprint_;
    ContentHash checksum_;
};

// Checks the checksum and the range of ids in one pass.
bool is_whole(const formats::MappedFile& file, const Trailer& trailer, TokenView ids, std::size_t vocab_size) {
    constexpr std::size_t block = 1 << 17;  // ids
    ContentHash hash;
    std::uint32_t most = 0;
    std::string_view left(reinterpret_cast<const char*>(file.data()), file.size() - sizeof trailer.checksum);
    const std::size_t bytes_each = id_bytes(vocab_size);
    for (std::size_t at = 0; at < ids.size(); at += block) {
        const std::size_t n = std::min(block, ids.size() - at);
        hash.add(left.substr(0, n * bytes_each));
        left.remove_prefix(n * bytes_each);
        ids.subspan(at, n).visit([&](auto some) {
            for (const auto id : some) most = std::max(most, static_cast<std::uint32_t>(id));
        });
    }
    hash.add(left);
    return hash.value() == trailer.checksum && (ids.empty() || most < vocab_size);
}

// The dataset in a file of the cache, if it exists, is whole, and belongs to this text. What was just written is not
// checked.
std::optional<Dataset> read_cache(const fs::path& path, std::uint64_t key, std::size_t vocab_size, bool check_it) {
    if (!fs::is_regular_file(path)) return std::nullopt;
    auto file = std::make_shared<formats::MappedFile>();
    try {
        *file = formats::MappedFile(path);
    } catch (const BadInput&) {
        return std::nullopt;
    }
    Trailer trailer;
    const Trailer expected;
    const std::size_t size = file->size(), bytes_each = id_bytes(vocab_size);
    if (size < sizeof trailer) return std::nullopt;
    std::memcpy(&trailer, file->data() + size - sizeof trailer, sizeof trailer);
    if (std::memcmp(trailer.magic, expected.magic, sizeof trailer.magic) != 0 || trailer.key != key ||
        trailer.count > size || trailer.examples > size)
        return std::nullopt;
    const std::size_t learn_at = padded(trailer.count * bytes_each), learned = trailer.examples > 0 ? trailer.count : 0,
                      ends_at = learn_at + padded(learned);
    if (size != ends_at + 8 * trailer.examples + sizeof trailer) return std::nullopt;
    Dataset found;
    const std::byte* const data = file->data();
    found.ids = {data, trailer.count, bytes_each};
    found.learn = {reinterpret_cast<const std::uint8_t*>(data + learn_at), learned};
    found.ends = {reinterpret_cast<const std::uint64_t*>(data + ends_at), trailer.examples};
    if (check_it && !is_whole(*file, trailer, found.ids, vocab_size)) return std::nullopt;
    if (!std::is_sorted(found.ends.begin(), found.ends.end()) || (learned > 0 && found.ends.back() != trailer.count))
        return std::nullopt;
    found.bytes = trailer.bytes;
    found.fingerprint = shown(trailer.count, trailer.fingerprint);
    found.owner = file;
    return found;
}

// Removes cache files of other texts and temporary files of killed writers: they may be larger than all else here.
void remove_others(const fs::path& folder, const fs::path& kept) {
    try {
        for (const std::string& name : formats::names_in(folder)) {
            const bool ids = (name.starts_with("tokens-") || name.starts_with(".tokens-")) && name.size() >= 27;
            if (ids && folder / name != kept && (name.ends_with(".bin") || name.find(".bin.tmp.") != std::string::npos))
                formats::remove_tree(folder / name);
        }
    } catch (const Error&) {  // what stays is only untidy
    }
}

std::uint64_t key_of(const Corpus& corpus, const Tokenizer& tokenizer, const DatasetOptions& options) {
    ContentHash hash;
    hash.add_text(tokenizer.to_json());
    if (!tokenizer.tokens_before().empty() || !tokenizer.tokens_after().empty()) hash.add_text("with marks");
    if (corpus.examples) {
        hash.add_text(name_of(options.loss_on));
        if (tokenizer.chat) {
            hash.add_text(tokenizer.chat->jinja);
            for (const auto& [name, mark] : tokenizer.chat->special_tokens) hash.add_text(name), hash.add_text(mark);
        }
    }
    hash.add_number(corpus.hash());
    return hash.value();
}

std::size_t encode_into(Builder& builder, const Corpus& corpus, const Tokenizer& tokenizer,
                        const DatasetOptions& options) {
    if (!corpus.ids.empty()) {
        std::size_t bytes = 0;  // none without a tokenizer
        for (std::size_t i = 0; i < corpus.ids.size(); ++i)
            formats::named(corpus.source_of(i), [&] {
                each_token_id({corpus.documents[i], corpus.ids[i]}, tokenizer.vocab_size(), [&](auto ids) {
                    builder.add(ids);
                    if (tokenizer.kind() != TokenizerKind::ids) bytes += tokenizer.decode_more(ids).size();
                });
            });
        return bytes;
    }
    if (!corpus.examples) {
        return encode_documents(corpus, tokenizer, options.special_tokens, options.progress,
                                [&](std::span<const std::int32_t> ids) { builder.add(ids); });
    }
    std::optional<ChatTemplate> chat;
    if (tokenizer.chat) chat = ChatTemplate::of(tokenizer);
    for (const Example& example : *corpus.examples)
        formats::named(corpus.place_of(example), [&] {
            builder.add(encode_example(example, tokenizer, chat ? &*chat : nullptr, options.loss_on));
        });
    return corpus.bytes();
}

}  // namespace

Dataset::Dataset(TokenView some, std::span<const std::uint8_t> learned, std::span<const std::uint64_t> example_ends)
    : ids(some), learn(learned), ends(example_ends) {
    Fingerprint all;
    ids.visit([&](auto stored) { all.add(stored); });
    fingerprint = shown(ids.size(), all.finish(learn, ends));
}

Dataset make_dataset(const Corpus& corpus, const Tokenizer& tokenizer, const DatasetOptions& options) {
    if (options.in_memory) {
        DatasetOptions once = options;
        once.in_memory = nullptr;
        const std::uint64_t key = key_of(corpus, tokenizer, options);
        auto known = options.in_memory->find(key);
        if (known == options.in_memory->end())
            known = options.in_memory->emplace(key, make_dataset(corpus, tokenizer, once)).first;
        return known->second;
    }
    if (options.cache.empty() || corpus.bytes() < options.cache_from) {
        Builder builder(tokenizer.vocab_size(), "");
        const std::size_t bytes = encode_into(builder, corpus, tokenizer, options);
        Dataset made = builder.take();
        made.bytes = bytes;
        return made;
    }
    const std::uint64_t key = key_of(corpus, tokenizer, options);
    const fs::path path = options.cache / fmt::format("tokens-{:016x}.bin", key);
    if (auto found = read_cache(path, key, tokenizer.vocab_size(), true)) {
        found->from_cache = true;
        return std::move(*found);
    }
    const auto replaced = [&] { return tokenizer.unknown ? tokenizer.unknown->tally().characters : 0; };
    const std::size_t replaced_before = replaced();
    std::error_code ignored;  // FileWriter says what is wrong
    fs::create_directories(options.cache, ignored);
    Builder builder(tokenizer.vocab_size(), path);
    const std::size_t bytes = encode_into(builder, corpus, tokenizer, options);
    builder.commit(key, bytes);
    remove_others(options.cache, path);
    auto made = read_cache(path, key, tokenizer.vocab_size(), false);
    check(made.has_value(), "{}: what was written there cannot be read back", path.string());
    // If characters were replaced, the next start must report or refuse them: remove the file; the ids stay mapped.
    if (replaced() > replaced_before) fs::remove(path, ignored);
    return std::move(*made);
}

bool has_conversations(const Corpus& corpus) {
    const auto talks = [](const Example& e) { return e.shape == ExampleShape::messages; };
    return corpus.examples && std::any_of(corpus.examples->begin(), corpus.examples->end(), talks);
}

}  // namespace inkling::data
