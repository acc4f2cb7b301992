// Tells the thread sanitizer of the operations of Swift's Mutex, for tests on Linux; loaded ahead of the Swift
// libraries by Scripts/sanitize.
//
// A Mutex without contention is locked and unlocked by atomic operations in the caller's own code, which the sanitizer
// sees. A contended one goes through functions of libswiftSynchronization and the kernel's futex, which it does not
// see: it then reports every value that a Mutex guards. These three stand in their place, call them, and report
// "acquired" after the one and "released" before the other, at the same address as the atomic operations. Real races
// are reported as before.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// Absent in processes without the sanitizer, which inherit the environment.
void __tsan_acquire(void *) __attribute__((weak));
void __tsan_release(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *handle
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT _Bool try_slow(SELF) __asm__(TRY);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF) {
    SWIFT void (*lock)(uint32_t, SELF) = (SWIFT void (*)(uint32_t, SELF))dlsym(RTLD_NEXT, LOCK);
    lock(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT _Bool try_slow(SELF) {
    SWIFT _Bool (*try)(SELF) = (SWIFT _Bool (*)(SELF))dlsym(RTLD_NEXT, TRY);
    _Bool is_locked = try(handle);
    if (is_locked && __tsan_acquire) __tsan_acquire(handle);
    return is_locked;
}

SWIFT void unlock_slow(SELF) {
    SWIFT void (*unlock)(SELF) = (SWIFT void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(handle);
    unlock(handle);
}
