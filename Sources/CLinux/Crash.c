#define _GNU_SOURCE
#include "CLinux.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

// The line on standard error that says where a process died.
//
// Theory of operation. `cl_report_crashes` reads the load address and the build id of the program once. The handler of the
// fatal signals runs on a stack of its own, because the thread's stack may have overflowed. It calls only functions that
// are safe in a handler (signal-safety(7)), allocates nothing and takes no lock: it puts the line together on its stack,
// writes it with one system call, so that lines of several threads cannot mix, restores the default actions, and raises
// the signal again. So the process ends with the same status as without the handler.

// MARK: Requests

// The ids that a trusted proxy gave to the last requests of a thread, by the numbers of the requests. More requests than
// this may be in progress; then the line about an older one has no id.
enum { NAME_COUNT = 256 };

typedef struct {
  uint64_t number;
  uint8_t length;
  char text[CL_REQUEST_NAME_CAPACITY];
} request_name;

typedef struct {
  cl_requests head;
  request_name names[NAME_COUNT];
} thread_requests;

// A model for which no access allocates, so that the handler may use the variable.
static __thread cl_requests *current_requests __attribute__((tls_model("initial-exec")));
void cl_set_current_requests(cl_requests *requests) { current_requests = requests; }

// The pages are not in memory until a proxy names a request.
cl_requests *cl_requests_create(void) { return cl_map_pages(sizeof(thread_requests)); }
void cl_requests_free(cl_requests *requests) { cl_unmap_pages(requests, sizeof(thread_requests)); }

void cl_requests_name(cl_requests *requests, const uint8_t *text, size_t length) {
  if (length > CL_REQUEST_NAME_CAPACITY) return;
  uint64_t number = requests->current;
  request_name *name = &((thread_requests *)requests)->names[number % NAME_COUNT];
  name->number = number;
  name->length = (uint8_t)length;
  memcpy(name->text, text, length);
  requests->current = number | CL_REQUEST_IS_NAMED;
}

