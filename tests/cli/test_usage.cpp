// The command line: help, version, and every kind of wrong usage, which exits with 2 and one line on stderr.
#include "tests/cli/program.h"

TEST_CASE("command line: version", "[cli]") { check_has(succeeded(call("--version")).out, "inkling 0."); }

TEST_CASE("command line: no command, unknown commands and unknown flags", "[cli]") {
    for (const Arguments& command : {words("trian"), words("trian --help"), words("help trian")})
        check_fails(call(command), 2, "'trian' is not a command, did you mean train: see inkling --help");
    check_fails(call("help tokenize decod"), 2, "did you mean decode: see inkling tokenize --help");
    check_fails(call("nonsense"), 2, "'nonsense' is not a command: one of train, generate, ");
    check_fails(call("--wrong"), 2);
    for (const char* command : {"train", "generate", "eval", "gradcheck", "info", "bench"})
        check_fails(call(words(command, "--no-such-flag")), 2);
    check_fails(call("generate"), 2, "--model"), check_fails(call("eval --model x"), 2, "--data");
    check_fails(call("generate text.txt"), 2, "unexpected argument 'text.txt': see inkling generate --help");
    check_fails(call("tokenize learn"), 2, "'learn' is not a command: one of train, encode, decode");
}

TEST_CASE("command line: flags and values that are misspelt are named, and what was likely meant", "[cli]") {
    for (const char* row : {"--n-layers > n-layer", "--n_layers=3 > n-layer", "--dropot > dropout", "--dat > data",
                            "--iters > max-iters", "--lerning-rate > learning-rate", "--learning > learning-rate"})
        check_fails(call("train", sides(row).first, "3"), 2,
                    ", did you mean --" + sides(row).second[0] + ": see inkling train --help");
    check_fails(call("train --wrong 3"), 2, "unknown flag --wrong: see");
    check_fails(call("generate --modle x"), 2, "did you mean --model");  // and not that --model is missing
    check_fails(call("tokenize train --vocabsize 3"), 2,
                "did you mean --vocab-size: see inkling tokenize train --help");
    check_fails(call("train --resume --out x"), 2, "--resume: a value is required, but the flag --out follows");
    execute("generate --model", small_run(), "-p the --stop --seed -n 1");
    for (const char* row :
         {"train --optimizer mun > muon", "train --schedule cosin > cosine", "train --recipe nanogpt-cup > nanogpt-cpu",
          "train --arch nanocaht > nanochat", "generate --model x --precision bf15 > bf16",
          "bench --preset micor > micro", "export --model x --out y --format ggfu > gguf",
          "export --model x --out y --type q8-0 > q8_0", "attention --model x --prompt y --format htlm > html"})
        check_fails(call(sides(row).first), 2, ", did you mean " + sides(row).second[0]);
    const ScratchFolder folder;
    check_fails(call("train --config", folder.write("c.toml", "lerning_rate = 1\n")), 3,
                "c.toml: unknown key 'lerning_rate', did you mean learning_rate");
}

TEST_CASE("command line: values that make no sense, with --out left alone", "[cli]") {
    const TrainFolder folder;
    const auto train = [&](const auto&... more) { return call(folder.train(more...)); };
    check_fails(train("--n-embd 10 --n-head 4"), 2, "--n-embd must be divisible by --n-head, got 10 and 4");
    for (const char* flag : {"--n-layer", "--n-head", "--n-embd", "--block-size", "--batch-size",
                             "--gradient-accumulation-steps", "--log-every"})
        for (const char* value : {"0", "-1", "1.5", "many", "", "1e9", "99999999999999999999"})
            check_fails(train(flag, value), 2, flag);
    // TrainOptions::validate refuses each of these
    for (const Arguments& flag :
         {words("--learning-rate -1"), words("--learning-rate fast"), words("--weight-decay inf"), words("--seed -1"),
          words("--max-iters -1"), words("--threads -1"), words("--threads 100000"), words("--arch mamba"),
          words("--schedule step"), words("--sampler best"), words("--recipe best"), words("--out ''")})
        check_fails(train(flag), 2, flag[0]);
    CHECK_FALSE(fs::exists(folder.out));
    check_fails(call("bench --preset huge"), 2, "huge"), check_fails(call("bench --seconds 0"), 2, "--seconds");
    check_fails(call("gradcheck --filter 'no such row'"), 2, "no such row");
    check_fails(call("generate --model", small_run(), "--max-tokens -1"), 2, "--max-tokens");
    check_fails(call("generate --model", small_run(), "-p a -f", folder.text), 2);
}

TEST_CASE("command line: whole numbers are decimal, flags may have underscores, and of two the last holds", "[cli]") {
    check_holds(json_of("generate --model", small_run(), "-p the -n 012 --seed 08 --top-k 00 --threads 01"), "tokens",
                12, "seed", 8);
    const TrainFolder folder;
    const Arguments train = folder.train("--dry-run");
    check_holds(json_of(train, small("--max-iters 010 --batch-size 0010")), "steps", 10, "/settings/batch_size", 10);
    check_fails(call(train + "--seed 0x8"), 2, "a whole number of at least 0, got '0x8'");
    const std::string text = folder.write("under_score.txt", small_text());
    execute("train", "--data=" + text, "--out", folder.path("out_put"),
            "--n_layer 1 --n_head=2 --n_embd 16 --block_size 8 --batch_size 4 --max_iters 3 --no_bias --eval_every 0");
    CHECK(fs::exists(folder.path("out_put/step-000003")));
    check_fails(call("train --n_layers 3"), 2);
    const auto j =
        json_of("generate --model nowhere --model", small_run(), "-p a --prompt the -n 9 -n 2 --seed 3 --seed 4");
    check_holds(j, "prompt_tokens", 3, "tokens", 2, "seed", 4);
    const Arguments plan = words("train --dry-run --n-layer 5 --max-iters 7");
    check_has(execute(plan + "--n-layer 1 --bias --no-bias --max-iters=3").out, " 1 layer,", "3 of ");
    check_fails(call(plan + "--n-layer none --n-layer 1"), 2, "--n-layer");  // each must make sense
}

TEST_CASE("command line: an existing run is not written over", "[cli]") {
    const TrainFolder folder;
    const Arguments train = folder.train(kSmall);
    execute(train);
    folder.write("out/notes.txt", "mine");
    const std::string metrics = read_file(folder.out + "/metrics.jsonl");
    check_fails(call(train), 2, "already holds a run");
    CHECK(read_file(folder.out + "/metrics.jsonl") == metrics);
    execute(folder.train("--overwrite", small("--max-iters 5")));
    CHECK_ALL(fs::exists(folder.path("out/step-000005")), !fs::exists(folder.path("out/step-000020")));
    CHECK(read_file(folder.path("out/notes.txt")) == "mine");
}
