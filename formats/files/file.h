// Files, read whole and written whole. Only regular files are read, up to a size that depends on what they are read as:
// a FIFO or a device may have no end (data/text_source.h reads text from these). A file that exists is replaced in one
// step or left as it was, also through a crash or a full disk: the new one is written beside it as .NAME.tmp.PID.N,
// synced, and renamed over it.
//   std::string text = read_file("config.json", FileKind::json);   // BadInput: missing, no regular file, too large
//   write_file_atomic("config.json", text);                    // Error: names the path and the reason
//   FileWriter file("model.safetensors");                      // the same, in pieces
//   file.write(data, size);
//   file.commit();                                             // without it, nothing of the file remains
// A link is followed: the file that it names is replaced. What is no regular file (/dev/null, a pipe) is written
// directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace inkling::formats {

// What a file is read as. file.cpp has the size limit of each kind.
enum class FileKind { json, merges, toml, prompt, any };

// The largest size, in bytes, and the name of the kind, for messages: "a JSON file".
std::uint64_t size_limit(FileKind kind);
const char* kind_name(FileKind kind);

// The whole content, byte for byte.
std::string read_file(const std::filesystem::path& path, FileKind kind = FileKind::any);

// Whether something, or a folder, has this name; links are followed. Throws BadInput where that cannot be told: links
// that lead in a circle, a folder that may not be entered.
bool is_there(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

// Throws BadInput where `path` is missing and one of `others`, which is not read, stands beside it. `python` converts
// it, in the folder {0}.
void refuse_other_form(const std::filesystem::path& path, std::initializer_list<const char*> others,
                       const char* python);

// Whether a regular file has a place that was never written and reads as NUL bytes, as sparse files do.
bool has_hole(const std::filesystem::path& path);

// The file at `path` holds `content` once this returns, on disk too. A replaced file's permissions are kept.
void write_file_atomic(const std::filesystem::path& path, std::string_view content);

// Whether `name` is that of a temporary file for `of`, left by a killed writer.
bool is_unfinished(const std::string& name, const std::string& of);

// Waits until the names in a directory (files made, renamed, removed) are on disk.
void sync_directory(const std::filesystem::path& directory);

// write_file_atomic for content that is made piece by piece. After an Error the writer is closed and its file removed.
class FileWriter {
  public:
    explicit FileWriter(const std::filesystem::path& path);
    ~FileWriter();
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    void write(const void* data, std::size_t size);
    void commit();

  private:
    void require(int error);  // 0, or the errno to report
    void discard() noexcept;

    std::filesystem::path path_;    // as asked for, for messages
    std::filesystem::path target_;  // with links resolved
    std::filesystem::path temp_;    // empty when the target is written directly
    int fd_ = -1;
};

// The bytes of a regular file, of any size, read-only and fetched by the system as they are touched; copies share them.
// What cannot be mapped (an empty file, one in /proc) is read instead. A file that another program cuts short while it
// is mapped raises SIGBUS where it is read; files that are replaced by renaming, as above, stay whole.
class MappedFile {
  public:
    MappedFile() = default;
    explicit MappedFile(const std::filesystem::path& path);
    MappedFile(int fd, std::size_t size);  // of an open file, which may be closed then; throws Error

    const std::byte* data() const { return bytes_.data(); }
    std::size_t size() const { return bytes_.size(); }
    std::span<const std::byte> bytes() const { return bytes_; }

    // Gives memory back that holds these bytes, which are some of the file's, in whole pages; they may be read again.
    void release(const std::byte* from, std::size_t size) const;

  private:
    std::shared_ptr<const void> owner_;
    std::span<const std::byte> bytes_;
    bool mapped_ = false;  // or else read
};

}  // namespace inkling::formats
