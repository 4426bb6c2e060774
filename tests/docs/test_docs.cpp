// What the pages promise: links and named paths lead somewhere, the engine is an evening's reading on floors that see
// only those below, and a mechanism of a decoder is read in one place.

namespace fs = std::filesystem;

// A page without its code blocks.
static std::string prose(const fs::path& page) {
    std::istringstream lines(read_file(page));
    std::string text;
    bool code = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("```")) {
            code = !code;
        } else if (!code) {
            text += line + "\n";
        }
    }
    return text;
}

// Whether a page has the heading of a link: #what-to-do is "What to do".
static bool has_heading(const fs::path& page, const std::string& name) {
    std::istringstream lines(prose(page));
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("#")) continue;
        std::string found;
        for (const char c : line.substr(std::min(line.find(' '), line.size() - 1) + 1)) {
            const auto byte = static_cast<unsigned char>(c);
            if (std::isalnum(byte) || c == '-' || c == '_' || byte >= 0x80)
                found += static_cast<char>(std::tolower(byte));
            if (c == ' ') found += '-';
        }
        if (found == name) return true;
    }
    return false;
}

static std::vector<std::smatch> matches(const std::string& text, const std::regex& pattern) {
    return {std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()};
}

TEST_CASE("pages: links and paths lead somewhere", "[docs]") {
    const fs::path root = fs::path(tests_path("")).parent_path().parent_path();
    std::vector<fs::path> pages = {root / "README.md"};
    for (const char* folder : {"docs", "bench", "examples"})
        for (const auto& file : fs::directory_iterator(root / folder))
            if (file.path().extension() == ".md") pages.push_back(file.path());
    const std::regex link(R"(\]\(([^)\s#:]*)(?:#([^)\s]+))?\))"), path(R"(`((?:\w+/)+[\w.]+\.\w+)`)");
    const std::set<std::string> made = {"build", "out", "runs"};  // by builds and runs; .gitignore has them
    std::size_t links = 0, paths = 0;
    for (const fs::path& page : pages) {
        const std::string text = prose(page);
        for (const std::smatch& m : matches(text, link)) {
            INFO(page << ": " << m.str());
            const fs::path to = m[1].length() ? page.parent_path() / m[1].str() : page;
            CHECK(fs::exists(to));
            if (m[2].matched) CHECK(has_heading(to, m[2]));
            ++links;
        }
        for (const std::smatch& m : matches(text, path)) {
            const std::string name = m[1], top = name.substr(0, name.find('/'));
            if (!fs::is_directory(root / top) || name.find("NAME") != std::string::npos || made.contains(top)) continue;
            INFO(page << ": " << name);
            CHECK(fs::exists(root / name));
            ++paths;
        }
    }
    CHECK_ALL(links > 50, paths > 50);
}

TEST_CASE("pages: the engine is read in at most 2,500 lines and 18 files", "[docs]") {
    const std::string page = read_file(tests_path("../docs/engine.md"));
    const std::regex row(R"(\| \[([\w/.]+)\]\(\.\./\1\) \| (\d+) \|)");
    std::size_t files = 0, lines = 0;
    for (std::sregex_iterator at(page.begin(), page.end(), row), end; at != end; ++at) {
        INFO((*at)[1]);
        const std::string code = read_file(tests_path("../" + (*at)[1].str()));
        const auto count = static_cast<std::size_t>(std::count(code.begin(), code.end(), '\n'));
        const double told = std::stod((*at)[2]);
        CHECK(static_cast<double>(count) == Approx(told).epsilon(0.1).margin(3));
        ++files, lines += count;
    }
    CHECK_ALL(files >= 15, files <= 18, lines <= 2500);
}

TEST_CASE("floors: nothing in engine/ includes what is above it", "[docs]") {
    const std::vector<std::string> floors = {"base",    "process", "memory", "kernels", "array",    "autograd",
                                             "weights", "ops",     "fused",  "more",    "gradcheck"};
    const std::regex include(R"(#include "engine/(\w+)/)");
    for (auto floor = floors.begin(); floor != floors.end(); ++floor)
        for (const auto& file : fs::recursive_directory_iterator(tests_path("../engine/") + *floor)) {
            if (!file.is_regular_file()) continue;
            const std::string code = read_file(file.path());
            for (std::sregex_iterator at(code.begin(), code.end(), include), end; at != end; ++at)
                WITH_INFO(file.path() << ": " << (*at)[0],
                          CHECK(std::find(floors.begin(), floor + 1, (*at)[1]) != floor + 1));
        }
}

TEST_CASE("pages: what a decoder computes is read in models/decoder.h alone", "[docs]") {
    const auto reads = [](const std::string& file, const std::string& field) {
        const std::string code = read_file(tests_path("../models/" + file));
        return std::regex_search(code, std::regex(R"(\b(a|config|config_|config\(\))\.)" + field + R"(\b)"));
    };
    for (const char* const field :
         {"norm", "post_norms", "embedding_norm", "scaled_embedding", "token_shift", "positions", "head_norm",
          "packed_qkv", "activation", "parallel_residual", "gated", "attention_scale", "window_of"}) {
        INFO(field);
        CHECK(reads("decoder.h", field));
        for (const char* const other : {"transformer.cpp", "tensor_ops.h", "inference/rows.h", "inference/rows.cpp",
                                        "inference/inference_model.cpp"})
            WITH_INFO(other, CHECK_FALSE(reads(other, field)));
    }
}
