// The glyphs: "Futural" of the Hershey fonts. Their license asks for these words: the Hershey Fonts were originally
// created by Dr. A. V. Hershey while working at the U. S. National Bureau of Standards; the format of the font data was
// originally created by James Hurt, Cognition, Inc., 900 Technology Park Drive, Billerica, MA 01821
// (mit-eddie!ci-dandelion!hurt).
//
// A pair of characters is a point (x, y), each counted from 'R'; " R" lifts the pen. The first pair is the left and the
// right edge. Capitals reach from -12 to 9, which is the baseline.
#include "web/pictures/stroke_font.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "formats/utf8.h"

namespace inkling::web {
namespace {

// clang-format off
constexpr std::array<const char*, 95> kGlyphs = {  // ' ' to '~'
    R"~(JZ)~",
    R"~(MWRFRT RRYQZR[SZRY)~",
    R"~(JZNFNM RVFVM)~",
    R"~(H]SBLb RYBRb RLOZO RKUYU)~",
    R"~(H\PBP_ RTBT_ RYIWGTFPFMGKIKKLMMNOOUQWRXSYUYXWZT[P[MZKX)~",
    R"~(F^[FI[ RNFPHPJOLMMKMIKIIJGLFNFPGSHVHYG[F RWTUUTWTYV[X[ZZ[X[VYTWT)~",
    R"~(E_\O\N[MZMYNXPVUTXRZP[L[JZIYHWHUISJRQNRMSKSIRGPFNGMIMKNNPQUXWZY[[[\Z\Y)~",
    R"~(MWRHQGRFSGSIRKQL)~",
    R"~(KYVBTDRGPKOPOTPYR]T`Vb)~",
    R"~(KYNBPDRGTKUPUTTYR]P`Nb)~",
    R"~(JZRLRX RMOWU RWOMU)~",
    R"~(E_RIR[ RIR[R)~",
    R"~(NVSWRXQWRVSWSYQ[)~",
    R"~(E_IR[R)~",
    R"~(NVRVQWRXSWRV)~",
    R"~(G][BIb)~",
    R"~(H\QFNGLJKOKRLWNZQ[S[VZXWYRYOXJVGSFQF)~",
    R"~(H\NJPISFS[)~",
    R"~(H\LKLJMHNGPFTFVGWHXJXLWNUQK[Y[)~",
    R"~(H\MFXFRNUNWOXPYSYUXXVZS[P[MZLYKW)~",
    R"~(H\UFKTZT RUFU[)~",
    R"~(H\WFMFLOMNPMSMVNXPYSYUXXVZS[P[MZLYKW)~",
    R"~(H\XIWGTFRFOGMJLOLTMXOZR[S[VZXXYUYTXQVOSNRNOOMQLT)~",
    R"~(H\YFO[ RKFYF)~",
    R"~(H\PFMGLILKMMONSOVPXRYTYWXYWZT[P[MZLYKWKTLRNPQOUNWMXKXIWGTFPF)~",
    R"~(H\XMWPURRSQSNRLPKMKLLINGQFRFUGWIXMXRWWUZR[P[MZLX)~",
    R"~(NVROQPRQSPRO RRVQWRXSWRV)~",
    R"~(NVROQPRQSPRO RSWRXQWRVSWSYQ[)~",
    R"~(F^ZIJRZ[)~",
    R"~(E_IO[O RIU[U)~",
    R"~(F^JIZRJ[)~",
    R"~(I[LKLJMHNGPFTFVGWHXJXLWNVORQRT RRYQZR[SZRY)~",
    R"~(E`WNVLTKQKOLNMMPMSNUPVSVUUVS RQKOMNPNSOUPV RWKVSVUXVZV\T]Q]O\L[JYHWGTFQFNGLHJJILHOHRIUJWLYNZQ[T[WZYYZX RXKWSWUXV)~",
    R"~(I[RFJ[ RRFZ[ RMTWT)~",
    R"~(G\KFK[ RKFTFWGXHYJYLXNWOTP RKPTPWQXRYTYWXYWZT[K[)~",
    R"~(H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZV)~",
    R"~(G\KFK[ RKFRFUGWIXKYNYSXVWXUZR[K[)~",
    R"~(H[LFL[ RLFYF RLPTP RL[Y[)~",
    R"~(HZLFL[ RLFYF RLPTP)~",
    R"~(H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZVZS RUSZS)~",
    R"~(G]KFK[ RYFY[ RKPYP)~",
    R"~(NVRFR[)~",
    R"~(JZVFVVUYTZR[P[NZMYLVLT)~",
    R"~(G\KFK[ RYFKT RPOY[)~",
    R"~(HYLFL[ RL[X[)~",
    R"~(F^JFJ[ RJFR[ RZFR[ RZFZ[)~",
    R"~(G]KFK[ RKFY[ RYFY[)~",
    R"~(G]PFNGLIKKJNJSKVLXNZP[T[VZXXYVZSZNYKXIVGTFPF)~",
    R"~(G\KFK[ RKFTFWGXHYJYMXOWPTQKQ)~",
    R"~(G]PFNGLIKKJNJSKVLXNZP[T[VZXXYVZSZNYKXIVGTFPF RSWY])~",
    R"~(G\KFK[ RKFTFWGXHYJYLXNWOTPKP RRPY[)~",
    R"~(H\YIWGTFPFMGKIKKLMMNOOUQWRXSYUYXWZT[P[MZKX)~",
    R"~(JZRFR[ RKFYF)~",
    R"~(G]KFKULXNZQ[S[VZXXYUYF)~",
    R"~(I[JFR[ RZFR[)~",
    R"~(F^HFM[ RRFM[ RRFW[ R\FW[)~",
    R"~(H\KFY[ RYFK[)~",
    R"~(I[JFRPR[ RZFRP)~",
    R"~(H\YFK[ RKFYF RK[Y[)~",
    R"~(KYOBOb RPBPb ROBVB RObVb)~",
    R"~(KYKFY^)~",
    R"~(KYTBTb RUBUb RNBUB RNbUb)~",
    R"~(JZRDJR RRDZR)~",
    R"~(I[Ib[b)~",
    R"~(NVSKQMQORPSORNQO)~",
    R"~(I\XMX[ RXPVNTMQMONMPLSLUMXOZQ[T[VZXX)~",
    R"~(H[LFL[ RLPNNPMSMUNWPXSXUWXUZS[P[NZLX)~",
    R"~(I[XPVNTMQMONMPLSLUMXOZQ[T[VZXX)~",
    R"~(I\XFX[ RXPVNTMQMONMPLSLUMXOZQ[T[VZXX)~",
    R"~(I[LSXSXQWOVNTMQMONMPLSLUMXOZQ[T[VZXX)~",
    R"~(MYWFUFSGRJR[ ROMVM)~",
    R"~(I\XMX]W`VaTbQbOa RXPVNTMQMONMPLSLUMXOZQ[T[VZXX)~",
    R"~(I\MFM[ RMQPNRMUMWNXQX[)~",
    R"~(NVQFRGSFREQF RRMR[)~",
    R"~(MWRFSGTFSERF RSMS^RaPbNb)~",
    R"~(IZMFM[ RWMMW RQSX[)~",
    R"~(NVRFR[)~",
    R"~(CaGMG[ RGQJNLMOMQNRQR[ RRQUNWMZM\N]Q][)~",
    R"~(I\MMM[ RMQPNRMUMWNXQX[)~",
    R"~(I\QMONMPLSLUMXOZQ[T[VZXXYUYSXPVNTMQM)~",
    R"~(H[LMLb RLPNNPMSMUNWPXSXUWXUZS[P[NZLX)~",
    R"~(I\XMXb RXPVNTMQMONMPLSLUMXOZQ[T[VZXX)~",
    R"~(KXOMO[ ROSPPRNTMWM)~",
    R"~(J[XPWNTMQMNNMPNRPSUTWUXWXXWZT[Q[NZMX)~",
    R"~(MYRFRWSZU[W[ ROMVM)~",
    R"~(I\MMMWNZP[S[UZXW RXMX[)~",
    R"~(JZLMR[ RXMR[)~",
    R"~(G]JMN[ RRMN[ RRMV[ RZMV[)~",
    R"~(J[MMX[ RXMM[)~",
    R"~(JZLMR[ RXMR[P_NaLbKb)~",
    R"~(J[XMM[ RMMXM RM[X[)~",
    R"~(KYTBRCQDPFPHQJRKSMSOQQ RRCQEQGRISJTLTNSPORSTTVTXSZR[Q]Q_Ra RQSSUSWRYQZP\P^Q`RaTb)~",
    R"~(NVRBRb)~",
    R"~(KYPBRCSDTFTHSJRKQMQOSQ RRCSESGRIQJPLPNQPURQTPVPXQZR[S]S_Ra RSSQUQWRYSZT\T^S`RaPb)~",
    R"~(F^IUISJPLONOPPTSVTXTZS[Q RISJQLPNPPQTTVUXUZT[Q[O)~",
};
// clang-format on

struct Glyph {
    char32_t character;
    const char* strokes;
};
constexpr Glyph kSigns[] = {
    {U'…', "I[KZK[ RRZR[ RYZY["},        {U'«', "H\\QLKRQX RYLSRYX"},
    {U'»', "H\\KLQRKX RSLYRSX"},         {U'␣', "H\\JVJ[Z[ZV"},  // an open box
    {U'↵', "F^ZJZTJT RNOJTNY"},                                  // down, and back to the left
    {U'⇥', "F^HQXQ RSLXQSV RZLZV"},                              // an arrow to a bar
    {U'◌', "H\\QMSM RMQMS RWQWS RQWSW"},                         // stands for the missing letter of an accent
};

// Marks above a letter, y counted from its top; then which letters have which.
constexpr const char *kGrave = "OLTP", *kAcute = "ULPP", *kCircumflex = "NPRLVP", *kTilde = "MPPMTPWM",
                     *kDiaeresis = "NNON RUNVN", *kRing = "RKPMROTMRK", *kCaron = "NLRPVL";
constexpr const char* kCedilla = "R[S^O`";  // below, from the baseline
struct Accented {
    const char* mark;
    std::u32string_view letters;
    std::string_view bases;
};
constexpr Accented kAccented[] = {
    {kGrave, U"ÀÈÌÒÙàèìòù", "AEIOUaeiou"},       {kAcute, U"ÁÉÍÓÚÝáéíóúýćńśź", "AEIOUYaeiouycnsz"},
    {kCircumflex, U"ÂÊÎÔÛâêîôû", "AEIOUaeiou"},  {kTilde, U"ÃÑÕãñõ", "ANOano"},
    {kDiaeresis, U"ÄËÏÖÜäëïöüÿ", "AEIOUaeiouy"}, {kRing, U"Ååů", "Aau"},
    {kCaron, U"ČŘŠŽčřšžěň", "CRSZcrszen"},       {kCedilla, U"Çç", "Cc"},
};
constexpr std::u32string_view kTypographic = U"‘’“”–—−", kPlain = U"''\"\"---";

// Appends strokes in a glyph's notation, except those above `ceiling`.
void append(StrokeText& text, const char* points, double x, double y, double scale = 1, double ceiling = -100) {
    constexpr double kMiddle = -1.5;  // middle of a capital
    bool down = false;
    double from_x = 0, from_y = 0;
    for (; points[0] && points[1]; points += 2) {
        if (points[0] == ' ' && points[1] == 'R') {
            down = false;
            continue;
        }
        const double to_x = x + (points[0] - 'R') * scale, to_y = y + (points[1] - 'R' - kMiddle) * scale;
        if (down && points[1] - 'R' >= ceiling) text.strokes.push_back({from_x, from_y, to_x, to_y});
        from_x = to_x, from_y = to_y, down = true;
    }
}

// Moves the end of the text past the glyph; returns the distance of its centre from the left edge.
double advance(StrokeText& text, const char* glyph, double scale = 1) {
    const double centre = text.width - (glyph[0] - 'R') * scale;
    text.width = centre + (glyph[1] - 'R') * scale;
    return centre;
}

void append_glyph(StrokeText& text, const char* glyph, double y = 0, double scale = 1) {
    append(text, glyph + 2, advance(text, glyph, scale), y, scale);
}

const char* glyph_of(char32_t c) {
    if (const auto at = kTypographic.find(c); at != kTypographic.npos) c = kPlain[at];
    if (c >= ' ' && c <= '~') return kGlyphs[c - ' '];
    for (const Glyph& sign : kSigns)
        if (sign.character == c) return sign.strokes;
    return nullptr;
}

bool append_accented(StrokeText& text, char32_t c) {
    for (const auto& [mark, letters, bases] : kAccented) {
        const std::size_t at = letters.find(c);
        if (at == letters.npos) continue;
        const char* const base = glyph_of(static_cast<unsigned char>(bases[at]));
        const double top = bases[at] >= 'a' ? -5 : -12, x = advance(text, base);
        append(text, base + 2, x, 0, 1, top);  // leaves out the dot of an i
        append(text, mark, x, mark == kCedilla ? 0 : top);
        return true;
    }
    return false;
}

// Draws a number in a box, half of its digits above the other half.
void append_number(StrokeText& text, char32_t c) {
    std::string digits = fmt::format("{:04X}", static_cast<std::uint32_t>(c));
    if (digits.size() % 2) digits.insert(digits.begin(), '0');
    const double left = text.width + 2, half = kCapitalHeight / 2 + 3;
    double right = left;
    for (const std::size_t row : {0, 1}) {
        text.width = left + 1;
        for (std::size_t i = 0; i < digits.size() / 2; ++i)
            append_glyph(text, glyph_of(digits[row * digits.size() / 2 + i]), row == 0 ? -half / 2 : half / 2, 0.5);
        right = std::max(right, text.width + 1);
    }
    for (const Stroke side : {Stroke{left, -half, right, -half}, Stroke{right, -half, right, half},
                              Stroke{right, half, left, half}, Stroke{left, half, left, -half}})
        text.strokes.push_back(side);
    text.width = right + 2;
}

}  // namespace

StrokeText stroke_text(std::string_view text) {
    StrokeText result;
    for (std::size_t at = 0; at < text.size();) {
        const char32_t c = formats::next_code_point(text, at);
        if (c == formats::invalid_code_point) {
            ++at;
        } else if (const char* const glyph = glyph_of(c)) {
            append_glyph(result, glyph);
        } else if (!append_accented(result, c)) {
            append_number(result, c);
        }
    }
    return result;
}

}  // namespace inkling::web
