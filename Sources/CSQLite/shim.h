#pragma once

#include <sqlite3.h>

// Functions for macros and variadic functions of SQLite, which Swift does not import.

/// Sets a parameter to a copy of `count` bytes.
static inline int cs_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// Permits only ordinary statements to change the file, and ignores views and triggers of a foreign schema.
static inline int cs_harden(sqlite3 *database) {
  int result = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
  if (result != SQLITE_OK) return result;
  return sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
}

static inline int cs_note_frames(void *frames, sqlite3 *database, const char *name, int count) {
  (void)database;
  (void)name;
  *(int *)frames = count;
  return SQLITE_OK;
}

/// Sets `frames` to the number of frames in the write-ahead log after each commit.
static inline void cs_count_frames(sqlite3 *database, int *frames) {
  sqlite3_wal_hook(database, cs_note_frames, frames);
}

/// Decides whether closing the database leaves its write-ahead log as it is.
static inline int cs_keep_log(sqlite3 *database, int is_kept) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_kept, (int *)0);
}

/// Reads the two salts in the header of the write-ahead log, 8 bytes.
static inline int cs_read_salts(sqlite3 *database, void *salts) {
  sqlite3_file *log = 0;
  int result = sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (result != SQLITE_OK) return result;
  if (!log || !log->pMethods) return SQLITE_MISUSE;
  return log->pMethods->xRead(log, salts, 8, 16);
}

/// Makes the database file durable, without its write-ahead log.
static inline int cs_sync(sqlite3 *database) {
  sqlite3_file *file = 0;
  int result = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (result != SQLITE_OK) return result;
  if (!file || !file->pMethods) return SQLITE_MISUSE;
  return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}
