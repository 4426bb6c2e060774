// The output of the programs in examples/.
#include "tests/cli/program.h"

static std::string example(const std::string& name) { return kExamples + ("/" + name); }

// The numbers that follow `label`.
static std::vector<double> numbers_after(const std::string& label, const std::string& text) {
    std::vector<double> found;
    for (std::size_t at = 0; (at = text.find(label, at)) != std::string::npos;) {
        at += label.size();
        found.push_back(std::stod(text.substr(at)));
    }
    return found;
}

static std::size_t lines_of_example(const std::string& name) {
    const std::string code = formats::read_file(tests_path("../examples/" + name + ".cpp"));
    return static_cast<std::size_t>(std::count(code.begin(), code.end(), '\n'));
}

TEST_CASE("examples: micrograd's, an op of one's own, spirals, and a model folder", "[docs]") {
    CHECK(printed_by(example("micrograd")) == "g        24.7041\ndg / da  138.8338\ndg / db  645.5773\n");
    const ScratchFolder folder;
    printed_by(example("micrograd"), {folder.path("graph.dot")});
    const std::string dot = formats::read_file(folder.path("graph.dot"));
    CHECK(dot.starts_with("digraph {"));
    CHECK_THAT(dot, contains("label=\"a\\n()\", shape=ellipse", "label=\"g = add\\n()\""));
    const std::string text = printed_by(example("custom_op"));
    CHECK_THAT(text, contains("Tensor (2, 3) snake\n"));
    const auto error = numbers_after("finite differences: ", text);
    REQUIRE(error.size() == 1);  // an op of one's own has its value, its gradient and its error
    CHECK(error[0] < 1e-8);
    CHECK_THAT(text, contains("snake: expected a frequency above 0, got -1"));
    const std::string spirals = printed_by(example("spirals"));
    CHECK_THAT(spirals, contains("Sequential(  # 387 parameters\n  (0): Linear(weight (64, 2), bias (64,))  # 192"));
    const auto losses = numbers_after("loss ", spirals);
    REQUIRE(losses.size() == 6);
    CHECK_ALL(losses.front() > 1, losses.back() < 0.2);
    CHECK_ALL(std::stod(spirals.substr(spirals.rfind('\n', spirals.size() - 2) + 1)) >= 290,
              lines_of_example("spirals") <= 40);
    const std::string model = tests_path("reference/greedy_gpt2");
    const Result program = succeeded(testing::program(
        {"generate", "--model", model, "--prompt", "One day ", "-n", "60", "--temperature", "0.8", "--seed", "7"}));
    CHECK_ALL(program.out.size() > 100, printed_by(example("open_model"), {model, "One day "}) == program.out);
}

TEST_CASE("examples: the losses of a GPT's first steps are PyTorch's", "[docs][unsanitized]") {
    const nlohmann::json pytorch = reference("gpt.json");
    const std::string text = printed_by(example("gpt"), {tests_path("../LICENSE"), "8"});
    for (const auto& [label, key] : {std::pair{"loss ", "losses"}, {"validation ", "validation"}}) {
        const auto ours = numbers_after(label, text);
        REQUIRE(ours.size() == 8);
        for (std::size_t i = 0; i < ours.size(); ++i)
            CHECK(ours[i] == Approx(pytorch[key][i].get<double>()).margin(1e-4).epsilon(0));
    }
    CHECK(text.size() > 600);  // of which it has written 300
    CHECK(lines_of_example("gpt") <= 250);
}
