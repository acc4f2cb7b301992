#include "CInstance.h"

#if !defined(__APPLE__)

// Functions of the Swift runtime, part of its ABI.
extern void *swift_allocObject(const void *metadata, size_t size, size_t align_mask);
extern void swift_deallocUninitializedObject(void *object, size_t size, size_t align_mask);

// The beginning of a class's metadata where there is no Objective-C runtime.
struct class_metadata {
    uintptr_t kind;
    const void *superclass;
    uint32_t flags;
    uint32_t address_point;
    uint32_t instance_size;
    uint16_t align_mask;
};

// An object's header: its class, then its counts.
struct object_header {
    const void *metadata;
    uint64_t counts;
};

size_t instance_size(const void *metadata) { return ((const struct class_metadata *)metadata)->instance_size; }

void *instance_allocate(const void *metadata) {
    const struct class_metadata *description = metadata;
    return swift_allocObject(metadata, description->instance_size, description->align_mask);
}

void instance_discard(void *instance, const void *metadata) {
    const struct class_metadata *description = metadata;
    swift_deallocUninitializedObject(instance, description->instance_size, description->align_mask);
}

uint64_t instance_counts(const void *instance) { return ((const struct object_header *)instance)->counts; }

#endif
