// Tells the thread sanitizer that a task sees everything that the thread did which resumed it, as mutex.c does for
// locks.
//
// A task that waits for its continuation is resumed by a job, which the runtime reports. If the continuation was
// resumed before the task came to wait, the task goes on at once, and the runtime reports nothing: the sanitizer then
// takes the task's next steps and the steps that led to the resumption for a race. These functions stand in place of
// the runtime's, call them, and report "released" before a resumption, "acquired" before a wait, at the address of the
// task.
#define _GNU_SOURCE
#include <dlfcn.h>

// Absent in processes without the sanitizer, which inherit the environment.
void __tsan_acquire(void *) __attribute__((weak));
void __tsan_release(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define ASYNC __attribute__((swiftasynccall))

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

ASYNC void swift_continuation_await(void *context) {
    ASYNC void (*await)(void *) = (ASYNC void (*)(void *))dlsym(RTLD_NEXT, "swift_continuation_await");
    if (__tsan_acquire && swift_task_getCurrent) __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return await(context);
}
