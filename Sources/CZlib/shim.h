#pragma once

#include <zlib.h>

// Functions that wrap zlib's macros, because Swift does not import macros with arguments.

static inline int cz_begin_inflating(z_stream *stream, int window_bits) { return inflateInit2(stream, window_bits); }
static inline int cz_begin_deflating(z_stream *stream, int window_bits) {
  return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}
