#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/variant.h>

#include <filesystem>
#include <random>

#include "cli/arguments/model_argument.h"
#include "data/tokenizers/bpe/bpe_train.h"
#include "data/tokenizers/char_tokenizer.h"
#include "data/tokenizers/unknown_characters.h"
#include "formats/files/file.h"
#include "generate/sequence.h"
#include "models/files/folder.h"
#include "python/bind/bind.h"

namespace inkling::python {
namespace {

using TokenizerPtr = std::shared_ptr<data::Tokenizer>;

// Unknown characters are an error if strict, and otherwise replaced.
TokenizerPtr with_unknown(TokenizerPtr tokenizer, bool strict) {
    if (!strict) tokenizer->unknown = std::make_shared<data::UnknownCharacters>();
    return tokenizer;
}

// Warns in Python about characters that the vocabulary lacks and that were replaced.
void warn_of_unknown(data::Tokenizer& tokenizer) {
    if (!tokenizer.unknown) return;
    const std::string note = tokenizer.unknown->note();
    if (note.empty()) return;
    tokenizer.unknown = std::make_shared<data::UnknownCharacters>();
    if (PyErr_WarnEx(PyExc_UserWarning, note.c_str(), 1) < 0) throw nb::python_error();
}

struct PyModel : AnyLayer<models::Transformer> {
    TokenizerPtr tokenizer;
    std::shared_ptr<const models::InferenceModel> inference;  // from the weights at `version`
    std::uint64_t version = 0;

    models::Transformer<float>& model() const { return static_cast<models::Transformer<float>&>(module<float>()); }

    std::shared_ptr<const models::InferenceModel> inference_of(WeightType type) {
        std::uint64_t now = 0;
        for (const auto& [name, p] : model().parameters()) now += p.value().version();
        if (!inference || inference->type() != type || now != version)
            inference = std::make_shared<const models::InferenceModel>(model(), type), version = now;
        return inference;
    }
};

// Iterates over the pieces of a text while it is generated.
struct Writing {
    TokenizerPtr tokenizer;
    generate::Sequence sequence;
    std::uint64_t seed;

