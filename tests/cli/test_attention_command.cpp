// inkling attention: the page, the pictures, the terminal, and its errors.
#include "formats/sha256.h"
#include "models/files/folder.h"
#include "tests/cli/program.h"
#include "tests/support/markup.h"
#include "tests/support/page_data.h"
#include "web/report/attention_map.h"

// Two layers of two heads, and a vocabulary that would be dangerous in markup.
static const std::string& sharp_run() {
    static const TrainFolder folder;
    static const Result trained = [] {
        folder.write("text.txt", repeated("</script><b id=\"x\">it's & so\ton\n{{page.css}}", 1200));
        return execute(
            folder.train("--n-layer 2 --n-head 2 --n-embd 16 --block-size 24 --batch-size 4 --max-iters 10 "
                         "--warmup-iters 2 --threads 1"));
    }();
    return folder.out;
}

const std::string kSharp = "</script><b>'\"&\t\n{{p}}";

template <class... Pieces>
static Arguments attention(const std::string& prompt, const Pieces&... rest) {
    return words("attention --model", sharp_run(), "--threads 1 --prompt", prompt, rest...);
}

// Runs the command and returns the file that it wrote.
template <class... Pieces>
static std::string written(const std::string& prompt, const std::string& name, const Pieces&... rest) {
    const ScratchFolder folder;
    CHECK(execute(attention(prompt, "--out", folder.path(name), rest...)).out.empty());
    return read_file(folder.path(name));
}

static std::size_t occurrences(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
    return n;
}

TEST_CASE("attention: --json holds the weights that the model computes", "[cli]") {
    const Result r = execute(attention(kSharp, "--json"));
    const json j = json::parse(r.out);
    const auto [model, tokenizer] = load_model(find_model(sharp_run()));
    const auto tokens = tokenizer->encode(kSharp);
    IdArray ids({1, tokens.size()}, 0);
    std::copy(tokens.begin(), tokens.end(), ids.data());
    std::vector<Tensor<float>> weights;
    model->hidden(ids, {.attention_weights = &weights});
    REQUIRE(j["weights"].size() == 2);
    REQUIRE(j["lens"].size() == 2);
    Tensor<float> first;
    const Observers<float> observers = {{"layers.0.output", [&](const Tensor<float>& x) { return first = x; }}};
    model->hidden(ids, {.observers = &observers});
    for (std::size_t layer = 0; layer < 2; ++layer) {  // the last one is what the model says
        const Tensor<float> z = layer == 0 ? model->lens(first) : model->forward(ids);
        const auto p = softmax(z).value();
        for (std::size_t q = 0; q < tokens.size(); ++q) {
            const float* const row = p.data() + q * p.dim(2);
            const auto best = static_cast<std::int32_t>(std::max_element(row, row + p.dim(2)) - row);
            CHECK(j["lens"][layer][q][0] == visible(tokenizer->decode(std::span(&best, 1))));
            CHECK(j["lens"][layer][q][1].get<float>() == Approx(row[best]).margin(1e-6));
        }
    }
    CHECK_ALL(j["tokens"].size() == tokens.size(), j["tokens"][0] == "<", j["tokens"][15] == "⇥");
    CHECK(j["tokens"][16] == "↵");
    for (std::size_t layer = 0; layer < 2; ++layer) {
        const auto& value = weights[layer].value();
        for (std::size_t head = 0; head < 2; ++head)
            for (std::size_t q = 0; q < tokens.size(); ++q) {
                const auto row = j["weights"][layer][head][q].get<std::vector<float>>();
                REQUIRE(row.size() == tokens.size());
                for (std::size_t k = 0; k < row.size(); ++k) CHECK(row[k] == Approx(value(0, head, q, k)).margin(1e-6));
            }
    }
}

TEST_CASE("attention: the page needs nothing else and holds every weight as a colour", "[cli]") {
    const std::string page = written(kSharp, "heads.html");
    check_lacks(page, "http://", "https://", "<link", "src=", "@import", "url(", "fetch(");
    CHECK_ALL(page.starts_with("<!DOCTYPE html>"), occurrences(page, "<script") == 2);
    CHECK_ALL(occurrences(page, "</script>") == 2, occurrences(page, "<style>") == 1);

    const json data = page_data(page), exact = json::parse(program(attention(kSharp, "--json")).out);
    CHECK_ALL(data["tokens"] == exact["tokens"], data["lens"] == exact["lens"], data["tokens"][17] == "{");
    REQUIRE(data["weights"].size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        std::string positions;  // on the colour scale, row by row
        for (std::size_t q = 0; q < data["tokens"].size(); ++q)
            for (std::size_t k = 0; k <= q; ++k) {
                const float weight = exact["weights"][i / 2][i % 2][q][k];
                positions += static_cast<char>(std::lround(255 * std::pow(weight, data["exponent"].get<double>())));
            }
        CHECK(data["weights"][i] == base64(positions));
    }
    // with --head a page and JSON hold that head alone
    const json one = json_of(attention(kSharp, "--head 1.0"))["weights"],
               page_of_one = page_data(written(kSharp, "a.htm", "--head 1.0"));
    CHECK(one == json({{nullptr, nullptr}, {exact["weights"][1][0], nullptr}}));
    check_holds(page_of_one, "first", json({{"layer", 1}, {"head", 0}}), "weights",
                json({nullptr, nullptr, data["weights"][2], nullptr}));
}

