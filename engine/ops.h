// All ops of the engine.
#pragma once

#include "engine/ops/activation.h"
#include "engine/ops/attention.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/embedding.h"
#include "engine/ops/linear.h"
#include "engine/ops/linear_cross_entropy.h"
#include "engine/ops/mask.h"
#include "engine/ops/matmul.h"
#include "engine/ops/normalize.h"
#include "engine/ops/reduce.h"
#include "engine/ops/repeat.h"
#include "engine/ops/rotary.h"
#include "engine/ops/shape.h"
#include "engine/ops/softmax.h"
