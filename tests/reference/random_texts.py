"""Random texts for tokenizers, the same as ReferenceTexts of ../data/tokenizers/bpe_reference.h makes, and the hash of ids.

Letters of the blocks of 24 scripts, emoji, combining marks and joiners, ASCII, white space, any code point.
"""

BLOCKS = [0x41, 0x61, 0xC0, 0x391, 0x410, 0x531, 0x5D0, 0x627, 0x915, 0x995, 0xB95, 0xE01, 0xF40, 0x10D0, 0x1100, 0x1208,
          0x1780, 0x1820, 0x3041, 0x30A1, 0x4E00, 0xAC00, 0x10330, 0x1F600]
MARKS = [0x301, 0x308, 0x5B0, 0x64B, 0x93F, 0xE31, 0x200D, 0xFE0F, 0x1F3FD, 0x27, 0x2019, 0x3000, 0xA0, 0x2028]
COMMON = " \t\n\r 'ste09.,!<|>"


class RandomTexts:
    def __init__(self):
        self.state = 1

    def below(self, n):  # Knuth's generator of 64 bits, of which the upper count
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n

    def next(self):
        text, start = [], 0x61
        for _ in range(self.below(24)):
            kind = self.below(16)
            if kind < 2:
                start = BLOCKS[self.below(len(BLOCKS))]
            if kind < 9:
                c = start + self.below(26)
            elif kind < 11:
                c = MARKS[self.below(len(MARKS))]
            elif kind < 15:
                c = ord(COMMON[self.below(len(COMMON))])
            else:
                c = self.below(0x110000)
            if not 0xD800 <= c <= 0xDFFF:
                text.append(chr(c))
        return "".join(text)


def fnv(values, hashed=0xCBF29CE484222325):  # FNV-1a
    for i in values:
        hashed = (hashed ^ i) * 0x100000001B3 % 2**64
    return hashed
