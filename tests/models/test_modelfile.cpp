// Ollama's Modelfile: its template is the model's own, in Go.
#include "models/files/gguf/modelfile.h"

#include "tests/models/chat_folder.h"

static std::string modelfile_of(const std::string& jinja) {
    const ChatFolder folder(jinja, 32);
    return modelfile("./m.gguf", "", *open_tokenizer(folder.scratch.path()));
}

static std::string with_template(const std::string& go) {
    return "FROM ./m.gguf\nTEMPLATE \"\"\"" + go + "\"\"\"\nPARAMETER stop \"<|im_end|>\"\n";
}

const std::string kMessages = "{{ range .Messages }}{{ if eq .Role \"user\" }}<|im_start|>user\n",
                  kReply =
                      "{{ .Content }}<|im_end|>\n<|im_start|>assistant\n{{ else if eq .Role \"assistant\" }}"
                      "{{ .Content }}<|im_end|>\n{{ end }}{{ end }}",
                  kSystem = "{{ if .System }}<|im_start|>system\n{{ .System }}<|im_end|>\n";

TEST_CASE("modelfile: where the system's message goes, and none where Go's template cannot do it", "[models]") {
    CHECK(modelfile_of(kChatMl) == with_template(kSystem + "{{ end }}" + kMessages + kReply));
    const std::string by_default =
        "{% if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}";
    CHECK(modelfile_of(by_default + kChatMl) ==
          with_template(kSystem + "{{ else }}<|im_start|>system\nBe kind.<|im_end|>\n{{ end }}" + kMessages + kReply));
    const std::string gemma =  // as Gemma 3's, with other special_tokens
        "{% if messages[0]['role'] == 'system' %}{% set first = messages[0]['content'] + '\n\n' %}{% set rest = "
        "messages[1:] %}{% else %}{% set first = '' %}{% set rest = messages %}{% endif %}{% for m in rest %}{{ "
        "'<|im_start|>' + m['role'] + '\n' + (first if loop.first else '') + m['content'] | trim + '<|im_end|>\n' }}{% "
        "endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
    CHECK(modelfile_of(gemma) ==
          with_template("{{ $system := .System }}" + kMessages +
                        "{{ if $system }}{{ $system }}\n\n{{ $system = \"\" }}{{ end }}" + kReply));
    const std::string no_system =
        "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no') }}{% endif %}{% endfor %}";
    CHECK(modelfile_of(no_system + kChatMl) == with_template(kMessages + kReply));
    const auto plain = open_tokenizer(tests_path("reference/greedy_gpt2"));
    CHECK(modelfile("./m.gguf", "", *plain) == "FROM ./m.gguf\n");
    CHECK(modelfile("/base", "./a.gguf", *plain) == "FROM /base\nADAPTER ./a.gguf\n");
    const auto refusal = [](const std::string& jinja) { return error_of([&] { modelfile_of(jinja); }); };
    const std::string counted =
        "{% for m in messages %}{{ loop.index ~ '<|im_start|>' + m['content'] + '<|im_end|>' }}{% endfor %}";
    CHECK_THAT(refusal(counted), contains("--modelfile: the chat template cannot be written for Ollama"));
    const std::string braces = "{{ '{{' }}" + std::string(kChatMl);
    CHECK_THAT(refusal(braces), contains("it has {{"));
}

TEST_CASE("modelfile: a name or a token cannot add a line of its own", "[models]") {
    const auto plain = open_tokenizer(tests_path("reference/greedy_gpt2"));
    for (const std::string name : {"./a\nSYSTEM b", "./a\rb", "./a\"b", "./a\x1b", "/a\x7f"}) {
        INFO(name);
        CHECK_THAT(error_of([&] { modelfile(name, "", *plain); }), contains("the model's path has a quote"));
        CHECK_THAT(error_of([&] { modelfile("/base", name, *plain); }), contains("the adapter's name has a quote"));
    }
    CHECK(modelfile("./a b'c.gguf", "", *plain) == "FROM ./a b'c.gguf\n");
    const auto with_end = [](const std::string& end) {  // as it stands in JSON
        const ChatFolder folder(kChatMl, 32);
        for (const auto& entry : fs::directory_iterator(folder.scratch.path())) {
            std::string text = read_file(entry.path());
            for (std::size_t at = 0; (at = text.find("<|im_end|>", at)) != std::string::npos; at += end.size())
                text.replace(at, 10, end);
            if (entry.path().extension() == ".json") folder.scratch.write(entry.path().filename().string(), text);
        }
        return modelfile("./m.gguf", "", *open_tokenizer(folder.scratch.path()));
    };
    CHECK_THAT(with_end("<|end|>"), contains("\nPARAMETER stop \"<|end|>\"\n"));
    for (const std::string end : {"<|x\\\"\\nADAPTER /a|>", "<|x\\nSYSTEM a|>", "<|\\\"|>"})
        CHECK_THAT(error_of([&] { with_end(end); }), contains("--modelfile: "));
    // {{ is Go's, also where a part of the template ends in a brace
    std::string brace = kChatMl;
    brace.insert(brace.find("message['content']"), "'{' + ");
    CHECK_THAT(error_of([&] { modelfile_of(brace); }), contains("it has {{"));
}
