// Cuts a text that arrives in pieces before the first stop text, however the pieces are cut:
//   StopTexts stop({"\n\n", "END"});
//   print(stop.push("some text\n"));    // "some text": the line's end may begin a stop text
//   print(stop.push("\nmore"));         // "", and stop.found()
//   print(stop.finish());               // the rest that was held back
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inkling::generate {

class StopTexts {
  public:
    explicit StopTexts(std::vector<std::string> stops);  // none of them empty; throws

    // Returns the text that is now certain. The first complete stop text counts; of several at once, the longest.
    std::string push(std::string_view piece);
    std::string finish();
    bool found() const { return found_; }

  private:
    std::vector<std::string> stops_;
    std::string held_;
    bool found_ = false;
};

}  // namespace inkling::generate
