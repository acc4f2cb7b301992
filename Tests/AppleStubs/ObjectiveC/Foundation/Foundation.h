// The parts of Foundation that Sources/CCoding uses: developer.apple.com/documentation/foundation (NSCoding, NSCoder,
// NSException) and developer.apple.com/documentation/objectivec (NSObject).
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_NOESCAPE __attribute__((noescape))
#define FOUNDATION_EXPORT extern
#define nil ((id)0)
typedef signed char BOOL;

NS_ASSUME_NONNULL_BEGIN

@class NSCoder;

@protocol NSObject
- (BOOL)respondsToSelector:(SEL)selector;
@end

@protocol NSCoding
- (void)encodeWithCoder:(NSCoder *)coder;
- (nullable instancetype)initWithCoder:(NSCoder *)coder;
@end

__attribute__((objc_root_class))
@interface NSObject <NSObject>
+ (instancetype)alloc;
- (nullable id)awakeAfterUsingCoder:(NSCoder *)coder __attribute__((ns_consumes_self)) __attribute__((ns_returns_retained));
@end

@interface NSCoder : NSObject
@end

@interface NSException : NSObject
@end

NS_ASSUME_NONNULL_END