static uint64_t rotated(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

static void sip_round(uint64_t v[4]) {
  v[0] += v[1];
  v[1] = rotated(v[1], 13) ^ v[0];
  v[0] = rotated(v[0], 32);
  v[2] += v[3];
  v[3] = rotated(v[3], 16) ^ v[2];
  v[0] += v[3];
  v[3] = rotated(v[3], 21) ^ v[0];
  v[2] += v[1];
  v[1] = rotated(v[1], 17) ^ v[2];
  v[2] = rotated(v[2], 32);
}

uint64_t cl_request_word(const cl_request_ids *ids, uint64_t number, uint64_t index) {
  // SipHash-1-3 of three words; the last block has the length of the message, 24 bytes.
  const uint64_t message[4] = {ids->space, number, index, (uint64_t)24 << 56};
  uint64_t v[4] = {
    ids->first_key ^ 0x736f6d6570736575, ids->second_key ^ 0x646f72616e646f6d, ids->first_key ^ 0x6c7967656e657261,
    ids->second_key ^ 0x7465646279746573};
  for (int block = 0; block < 4; block++) {
    v[3] ^= message[block];
    sip_round(v);
    v[0] ^= message[block];
  }
  v[2] ^= 0xff;
  for (int round = 0; round < 3; round++) sip_round(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void cl_request_id(const cl_request_ids *ids, uint64_t number, char *text) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  // The first bit is 0, so the first digit is a letter. The last digit has the last two bits.
  uint64_t high = cl_request_word(ids, number, 0) >> 1, low = cl_request_word(ids, number, 1);
  for (int index = 0; index < CL_REQUEST_ID_LENGTH; index++) {
    text[index] = digits[high >> 58];
    high = high << 6 | low >> 58;
    low <<= 6;
  }
}

size_t cl_requests_current_id(const cl_requests *requests, char *text) {
  uint64_t number = requests->current & ~CL_REQUEST_IS_NAMED;
  if (number == 0) return 0;
  if (requests->current & CL_REQUEST_IS_NAMED) {
    const request_name *name = &((const thread_requests *)requests)->names[number % NAME_COUNT];
    if (name->number != number) return 0;
    memcpy(text, name->text, name->length);
    return name->length;
  }
  if (!requests->has_ids) return 0;
  cl_request_id(&requests->ids, number, text);
  return CL_REQUEST_ID_LENGTH;
}

// MARK: The program

// Set once by `cl_report_crashes`, which runs before the process has a second thread.
static struct {
  bool is_installed;
  uintptr_t base;
  // The addresses of the program's code, with the base.
  uintptr_t code_start, code_end;
  // In hexadecimal digits; empty if the linker wrote none.
  char build[2 * 64 + 1];
} program;

static void read_build_id(const uint8_t *notes, size_t size) {
  size_t at = 0;
  while (size - at >= sizeof(ElfW(Nhdr))) {
    const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(notes + at);
    size_t name = at + sizeof *note, content = name + ((note->n_namesz + 3) & ~(size_t)3);
    size_t end = content + ((note->n_descsz + 3) & ~(size_t)3);
    if (end > size || note->n_descsz > 64) return;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0) {
      for (size_t index = 0; index < note->n_descsz; index++) {
        program.build[2 * index] = "0123456789abcdef"[notes[content + index] >> 4];
        program.build[2 * index + 1] = "0123456789abcdef"[notes[content + index] & 15];
      }
      return;
    }
    at = end;
  }
}

static int read_program(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  (void)data;
  program.base = object->dlpi_addr;
  for (size_t index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
    uintptr_t start = program.base + segment->p_vaddr, end = start + segment->p_memsz;
    if (segment->p_type == PT_NOTE && program.build[0] == 0) read_build_id((const uint8_t *)start, segment->p_memsz);
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    if (program.code_end == 0 || start < program.code_start) program.code_start = start;
    if (end > program.code_end) program.code_end = end;
  }
  // Stop after the first object, which is the program itself.
  return 1;
}

static bool is_code(uintptr_t address) { return address >= program.code_start && address < program.code_end; }

// MARK: The line

typedef struct {
  char text[1024];
  size_t count;
} report_line;

static void append(report_line *line, const char *text, size_t count) {
  // The last byte is for the end of the line.
  size_t room = sizeof line->text - 1 - line->count;
  if (count > room) count = room;
  memcpy(line->text + line->count, text, count);
  line->count += count;
}

static void append_text(report_line *line, const char *text) { append(line, text, strlen(text)); }

static void append_number(report_line *line, uint64_t number, unsigned base) {
  char digits[20];
  size_t start = sizeof digits;
  do {
    digits[--start] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  append(line, digits + start, sizeof digits - start);
}

static void append_address(report_line *line, uintptr_t address) {
  append_text(line, "0x");
  append_number(line, address - program.base, 16);
}

// Returns true if the thread can read the word at `address`. The kernel reads the word, and rejects the operation ~0 only
// if it could.
static bool is_readable(uintptr_t address) {
  return address % sizeof(uintptr_t) == 0 && syscall(SYS_rt_sigprocmask, ~0, address, NULL, 8) < 0 && errno == EINVAL;
}

static bool read_word(uintptr_t address, uintptr_t *word) {
  if (!is_readable(address)) return false;
  memcpy(word, (const void *)address, sizeof *word);
  return true;
}

typedef struct {
  uintptr_t counter, stack, frame, link;
} registers;

static registers registers_of(const ucontext_t *context) {
#if defined(__x86_64__)
  const greg_t *all = context->uc_mcontext.gregs;
  return (registers){
    .counter = (uintptr_t)all[REG_RIP], .stack = (uintptr_t)all[REG_RSP], .frame = (uintptr_t)all[REG_RBP]};
#elif defined(__aarch64__)
  const mcontext_t *all = &context->uc_mcontext;
  return (registers){.counter = all->pc, .stack = all->sp, .frame = all->regs[29], .link = all->regs[30]};
#else
#error "the registers of this processor"
#endif
}

static void append_caller(report_line *line, uintptr_t address, int *count) {
  if (!is_code(address)) return;
  append_text(line, *count == 0 ? ", called from " : " ");
  append_address(line, address);
  *count += 1;
}

// Appends the return addresses that are in the program, the innermost first.
static void append_callers(report_line *line, registers at) {
  int count = 0;
  uintptr_t word;
  if (!is_code(at.counter)) {
    // A call of an address without code has stored only where it returns to.
    if (at.link != 0) append_caller(line, at.link, &count);
    else if (read_word(at.stack, &word)) append_caller(line, word, &count);
  }
  uintptr_t lowest = at.stack, frame = at.frame;
  for (int step = 0; step < 64 && count < 12; step++) {
    // Swift marks the frames of asynchronous functions with this bit.
    frame &= ~((uintptr_t)1 << 60);
    // Frames are in the order of their addresses, and none is larger than a megabyte.
    if (frame < lowest || frame - lowest > 1 << 20) return;
    uintptr_t next;
    if (!read_word(frame, &next) || !read_word(frame + sizeof word, &word)) return;
    append_caller(line, word, &count);
    lowest = frame + 2 * sizeof word;
    frame = next;
  }
}

static const struct {
  int number;
  const char *name;
} fatal_signals[] = {
  {SIGILL, "SIGILL"}, {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"},
  {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGSYS, "SIGSYS"},
};
enum { FATAL_COUNT = sizeof fatal_signals / sizeof fatal_signals[0] };

static void compose(report_line *line, int signal, registers at) {
  append_text(line, "proofgate: fatal: signal ");
  append_number(line, (uint64_t)signal, 10);
  for (int index = 0; index < FATAL_COUNT; index++) {
    if (fatal_signals[index].number != signal) continue;
    append_text(line, " (");
    append_text(line, fatal_signals[index].name);
    append_text(line, ")");
  }
  // An address outside of the program means nothing in another process, and may be data.
  if (is_code(at.counter)) {
    append_text(line, " at ");
    append_address(line, at.counter);
  } else {
    append_text(line, " outside of the program");
  }
  append_text(line, ", build ");
  append_text(line, program.build[0] ? program.build : "unknown");
  char request[CL_REQUEST_NAME_CAPACITY];
  size_t length = current_requests == NULL ? 0 : cl_requests_current_id(current_requests, request);
  if (length > 0) {
    append_text(line, ", request ");
    append(line, request, length);
  }
  append_callers(line, at);
  line->text[line->count++] = '\n';
}

// MARK: The handler

static atomic_flag is_reporting = ATOMIC_FLAG_INIT;

// All signals are blocked meanwhile, so the second fault of a thread that is in the handler ends the process.
static void handle(int signal, siginfo_t *info, void *context) {
  if (!atomic_flag_test_and_set(&is_reporting)) {
    report_line line = {.count = 0};
    compose(&line, signal, registers_of(context));
    // A pipe that no program reads must not keep the process alive.
    struct pollfd output = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&output, 1, 1000) > 0) (void)!write(STDERR_FILENO, line.text, line.count);
  } else {
    // Another thread reports, and its signal ends the process.
    poll(NULL, 0, 2000);
  }
  for (int index = 0; index < FATAL_COUNT; index++) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(fatal_signals[index].number, &standard, NULL);
  }
  // Delivered when the handler returns, in front of the instruction that failed.
  raise(signal);
  // The kernel ignores default actions for process 1 of a container, unless the processor itself reports a fault.
  bool fails_again = info->si_code > 0 && (signal == SIGILL || signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE);
  if (getpid() == 1 && !fails_again) _exit(128 + signal);
}

void *cl_crash_stack_begin(size_t *size) {
  if (!program.is_installed) return NULL;
  // The kernel's part depends on the registers of the processor.
  *size = (size_t)getauxval(AT_MINSIGSTKSZ) + 32 * 1024;
  void *pages = cl_map_pages(*size);
  stack_t stack = {.ss_sp = pages, .ss_size = *size};
  if (pages != NULL && sigaltstack(&stack, NULL) < 0) {
    cl_unmap_pages(pages, *size);
    pages = NULL;
  }
  return pages;
}

void cl_crash_stack_end(void *pages, size_t size) {
  if (pages == NULL) return;
  stack_t none = {.ss_flags = SS_DISABLE};
  sigaltstack(&none, NULL);
  cl_unmap_pages(pages, size);
}

void cl_report_crashes(void) {
  dl_iterate_phdr(read_program, NULL);
  program.is_installed = true;
  size_t size;
  cl_crash_stack_begin(&size);
  for (int index = 0; index < FATAL_COUNT; index++) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    // Replaces the handler of the Swift runtime, which writes the memory to which the registers point. That may be a
    // secret.
    sigaction(fatal_signals[index].number, &action, NULL);
  }
}
