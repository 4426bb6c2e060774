#include "data/text/text_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "data/text/content_hash.h"
#include "engine/base/check.h"
#include "formats/files/file_calls.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace fs = std::filesystem;

// A file without a name, written once and then mapped. The system removes it with its last user, even after a crash.
class NamelessFile {
  public:
    NamelessFile() {
        const char* const chosen = std::getenv("TMPDIR");  // else not /tmp, which may be memory
        const fs::path folder = chosen ? chosen : formats::is_folder("/var/tmp") ? "/var/tmp" : "/tmp";
        name_ = (folder / "inkling-XXXXXX").string();
        fd_ = ::mkostemp(name_.data(), O_CLOEXEC);
        require(fd_ >= 0);
        ::unlink(name_.c_str());
    }
    ~NamelessFile() { ::close(fd_); }
    NamelessFile(const NamelessFile&) = delete;
    NamelessFile& operator=(const NamelessFile&) = delete;

    void write(std::string_view bytes) {
        size_ += bytes.size();
        while (!bytes.empty()) {
            const ssize_t taken = formats::retry([&] { return ::write(fd_, bytes.data(), bytes.size()); });
            require(taken >= 0);
            bytes.remove_prefix(static_cast<std::size_t>(taken));
        }
    }
    formats::MappedFile map() const { return formats::MappedFile(fd_, size_); }

  private:
    void require(bool good) const {
        check(good, "cannot write {}, for text from a stream: {}", name_, formats::reason(errno));
    }

    std::string name_;
    int fd_ = -1;
    std::size_t size_ = 0;
};

namespace {

constexpr std::size_t large_text = 64 << 20;  // bytes

bool is_stream(const std::string& path) {
    std::error_code unknown;  // reading says what is wrong with a file that cannot be looked at
    return path == "-" || fs::is_fifo(path, unknown);
}

std::string name_of_source(const std::string& path) { return path == "-" ? "standard input" : path; }

// Whether to map a regular file. Refuses other files, and files with holes. Small files are copied instead, because a
// mapped file that another program truncates cannot be read to its end.
bool is_large(const std::string& path) {
    if (formats::has_hole(path))
        throw NoText(fmt::format("cannot read {}: it has holes, which read as NUL bytes: name a text file", path),
                     "binary");
    std::error_code unknown;
    const std::uintmax_t size = fs::file_size(path, unknown);
    return !unknown && size >= large_text;
}

Text keep_mapped(formats::MappedFile file) {
    const auto owner = std::make_shared<const formats::MappedFile>(std::move(file));
    return {{reinterpret_cast<const char*>(owner->data()), owner->size()}, owner};
}

// Describes a file with NUL bytes, and what to do about it.
std::string binary_kind(std::string_view bytes, std::size_t nul) {
    constexpr std::pair<std::string_view, const char*> heads[] = {
        {"\x7F"
         "ELF",
         "an ELF program"},
        {"%PDF-", "a PDF document"},
        {"PK\x03\x04", "a zip archive, or a document of an office program"},
        {"\xFD"
         "7zXZ",
         "an xz archive"},
        {"BZh", "a bzip2 archive"}};
    for (const auto& [head, kind] : heads)
        if (bytes.starts_with(head)) return fmt::format("{}: name a text file", kind);
    if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
        return "or UTF-16 text: convert it first, e.g. with iconv -f UTF-16 -t UTF-8";
    return fmt::format("byte {} is NUL: name a text file", nul);
}

void require_no_nul(std::string_view bytes, std::size_t before, std::string_view beginning, const std::string& name) {
    const std::size_t nul = bytes.find('\0');
    if (nul == std::string_view::npos) return;
    throw NoText(fmt::format("{}: this is a binary file, {}", name, binary_kind(beginning, before + nul)), "binary");
}

}  // namespace

Text keep_text(std::string text) {
    const auto owner = std::make_shared<const std::string>(std::move(text));
    return {*owner, owner};
}

