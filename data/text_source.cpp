#include "data/text_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "engine/check.h"
#include "formats/system_calls.h"

namespace inkling::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t large_text = 64 << 20;  // bytes

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

Text keep_mapped(formats::MappedFile file) {
    const auto owner = std::make_shared<const formats::MappedFile>(std::move(file));
    return {{reinterpret_cast<const char*>(owner->data()), owner->size()}, owner};
}

}  // namespace

Text keep_text(std::string text) {
    const auto owner = std::make_shared<const std::string>(std::move(text));
    return {*owner, owner};
}

Text open_text(const std::string& path) {
    std::error_code unknown;  // reading says what is wrong with a file that cannot be looked at
    const bool stream = path == "-" || fs::is_fifo(path, unknown);
    if (stream) {
        InputStream in = path == "-" ? InputStream() : InputStream(path);
        return read_stream([&](char* to, std::size_t max_size) { return in.read(to, max_size); });
    }
    check<BadInput>(!formats::has_hole(path), "cannot read {}: it has holes, which read as NUL bytes: name a text file",
                    path);
    // A file that another program cuts short while it is mapped cannot be read to its end: small ones are copied.
    const std::uintmax_t size = fs::file_size(path, unknown);
    return !unknown && size >= large_text ? keep_mapped(formats::MappedFile(path))
                                          : keep_text(formats::read_file(path));
}

Text read_stream(const ReadSome& read) {
    std::string text, block(1 << 20, '\0');
    const auto read_block = [&] { return std::string_view(block.data(), read(block.data(), block.size())); };
    while (text.size() < large_text) {
        const std::string_view more = read_block();
        if (more.empty()) return keep_text(std::move(text));
        text += more;
    }
    NamelessFile file;
    file.write(std::exchange(text, {}));
    for (std::string_view more = read_block(); !more.empty(); more = read_block()) file.write(more);
    return keep_mapped(file.map());
}

InputStream::InputStream(const fs::path& path) : name_(path.string()) {
    fd_ = formats::retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); });
    check<BadInput>(fd_ >= 0, "cannot read {}: {}", name_, formats::reason(errno));
}

InputStream::~InputStream() {
    if (fd_ != 0) ::close(fd_);
}

std::size_t InputStream::read(char* to, std::size_t max_size) {
    const ssize_t got = formats::retry([&] { return ::read(fd_, to, max_size); });
    check<BadInput>(got >= 0, "cannot read {}: {}", name_, formats::reason(errno));
    return static_cast<std::size_t>(got);
}

std::string read_standard_input(formats::FileKind kind) {
    InputStream in;
    std::string content, block(1 << 20, '\0');
    while (const std::size_t got = in.read(block.data(), block.size())) {
        check<BadInput>(content.size() + got <= formats::size_limit(kind),
                        "standard input: it has more than {} MB, the limit for {}", formats::size_limit(kind) >> 20,
                        formats::kind_name(kind));
        content.append(block, 0, got);
    }
    return content;
}

}  // namespace inkling::data
