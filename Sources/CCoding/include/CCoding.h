#ifndef CCODING_H
#define CCODING_H

#ifdef __APPLE__

#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

/// Has an object encode itself.
///
/// Returns the exception that it raised, or nil.
FOUNDATION_EXPORT NSException *_Nullable coding_encode(id<NSCoding> object, NSCoder *coder);

/// Allocates an object and has it decode itself, and another one take its place if it wants that.
///
/// - `allocated` gets the object before it is initialized, with zeros in its instance variables.
/// - `exception` becomes the exception that was raised, if any.
///
/// Returns the object, or nil if it refused or an exception was raised.
FOUNDATION_EXPORT id _Nullable coding_decode(
    Class cls, NSCoder *coder, void (NS_NOESCAPE ^allocated)(id object),
    NSException *_Nullable *_Nonnull exception);

NS_ASSUME_NONNULL_END

#endif

#endif
