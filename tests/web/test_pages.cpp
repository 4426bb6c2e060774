// Pages as one file and as served: no shown text can become markup, and nothing else is loaded or run.
#include "web/report/pages.h"

#include "formats/sha256.h"

const ordered_json kEvil = {{"text", "</script><script>alert(1)</script><!-- <b>&amp; {{data}} \xe2\x80\xa8 \xff"}};

static std::vector<std::string> between(const std::string& page, const std::string& begin, const std::string& end) {
    std::vector<std::string> found;
    for (std::size_t at = 0; (at = page.find(begin, at)) != std::string::npos;) {
        const std::size_t from = at + begin.size();
        at = page.find(end, from);
        found.push_back(page.substr(from, at - from));
    }
    return found;
}

TEST_CASE("pages: text cannot end its script, and a file's policy allows its own alone", "[report]") {
    for (const web::Page* page : {&web::kRunPage, &web::kAttentionPage, &web::kPlaygroundPage}) {
        const std::string file = web::page_file(*page, "a </title><b>\"x\" & y", kEvil);
        CHECK(between(file, "<title>", "</title>") ==
              std::vector<std::string>{"a &lt;/title&gt;&lt;b&gt;&quot;x&quot; &amp; y"});
        CHECK_ALL(file.find("alert(1)</") == std::string::npos, between(file, "<script", "</script>").size() == 2);
        const auto data = between(file, "<script type=\"application/json\" id=\"data\">", "</script>");
        REQUIRE(data.size() == 1);
        for (const char c : data[0]) CHECK((c >= ' ' && c <= '~' && c != '<' && c != '>'));
        CHECK(ordered_json::parse(data[0])["text"].get<std::string>() ==
              "</script><script>alert(1)</script><!-- <b>&amp; {{data}} \xe2\x80\xa8 \xef\xbf\xbd");
    }
    const std::string file = web::page_file(web::kRunPage, "x", ordered_json::object());
    const auto scripts = between(file, "<script>", "</script>"), styles = between(file, "<style>", "</style>");
    REQUIRE(scripts.size() == 1);  // a file's policy allows its own script and style alone
    REQUIRE(styles.size() == 1);
    const auto hash = [](const std::string& text) { return formats::base64(formats::sha256(text)); };
    CHECK(between(file, "Content-Security-Policy\" content=\"", "\"") ==
          std::vector<std::string>{"default-src 'none'; style-src 'sha256-" + hash(styles[0]) +
                                   "'; script-src 'sha256-" + hash(scripts[0]) + "'"});
    CHECK(file.find("{{") == file.find("{{ "));  // every place of the template is filled
    for (const char* outside : {"http://", "https://", "<link", " src=", "@import", "url(http"}) {
        INFO(outside);
        std::string rest = file;
        for (std::size_t at; (at = rest.find("http://www.w3.org/2000/svg")) != std::string::npos;) rest.erase(at, 26);
        CHECK(rest.find(outside) == std::string::npos);
    }
}

TEST_CASE("pages: a served page names its parts, which are there, and no script makes HTML of text", "[report]") {
    for (const web::Page* page : {&web::kRunPage, &web::kPlaygroundPage}) {
        const std::string served = web::page_served(*page, "x", ordered_json::object());
        CHECK_ALL(between(served, "<script>", "</script>").empty(), between(served, "<style>", "</style>").empty());
        std::size_t parts = 0;
        for (const char* attribute : {"src=\"/pages/", "href=\"/pages/"})
            for (const std::string& name : between(served, attribute, "\"")) {
                INFO(name);
                const auto asset = web::asset(name);
                REQUIRE(asset);
                CHECK_FALSE(asset->text.empty());
                CHECK_THAT(asset->type, contains(name.ends_with(".css")  ? "css"
                                                 : name.ends_with(".js") ? "javascript"
                                                                         : "svg"));
                ++parts;
            }
        CHECK(parts == 1 + page->styles.size() + page->scripts.size());
    }
    for (const char* none : {"", "x.js", "run.html", "../pages.h"}) CHECK_FALSE(web::asset(none));
    const std::regex makes_html("innerHTML|outerHTML|insertAdjacentHTML|document\\.write|eval\\(|new Function|srcdoc");
    for (const web::PagePart& part : web::page_parts()) {
        INFO(part.name);
        const std::string text(part.text);
        CHECK_ALL(!text.empty(), !std::regex_search(text, makes_html));
        CHECK(text.find(" style=\"") == std::string::npos);  // the policy would forbid them
        CHECK_FALSE(std::regex_search(text, std::regex(" on[a-z]+=\"")));
    }
}
