// Suggestions for misspelt words.
#include "engine/base/suggest.h"

#include "tests/catch.h"

using namespace inkling;

TEST_CASE("suggest: the word with the fewest changes is meant, else one that begins or ends alike", "[suggest]") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("train", "train") == 0);
    CHECK(edit_distance("trian", "train") == 1);
    CHECK(edit_distance("rain", "train") == 1);
    CHECK(edit_distance("trains", "train") == 1);
    CHECK(edit_distance("trbin", "train") == 1);
    CHECK(edit_distance("ca", "abc") == 3);  // a swap is of neighbours, and nothing comes between them later
    CHECK(edit_distance("kitten", "sitting") == edit_distance("sitting", "kitten"));
    CHECK(edit_distance("kitten", "sitting") == 3);
    const std::vector<std::string> flags = {"--n-layer", "--n-head", "--max-iters", "--lr-decay-iters",
                                            "--learning-rate"};
    CHECK(nearest("--n-layers", flags) == "--n-layer");
    CHECK(nearest("-n-layer", flags) == "--n-layer");  // the nearest word is meant, else one that begins or ends alike
    CHECK(nearest("--N-Layer", flags) == "--n-layer");
    CHECK(nearest("--lerning-rate", flags) == "--learning-rate");
    CHECK(nearest("--iters", flags) == "--max-iters");
    CHECK(nearest("--learning", flags) == "--learning-rate");
    CHECK(nearest("--wrong", flags).empty());
    CHECK(nearest("-x", flags).empty());
    CHECK(nearest("", flags).empty());
    CHECK(nearest("train", {}).empty());
    CHECK(did_you_mean("trian", {"eval", "train"}) == ", did you mean train");
    CHECK(did_you_mean("eval", {"train"}).empty());
}