ReadSome open_stream(const std::string& path) {
    const int fd =
        path == "-" ? 0 : formats::retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); });
    const auto require = [name = name_of_source(path)](bool good) {
        check<BadInput>(good, "cannot read {}: {}", name, formats::reason(errno));
    };
    require(fd >= 0);
    const std::shared_ptr<void> closed_last(nullptr, [fd](void*) {
        if (fd != 0) ::close(fd);
    });
    return [fd, require, closed_last](char* to, std::size_t max_size) {
        const ssize_t got = formats::retry([&] { return ::read(fd, to, max_size); });
        require(got >= 0);
        return static_cast<std::size_t>(got);
    };
}

Text open_text(const std::string& path) {
    if (is_stream(path)) return read_stream(open_stream(path));
    return is_large(path) ? keep_mapped(formats::MappedFile(path)) : keep_text(formats::read_file(path));
}

GrowingText::GrowingText() = default;
GrowingText::~GrowingText() = default;

void GrowingText::append(std::string_view more) {
    constexpr std::size_t block = 1 << 20;
    size_ += more.size();
    small_ += more;
    if (size_ > large_text && small_.size() >= block) flush();
}

void GrowingText::flush() {
    if (!large_) large_ = std::make_unique<NamelessFile>();
    large_->write(std::exchange(small_, {}));
}

Text GrowingText::take() {
    if (!large_) return keep_text(std::move(small_));
    flush();
    return keep_mapped(large_->map());
}

Text read_stream(const ReadSome& read) {
    GrowingText text;
    std::string block(1 << 20, '\0');
    while (const std::size_t got = read(block.data(), block.size())) text.append({block.data(), got});
    return text.take();
}

Text read_unpacked(const ReadSome& read, const std::string& name) {
    std::size_t size = 0;
    std::string beginning;
    try {
        return read_stream([&, more = formats::decompressed(read, name)](char* to, std::size_t max_size) {
            const std::size_t got = more(to, max_size);
            if (beginning.empty()) beginning.assign(to, std::min<std::size_t>(got, 8));
            require_no_nul({to, got}, size, beginning, name);
            size += got;
            return got;
        });
    } catch (const formats::Damaged& e) {
        throw NoText(e.what(), "damaged");
    }
}

Text open_unpacked(const std::string& path) {
    if (!is_stream(path) && is_large(path)) {
        Text text = keep_mapped(formats::MappedFile(path));  // only the pages that are used are read
        if (formats::compression_of(text.bytes) == formats::Compression::none) return text;
    }
    return read_unpacked(open_stream(path), name_of_source(path));
}

TextScan scan_text(std::string_view text, const std::string& name) {
    constexpr std::size_t block = 1 << 18;  // bytes, which stay in the cache
    TextScan found;
    ContentHash hash;
    std::size_t valid = 0;  // up to here
    for (std::size_t at = 0; at < text.size(); at += block) {
        const std::string_view part = text.substr(at, block);
        const std::size_t end = at + part.size();
        require_no_nul(part, at, text, name);
        if (found.invalid != std::string_view::npos) continue;
        hash.add(part);
        const std::size_t wrong = formats::find_invalid_utf8(text.substr(valid, end - valid));
        valid = wrong == std::string_view::npos ? end : valid + wrong;
        const bool may_go_on = end < text.size() && end - valid < 4;  // the block may end within a character
        if (valid < end && !may_go_on) found.invalid = valid;
    }
    found.hash = hash.value();
    return found;
}

std::string read_standard_input(const formats::FileKind& kind) {
    const ReadSome read = open_stream("-");
    std::string content, block(1 << 20, '\0');
    while (const std::size_t got = read(block.data(), block.size())) {
        check<BadInput>(content.size() + got <= kind.limit, "standard input: it has more than {} MB, the limit for {}",
                        kind.limit >> 20, kind.name);
        content.append(block, 0, got);
    }
    return content;
}

}  // namespace inkling::data
