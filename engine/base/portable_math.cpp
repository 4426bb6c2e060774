#include "engine/base/portable_math.h"

namespace inkling::portable {

std::pair<double, double> sin_cos(double x) {
    const double shifted = std::fma(x, 2 * std::numbers::inv_pi, Format<double>::magic);
    const double n = shifted - Format<double>::magic;
    double r = std::fma(n, -0x1.921fb54442d18p+0, x);  // pi / 2 as the sum of three numbers
    r = std::fma(n, -0x1.1a62633145c07p-54, r);
    r = std::fma(n, 0x1.f1976b7ed8fbcp-110, r);
    const double r2 = r * r;
    const double s = polynomial(r2, {-1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800, 1. / 6227020800,
                                     -1. / 1307674368000, 1. / 355687428096000});
    const double c = polynomial(r2, {-1. / 2, 1. / 24, -1. / 720, 1. / 40320, -1. / 3628800, 1. / 479001600,
                                     -1. / 87178291200, 1. / 20922789888000});
    const double sine = std::fma(s, r2 * r, r), cosine = std::fma(c, r2, 1.0);
    switch (std::bit_cast<std::uint64_t>(shifted) & 3) {
        case 0:
            return {sine, cosine};
        case 1:
            return {cosine, -sine};
        case 2:
            return {-sine, -cosine};
        default:
            return {-cosine, sine};
    }
}

double exp2(double x) {
    const double shifted = x + Format<double>::magic;
    return power_of_two(shifted) * exp((x - (shifted - Format<double>::magic)) * std::numbers::ln2);
}

}  // namespace inkling::portable
