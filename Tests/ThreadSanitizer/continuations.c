// Tells the thread sanitizer that a task sees everything that the thread did which resumed it, as mutex.c does for
// locks.
//
// A task that waits for its continuation is resumed by a job, which the runtime reports. If the continuation was
// resumed before the task came to wait, the task goes on at once, and the runtime reports nothing: the sanitizer then
// takes the task's next steps and the steps that led to the resumption for a race. These functions stand in place of
// the runtime's, call them, and report "released" before a resumption and "acquired" before the task's next step, both
// at the address of the task. The step is put off by a function in its place: before the wait would be too early, since
// another thread may resume the task just then.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

// Absent in processes without the sanitizer, which inherit the environment.
void __tsan_acquire(void *) __attribute__((weak));
void __tsan_release(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define ASYNC __attribute__((swiftasynccall))
#define CONTEXT __attribute__((swift_async_context)) struct context *context

// Absent in processes without Swift's concurrency.
SWIFT void *swift_task_getCurrent(void) __attribute__((weak));

SWIFT void swift_continuation_resume(void *task) {
    SWIFT void (*resume)(void *) = (SWIFT void (*)(void *))dlsym(RTLD_NEXT, "swift_continuation_resume");
    if (__tsan_release) __tsan_release(task);
    resume(task);
}

SWIFT void swift_continuation_throwingResume(void *task) {
    SWIFT void (*resume)(void *) = (SWIFT void (*)(void *))dlsym(RTLD_NEXT, "swift_continuation_throwingResume");
    if (__tsan_release) __tsan_release(task);
    resume(task);
}

SWIFT void swift_continuation_throwingResumeWithError(void *task, void *error) {
    SWIFT void (*resume)(void *, void *) =
        (SWIFT void (*)(void *, void *))dlsym(RTLD_NEXT, "swift_continuation_throwingResumeWithError");
    if (__tsan_release) __tsan_release(task);
    resume(task, error);
}

// The beginning of what the runtime knows of a task that waits.
struct context {
    struct context *parent;
    ASYNC void (*next)(CONTEXT);
};

// The steps that are put off, by the addresses of their contexts.
struct step {
    struct context *context;
    ASYNC void (*next)(CONTEXT);
    struct step *other;
};

#define LISTS 4096
static struct {
    // Neither a pthread_mutex nor any code that the sanitizer sees: it would take each for an order of the tasks.
    atomic_flag is_locked;
    struct step *first;
} lists[LISTS];

static size_t lock_list(struct context *context) {
    size_t number = ((uintptr_t)context >> 4) * 0x9E3779B97F4A7C15u >> 52;
    while (atomic_flag_test_and_set_explicit(&lists[number].is_locked, memory_order_acquire)) {}
    return number;
}

static void unlock_list(size_t number) {
    atomic_flag_clear_explicit(&lists[number].is_locked, memory_order_release);
}

static ASYNC void acquire(CONTEXT) {
    size_t number = lock_list(context);
    struct step **place = &lists[number].first;
    while ((*place)->context != context) place = &(*place)->other;
    struct step *step = *place;
    *place = step->other;
    unlock_list(number);
    ASYNC void (*next)(CONTEXT) = step->next;
    free(step);
    context->next = next;
    __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return next(context);
}

ASYNC void swift_continuation_await(struct context *context) {
    ASYNC void (*await)(struct context *) =
        (ASYNC void (*)(struct context *))dlsym(RTLD_NEXT, "swift_continuation_await");
    struct step *step = __tsan_acquire && swift_task_getCurrent ? malloc(sizeof *step) : NULL;
    if (step) {
        step->context = context;
        step->next = context->next;
        context->next = acquire;
        size_t number = lock_list(context);
        step->other = lists[number].first;
        lists[number].first = step;
        unlock_list(number);
    }
    __attribute__((musttail)) return await(context);
}