    std::string next() {
        std::string piece;
        {
            const nb::gil_scoped_release others_run;
            piece = sequence.take();
            while (piece.empty() && !sequence.finished()) piece = sequence.next();
        }
        if (piece.empty()) throw nb::stop_iteration();
        return piece;
    }
};

IdArray batch_of(const IdArray& ids) { return ids.rank() == 1 ? IdArray(ids.reshaped({1, ids.dim(0)})) : ids; }

void bind_tokenizer(nb::module_& m) {
    using data::Tokenizer;
    nb::class_<Tokenizer> c(m, "Tokenizer", "Text to ids in [0, vocab_size) and back.");
    c.def_static(
        "from_pretrained",
        [](const std::filesystem::path& path, bool strict) {
            return with_unknown(models::open_tokenizer(path), strict);
        },
        "path"_a, "strict_vocabulary"_a = false,
        "Opens a tokenizer.json, a folder with one, or a run. With strict_vocabulary, characters outside the "
        "vocabulary are an error; otherwise they are replaced with a warning.");
    c.def_static(
        "train",
        [](const std::vector<std::string>& texts, const std::string& kind, std::size_t vocab_size,
           data::SplitStyle pre_tokenizer, bool strict) {
            const std::vector<std::string_view> views(texts.begin(), texts.end());
            const auto wanted = named<data::TokenizerKind>("kind", kind);
            check(wanted != data::TokenizerKind::ids, "train: kind must be bpe or char: ids need no tokenizer");
            TokenizerPtr trained;
            if (wanted == data::TokenizerKind::characters)
                trained = std::make_shared<data::CharTokenizer>(data::CharTokenizer::from_texts(views));
            else
                trained = std::make_shared<data::BpeTokenizer>(data::train_bpe(views, vocab_size, pre_tokenizer));
            return with_unknown(trained, strict);
        },
        "texts"_a, "kind"_a = "bpe", "vocab_size"_a = 4096, "pre_tokenizer"_a = data::SplitStyle::gpt2,
        "strict_vocabulary"_a = false, nb::call_guard<nb::gil_scoped_release>(),
        "Trains a tokenizer on texts; kind: 'bpe' (byte pairs) or 'char'.");
    c.def(
        "encode",
        [](Tokenizer& t, const std::string& text) {
            std::vector<std::int32_t> ids;
            {
                const nb::gil_scoped_release others_run;
                ids = t.encode(text);
            }
            warn_of_unknown(t);
            return ids;
        },
        "text"_a, "The ids of a text.");
    c.def(
        "decode",
        [](const Tokenizer& t, const IdArray& ids) {
            const IdArray flat = ids.contiguous();
            const std::string bytes = t.decode(std::span(flat.data(), flat.size()));
            return nb::steal<nb::str>(
                PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
        },
        "ids"_a, "The text of ids; an incomplete character becomes U+FFFD.");
    c.def("to_json", &Tokenizer::to_json, "The text of tokenizer.json.");
    c.def(
        "save",
        [](const Tokenizer& t, const std::filesystem::path& path) { formats::write_file_atomic(path, t.to_json()); },
        "path"_a, "Writes tokenizer.json.");
    c.def_prop_ro("vocab_size", &Tokenizer::vocab_size);
    c.def_prop_ro("kind", &Tokenizer::kind);
    c.def_prop_ro("end_of_text", &Tokenizer::end_of_text, "The id that ends a text, or None.");
    c.def("__len__", &Tokenizer::vocab_size);
}

}  // namespace

void bind_model(nb::module_& m) {
    bind_tokenizer(m);
    nb::class_<Writing>(m, "Writing", "A text in progress: an iterator over its pieces.")
        .def("__iter__", [](nb::object self) { return self; })
        .def("__next__", &Writing::next)
        .def_prop_ro(
            "tokens",
            [](const Writing& w) {
                return std::vector<std::int32_t>(w.sequence.generated().begin(), w.sequence.generated().end());
            },
            "The ids generated so far.")
        .def_ro("seed", &Writing::seed)
        .def_prop_ro(
            "finish_reason", [](const Writing& w) { return std::string(generate::name(w.sequence.finish_reason())); },
            "'length', 'stop', 'end_of_text'; 'none' before the end.");

    nb::class_<AnyLayer<models::Transformer>, AnyModule>(m, "Transformer");
    nb::class_<PyModel, AnyLayer<models::Transformer>> c(m, "Model", "A language model with its tokenizer.");
    c.def_static(
        "from_pretrained",
        [](const std::filesystem::path& path, bool strict) {
            models::LoadedModel loaded = cli::load_current(path.string());
            PyModel model;
            model.own = std::shared_ptr<nn::Module<float>>(std::move(loaded.model));
            model.tokenizer = with_unknown(std::move(loaded.tokenizer), strict);
            return model;
        },
        "path"_a, "strict_vocabulary"_a = false, nb::call_guard<nb::gil_scoped_release>(),
        "Opens a Hugging Face model folder, a GGUF file, a PEFT adapter, or a run of `inkling train`.");
    c.def(
        "save_pretrained",
        [](PyModel& self, const std::filesystem::path& folder, const std::string& dtype) {
            const auto type = formats::dtype_named(dtype);
            check(type.has_value(), "save_pretrained: expected dtype F32, F16 or BF16, got '{}'", dtype);
            std::filesystem::create_directories(folder);
            models::save_model(folder, self.model(), *self.tokenizer, *type);
        },
        "folder"_a, "dtype"_a = "F32", nb::call_guard<nb::gil_scoped_release>(),
        "Writes a model folder that transformers opens, with weights as F32, F16 or BF16.");
    c.def_ro("tokenizer", &PyModel::tokenizer);
    c.def_prop_ro(
        "config", [](const PyModel& self) { return config_of(self.model().config); },
        "The model's sizes and variants: all that models/architecture.h has.");
    c.def(
        "logits",
        [](const PyModel& self, const IdArray& ids) { return AnyTensor(self.model().forward(batch_of(ids))); }, "ids"_a,
        nb::call_guard<nb::gil_scoped_release>(),
        "ids (B, T), or (T) for one text -> (B, T, V): logits of the token after each.");
    c.def(
        "run",
        [](const PyModel& self, const IdArray& ids, const std::vector<std::string>& capture,
           const std::map<std::string, nb::object>& patch) {
            models::Observers<float> observers;
            for (const auto& [name, change] : patch)
                observers[name] = [&change = change](const Tensor<float>& x) {
                    const nb::gil_scoped_acquire interpreter;
                    const nb::object y = nb::module_::import_("inkling._models").attr("_change")(AnyTensor(x), change);
                    return nb::cast<const AnyTensor&>(y).as<float>("run");
                };
            std::map<std::string, AnyTensor> states;
            for (const std::string& name : capture)
                observers[name] = [&states, name, change = observers[name]](const Tensor<float>& x) {
                    Tensor<float> y = change ? change(x) : x;
                    states.insert_or_assign(name, y);
                    return y;
                };
            const nb::gil_scoped_release others_run;
            const Tensor<float> hidden = self.model().hidden(batch_of(ids), {.observers = &observers});
            return std::pair(AnyTensor(self.model().logits(hidden, nullptr, &observers)), std::move(states));
        },
        "ids"_a, "capture"_a = std::vector<std::string>(), "patch"_a = std::map<std::string, nb::object>(),
        "logits(ids) and a dict of what `capture` names (model.names has the names), after the changes of `patch`, "
        "{name: change}: an array in its place, a function of it, or (positions, array or function) for x[:, "
        "positions].");
    c.def_prop_ro(
        "names", [](const PyModel& self) { return self.model().observable(); },
        "What run() captures and patches: layers.N.input, heads (B, T, H, d), attention_output, mlp_output and output, "
        "final, and outputs of modules by their names in files.");
    c.def(
        "loss",
        [](const PyModel& self, const IdArray& ids, const IdArray& targets, Generator* random) {
            const bool given = targets.defined();
            IdArray in = batch_of(ids);
            check(in.rank() == 2 && (given || in.dim(1) >= 2),
                  "loss: ids (B, T) are required, of at least 2 tokens "
                  "without targets, got shape {}",
                  in.shape());
            const IdArray out = given ? batch_of(targets) : in.sliced(1, 1, in.dim(1)).clone();
            if (!given) in = in.sliced(1, 0, in.dim(1) - 1).clone();
            return AnyTensor(self.model().loss(in, out, random));
        },
        "ids"_a, "targets"_a = nb::none(), "random"_a.none() = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
        "Mean nats per token of targets (B, T), which are by default the next token of ids.");
    c.def(
        "attention",
        [](const PyModel& self, const IdArray& ids) {
            std::vector<Tensor<float>> weights;
            static_cast<void>(self.model().hidden(batch_of(ids), {.attention_weights = &weights}));
            return returned(std::move(weights));
        },
        "ids"_a, nb::call_guard<nb::gil_scoped_release>(), "The attention weights (B, H, T, T) of each layer.");
    c.def(
        "generate",
        [](PyModel& self, const std::variant<std::string, std::vector<std::int32_t>>& prompt, std::size_t max_tokens,
           double temperature, std::size_t top_k, double top_p, double min_p, double repeat_penalty,
           double presence_penalty, double frequency_penalty, std::vector<std::string> stop,
           std::optional<std::uint64_t> seed, std::uint64_t sample, std::size_t context_shift, bool special_tokens,
           const std::string& precision) {
            generate::GenerateOptions o;
            o.max_tokens = max_tokens, o.temperature = temperature, o.top_k = top_k, o.top_p = top_p, o.min_p = min_p;
            o.repeat_penalty = repeat_penalty, o.presence_penalty = presence_penalty;
            o.frequency_penalty = frequency_penalty, o.stop = std::move(stop), o.sample = sample;
            o.context_shift = context_shift, o.special_tokens = special_tokens;
            o.seed = seed ? *seed : std::random_device()();
            o.validate();
            const WeightType type = named<WeightType>("precision", precision);
            std::optional<generate::Sequence> sequence;
            {
                const nb::gil_scoped_release others_run;
                sequence.emplace(self.inference_of(type), self.tokenizer.get(), o);
                std::visit([&](const auto& text) { sequence->add(text); }, prompt);
            }
            warn_of_unknown(*self.tokenizer);
            return Writing{self.tokenizer, std::move(*sequence), o.seed};
        },
        "prompt"_a = "", "max_tokens"_a = 200, "temperature"_a = 0.8, "top_k"_a = 0, "top_p"_a = 1.0, "min_p"_a = 0.0,
        "repeat_penalty"_a = 1.0, "presence_penalty"_a = 0.0, "frequency_penalty"_a = 0.0,
        "stop"_a = std::vector<std::string>(), "seed"_a = nb::none(), "sample"_a = 0, "context_shift"_a = 0,
        "special_tokens"_a = false, "precision"_a = "fp32",
        "Continues a prompt, a text or ids, piece by piece: print(*model.generate('The '), sep=''). It takes the flags "
        "of `inkling generate`; without a seed, each call gives another text. precision: fp32, bf16 or q8_0.");
}

}  // namespace inkling::python
