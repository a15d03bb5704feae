#pragma once

#include <hiredis/hiredis.h>
#include <stdlib.h>

// A reader of replies that refuses arrays of more than `maximum_elements` elements. hiredis itself allocates memory for
// the number of elements that the head of an array announces, up to 16 GiB.

typedef struct {
  redisReader *reader;
  redisReplyObjectFunctions functions;
  redisReplyObjectFunctions *standard;
  int maximum_elements;
} ch_reader;

static inline void *ch_create_array(const redisReadTask *task, int elements) {
  ch_reader *limited = task->privdata;
  return elements > limited->maximum_elements ? NULL : limited->standard->createArray(task, elements);
}

/// Creates a reader. Returns NULL if there is no memory.
static inline ch_reader *ch_open(int maximum_elements) {
  ch_reader *limited = calloc(1, sizeof(ch_reader));
  if (limited == NULL) return NULL;
  limited->reader = redisReaderCreate();
  if (limited->reader == NULL) {
    free(limited);
    return NULL;
  }
  limited->standard = limited->reader->fn;
  limited->functions = *limited->reader->fn;
  limited->functions.createArray = ch_create_array;
  limited->maximum_elements = maximum_elements;
  limited->reader->fn = &limited->functions;
  limited->reader->privdata = limited;
  return limited;
}

/// Frees a reader.
static inline void ch_close(ch_reader *limited) {
  redisReaderFree(limited->reader);
  free(limited);
}

/// Adds received bytes, which are copied.
static inline int ch_feed(ch_reader *limited, const void *bytes, size_t count) {
  return redisReaderFeed(limited->reader, bytes, count);
}

/// Sets `reply` to the next complete reply, or to NULL if there is none yet. Free it with freeReplyObject.
static inline int ch_next(ch_reader *limited, redisReply **reply) {
  return redisReaderGetReply(limited->reader, (void **)reply);
}

/// Returns the last error in words.
static inline const char *ch_error(const ch_reader *limited) { return limited->reader->errstr; }

/// Returns the number of bytes that were added and are not part of a returned reply.
static inline size_t ch_pending(const ch_reader *limited) { return limited->reader->len - limited->reader->pos; }
