// Reads and writes whole files. Reads only regular files, up to a limit per kind, since a FIFO or a device may never
// end (data/text/text_source.h reads text from these). Writing is atomic, also through a crash or a full disk: the new
// file is written beside the old as .NAME.tmp.PID.N, synced, and renamed over it.
//   std::string text = read_file("config.json", FileKind::json);   // BadInput: missing, not regular, too large
//   write_file_atomic("config.json", text);                    // Error: names the path and the reason
//   FileWriter file("model.safetensors");                      // the same, in pieces
//   file.write(data, size);
//   file.commit();                                             // without it, the new file is removed
// A link is followed, and its target replaced. Pipes and devices such as /dev/null are written directly. In an
// untrusted folder use Links::replaced, which replaces links by regular files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace inkling::formats {

// The kind of a file's content. The largest tokenizer.json of known models has 35 MB, a run's config.toml 2 KB.
struct FileKind {
    const char* name;     // for messages
    std::uint64_t limit;  // bytes
    static const FileKind json, merges, toml, prompt, any;
};
inline constexpr FileKind FileKind::json{"a JSON file", 64 << 20}, FileKind::merges{"a list of merges", 64 << 20},
    FileKind::toml{"a file of settings", 1 << 20}, FileKind::prompt{"a prompt", 512 << 20},
    FileKind::any{"a file that is read whole", 1 << 30};

// The whole content.
std::string read_file(const std::filesystem::path& path, const FileKind& kind = FileKind::any);

// Whether a path exists, or is a folder; follows links. Throws BadInput if that cannot be told: circular links, a
// folder without permission.
bool is_there(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

// Throws BadInput if `path` is missing and one of `others`, which cannot be read, is beside it. `python` is the command
// that converts it, with {0} for the folder; a name that a shell or Python would read otherwise becomes FOLDER.
void refuse_other_form(const std::filesystem::path& path, std::initializer_list<const char*> others,
                       const char* python);

// Whether a regular file has a hole that reads as NUL bytes (a sparse file).
bool has_hole(const std::filesystem::path& path);

enum class Links { followed, replaced };

// Writes `content` to `path` and syncs it. Keeps a replaced file's permissions.
void write_file_atomic(const std::filesystem::path& path, std::string_view content, Links links = Links::followed);

// Whether `name` is a temporary file for `of` left by a killed writer.
bool is_unfinished(const std::string& name, const std::string& of);

// Syncs a directory: new, renamed and removed names.
void sync_directory(const std::filesystem::path& directory);

// Writes a folder whole or not at all: `fill` writes `beside`, whose files are then synced together, not one by one,
// and which gets the name `folder`. Anything of that name is removed.
void write_folder(const std::filesystem::path& folder, const std::filesystem::path& beside,
                  const std::function<void(const std::filesystem::path&)>& fill);

// write_file_atomic for content in pieces. After an Error the writer is closed and its file removed.
class FileWriter {
  public:
    explicit FileWriter(const std::filesystem::path& path, Links links = Links::followed);
    ~FileWriter();
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    void write(const void* data, std::size_t size);
    void commit();

  private:
    void require(int error);  // 0, or the errno to report
    void discard() noexcept;

    std::filesystem::path path_;    // as given, for messages
    std::filesystem::path target_;  // links resolved
    std::filesystem::path temp_;    // empty: the target is written directly
    int fd_ = -1;
};

// A memory-mapped regular file of any size, read-only; copies share it. A file that cannot be mapped (empty, or in
// /proc) is read instead. If another program truncates a mapped file, reading it raises SIGBUS; files that are replaced
// by renaming, as above, stay whole.
class MappedFile {
  public:
    MappedFile() = default;
    explicit MappedFile(const std::filesystem::path& path);
    MappedFile(int fd, std::size_t size);  // may close fd afterwards; throws Error

    const std::byte* data() const { return bytes_.data(); }
    std::size_t size() const { return bytes_.size(); }
    std::span<const std::byte> bytes() const { return bytes_; }

    // Releases the whole pages of these bytes of the file; reading them again reloads them.
    void release(const std::byte* from, std::size_t size) const;

  private:
    std::shared_ptr<const void> owner_;
    std::span<const std::byte> bytes_;
    bool mapped_ = false;  // else read into memory
};

}  // namespace inkling::formats