TEST_CASE("attention: the SVG is well-formed and shows tokens as they are", "[cli]") {
    const std::string svg = written(kSharp, "heads.svg"), one = written(kSharp, "one.SVG", "--head 1.1");
    for (const std::string& text : {svg, one}) {
        CHECK_ALL(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), xml_fault(text) == "");
        check_has(text, ">&lt;<", ">&amp;<", ">&quot;<", ">&#39;<", ">↵<", ">⇥<");
        const std::string head = text.substr(0, text.find('>'));  // as large as the window at most
        check_has(head, " viewBox=\"0 0 ", " width=\"100%\"", "max-height: 100vh");
        check_lacks(head, " height=");
    }
    CHECK_ALL(occurrences(svg, "<g ") == 4, occurrences(one, "<g ") == 1);
    check_has(svg, "layer 0, head 1"), check_has(one, "layer 1, head 1");
    CHECK(program(attention(kSharp, "--format svg")).out == svg);
}

TEST_CASE("attention: a head in the terminal fits its width, plain in a pipe, the first without --out", "[cli]") {
    const ScratchFolder folder;
    const std::string prompt = "it's so\n</script><b>";
    const Arguments command = words("attention --model", sharp_run(), "--head 0.1 -f", folder.write("p.txt", prompt));
    const Result wide = execute(command);
    check_has(wide.out, "layer 0, head 1", "\ni ██\n", "\n↵ ", "\n␣ ");
    CHECK_ALL(wide.out.find('\x1b') == std::string::npos, occurrences(wide.out, "\n") == 2 + 2 + prompt.size());

    const Result narrow = program_with({{"COLUMNS", "16"}}, command);
    const std::size_t begin = narrow.out.find("\n\n") + 2;  // behind the title and the legend
    CHECK(narrow.out.find("\n\n", begin) != std::string::npos);
    for (const std::string& line : lines_of(narrow.out.substr(begin)))
        CHECK(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }) <= 16);
    CHECK(program(command + "--head 1.1").out != wide.out);
    execute("attention --model", sharp_run(), "-p it --format text");  // every head
    const std::string brief = "it's so";
    const Result first = execute(attention(brief));
    check_has(first.out, "layer 0, head 0"), check_has(first.err, "one of 4 heads", "--head", "--out");
    const json exact = json::parse(program(attention(brief, "--json")).out)["weights"][0][0];
    for (std::size_t query = 0; query < brief.size(); ++query) {
        std::string row = "\n" + (brief[query] == ' ' ? "␣" : brief.substr(query, 1)) + " ";
        for (std::size_t key = 0; key <= query; ++key)
            for (int i = 0; i < 2; ++i)  // two columns each; the square root of a weight, in fifths
                row += std::vector{"·", "░", "▒", "▓", "█"}[std::min<std::size_t>(
                    4, static_cast<std::size_t>(5 * std::sqrt(exact[query][key].get<double>())))];
        check_has(first.out, row + "\n");
    }
    CHECK(program(attention(brief, "--head 0.0")).out == first.out);
    CHECK(occurrences(program(attention(brief, "--format text")).out, "; rows attend to columns") == 4);
    CHECK(written(brief, "x.txt", "--head 0.0") == first.out);
}

TEST_CASE("attention: labels of several characters, and wide ones, keep the columns in their places", "[cli]") {
    const TrainFolder folder;
    folder.write("text.txt", repeated("extraordinarily wide 日本語 labels 日本語の長い\n", 3000));
    execute(
        folder.train("--tokenizer bpe --vocab-size 300 --n-layer 1 --n-head 1 --n-embd 16 --block-size 16 "
                     "--max-iters 2 --threads 1"));
    const std::string part = "extraordinarily 日本語の長い wide\n";
    const Result r =
        succeeded(program_with({{"COLUMNS", "24"}}, words("attention --model", folder.out, "-p", part + part + part)));
    INFO(r.out);
    check_has(r.out, "…");
    std::size_t panels = 0, rows = 0;
    for (const std::string& line : lines_of(r.out.substr(r.out.find("\n\n") + 2))) {
        std::size_t width = 0, label = 0;
        for (std::size_t at = 0; at < line.size();) {
            const char32_t c = next_code_point(line, at);
            if (label == 0 && std::u32string_view(U"·░▒▓█").find(c) != std::u32string_view::npos) label = width;
            width += c >= 0x3000 && c < 0xFF00 ? 2 : 1;
        }
        CHECK(width <= 24);
        panels += line.empty();
        if (label == 0) continue;
        ++rows;
        CHECK(label == 9);  // all rows begin behind the longest label
        CHECK((width - label) % 2 == 0);
    }
    CHECK_ALL(panels > 0, rows > 12);
}

TEST_CASE("attention: a model or text that cannot be shown is refused in one line", "[cli]") {
    const ScratchFolder folder;
    const std::string out = folder.path("x.html");
    const Arguments page = words("--out", out);
    const auto fails = [](const std::string& prompt, const Arguments& rest, int code, const std::string& text) {
        check_fails(program(attention(prompt, rest)), code, text);
    };
    fails(std::string(25, 'i'), page, 3, "25 tokens: the model's context holds 24"), fails("", page, 3, "empty");
    fails("iZi", page + "--strict-vocabulary", 3, "'Z'");
    fails("it", words("--out", folder.path("none/x.html")), 1, "none/x.html");
    fails("it", words("--head 2.0"), 2, "layers 0 to 1"), fails("it", words("--head 0.2"), 2, "heads 0 to 1");
    for (const char* head : {"1", "a.b", "0.", ".1", "-1.0", "0.0.0"})
        fails("it", words("--head", head), 2, "LAYER.HEAD");
    fails("it", words("--out", folder.path("x.gif")), 2, "x.gif");
    for (const char* format : {"bmp", "table"}) fails("it", words("--format", format), 2, format);
    fails("it", words("-f x --out", out), 2, "");
    check_fails(call("attention --model", sharp_run(), "--out", out), 2, "--prompt");
    check_fails(call("attention --prompt it --out", out), 2, "--model");
    CHECK_FALSE(fs::exists(out));
}
