// Reads a GGUF file for the tests, written from the format's description and apart from the writer.
#pragma once

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/array/half.h"
#include "formats/files/file.h"
#include "tests/catch.h"

namespace inkling::testing {

struct GgufTensor {
    std::vector<std::uint64_t> shape;  // rows first
    std::uint32_t type = 0;
    std::vector<float> values;
};

struct Gguf {
    nlohmann::ordered_json pairs;
    std::map<std::string, GgufTensor> tensors;

    explicit Gguf(const std::filesystem::path& path) : bytes_(formats::read_file(path)) {
        REQUIRE(bytes_.substr(0, 4) == "GGUF");
        at_ = 4;
        REQUIRE(take<std::uint32_t>() == 3);
        const auto tensor_count = take<std::uint64_t>(), pair_count = take<std::uint64_t>();
        for (std::uint64_t i = 0; i < pair_count; ++i) {
            const std::string key = text();
            REQUIRE_FALSE(pairs.contains(key));
            pairs[key] = value(take<std::uint32_t>());
        }
        std::map<std::string, std::uint64_t> offsets;
        for (std::uint64_t i = 0; i < tensor_count; ++i) {
            const std::string name = text();
            GgufTensor& t = tensors[name];
            t.shape.resize(take<std::uint32_t>());
            for (std::size_t k = t.shape.size(); k-- > 0;) t.shape[k] = take<std::uint64_t>();
            t.type = take<std::uint32_t>();
            offsets[name] = take<std::uint64_t>();
        }
        REQUIRE(tensors.size() == tensor_count);
        const std::size_t data = (at_ + 31) / 32 * 32;
        std::size_t end = data;
        for (auto& [name, t] : tensors) {
            REQUIRE(offsets[name] % 32 == 0);
            at_ = data + offsets[name];
            std::uint64_t count = 1;
            for (const std::uint64_t extent : t.shape) count *= extent;
            read_values(t, count);
            end = std::max(end, (at_ + 31) / 32 * 32);
        }
        CHECK(bytes_.size() == end);
    }

  private:
    template <class T>
    T take() {
        REQUIRE(at_ + sizeof(T) <= bytes_.size());
        T value;
        std::memcpy(&value, bytes_.data() + at_, sizeof(T));
        at_ += sizeof(T);
        return value;
    }
    std::string text() {
        const auto size = take<std::uint64_t>();
        REQUIRE(at_ + size <= bytes_.size());
        at_ += size;
        return bytes_.substr(at_ - size, size);
    }
    nlohmann::ordered_json value(std::uint32_t type) {
        switch (type) {
            case 4:
                return take<std::uint32_t>();
            case 5:
                return take<std::int32_t>();
            case 6:
                return take<float>();
            case 7:
                return take<std::uint8_t>() != 0;
            case 8:
                return text();
            case 9: {
                const auto of = take<std::uint32_t>();
                auto list = nlohmann::ordered_json::array();
                for (auto n = take<std::uint64_t>(); n > 0; --n) list.push_back(value(of));
                return list;
            }
        }
        FAIL("a value of type " << type);
        return {};
    }
    void read_values(GgufTensor& t, std::uint64_t count) {
        float scale = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            if (t.type == 0) {
                t.values.push_back(take<float>());
            } else if (t.type == 1) {
                t.values.push_back(f16_to_f32(take<std::uint16_t>()));
            } else if (t.type == 30) {
                t.values.push_back(bf16_to_f32(take<std::uint16_t>()));
            } else {
                REQUIRE(t.type == 8);
                if (i % 32 == 0) scale = f16_to_f32(take<std::uint16_t>());
                t.values.push_back(scale * static_cast<float>(take<std::int8_t>()));
            }
        }
    }

    std::string bytes_;
    std::size_t at_ = 0;
};

}  // namespace inkling::testing
