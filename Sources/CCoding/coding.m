#ifdef __APPLE__

#import "CCoding.h"

// An exception must not unwind Swift's frames: Foundation's way to report a bad archive, and that of its classes to
// report an index out of bounds, would end the process or worse. Caught around each object's own method, there is only
// that method's frame to unwind; objects that it holds may leak.

NSException *coding_encode(id<NSCoding> object, NSCoder *coder) {
    @try {
        [object encodeWithCoder:coder];
        return nil;
    } @catch (NSException *raised) {
        return raised;
    }
}

id coding_decode(
    Class cls, NSCoder *coder, void (NS_NOESCAPE ^allocated)(id object), NSException **exception) {
    @try {
        id object = [cls alloc];
        allocated(object);
        object = [object initWithCoder:coder];
        if ([object respondsToSelector:@selector(awakeAfterUsingCoder:)]) {
            object = [object awakeAfterUsingCoder:coder];
        }
        return object;
    } @catch (NSException *raised) {
        *exception = raised;
        return nil;
    }
}

#endif
