// The part of Jinja that chat templates use, rendered like transformers (trim_blocks and lstrip_blocks are on).
//   const Template greeting("{% for n in names %}Hello {{ n | trim }}!{% endfor %}");
//   Run run({});
//   run.set_all(from_json(run, {{"names", {"Rosa ", "Otto"}}}, [](std::string_view) { return -1; }));
//   greeting.render(run).bytes                           // "Hello Rosa!Hello Otto!"
// Throws BadInput, in one line, for unsupported parts: statements at once; filters, functions and methods when they are
// reached, since a template may have parts that are never used. raise_exception() throws BadInput with its text.
#pragma once

#include <memory>

#include "formats/jinja/run.h"

namespace inkling::formats::jinja {

// The source of spans in a rendered text that {% generation %} encloses.
inline constexpr std::int32_t kGeneration = -1;

struct Program;
struct Block;

class Template {
  public:
    explicit Template(const std::string& text);
    // With the run's variables. Texts keep their spans.
    Text render(Run& run) const;

  private:
    std::shared_ptr<const Program> program_;
    const Block* all_ = nullptr;
};

}  // namespace inkling::formats::jinja
