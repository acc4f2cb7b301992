// Reads and writes keyed archives with GNUstep, an implementation that shares nothing with this package:
//
//     archives read FILE       prints the root object of an archive
//     archives write FOLDER    writes an archive for each kind of object, and prints them
//
// Objects are printed in a notation of one line, in which equal ones look alike; GNUstepNotation.swift has it too.

#import <Foundation/Foundation.h>

static NSString *describe(id object);

/// A class with a value of every scalar type, and references to others.
@interface Sample : NSObject <NSCoding> {
@public
    NSString *name;
    BOOL flag;
    int32_t narrow;
    int64_t wide;
    float ratio;
    double share;
    NSData *bytes;
    Sample *child;
    Sample *parent;
    id content;
    id unkeyed;
}
@end

@implementation Sample

- (void)encodeWithCoder:(NSCoder *)coder {
    [coder encodeObject:name forKey:@"name"];
    [coder encodeBool:flag forKey:@"flag"];
    [coder encodeInt32:narrow forKey:@"narrow"];
    [coder encodeInt64:wide forKey:@"$wide"];
    [coder encodeFloat:ratio forKey:@"ratio"];
    [coder encodeDouble:share forKey:@"share"];
    [coder encodeBytes:[bytes bytes] length:[bytes length] forKey:@"bytes"];
    [coder encodeConditionalObject:parent forKey:@"parent"];
    [coder encodeObject:child forKey:@"child"];
    [coder encodeObject:content forKey:@"content"];
    [coder encodeObject:unkeyed];
}

- (id)initWithCoder:(NSCoder *)coder {
    self = [super init];
    name = [[coder decodeObjectForKey:@"name"] retain];
    flag = [coder decodeBoolForKey:@"flag"];
    narrow = [coder decodeInt32ForKey:@"narrow"];
    wide = [coder decodeInt64ForKey:@"$wide"];
    ratio = [coder decodeFloatForKey:@"ratio"];
    share = [coder decodeDoubleForKey:@"share"];
    NSUInteger length = 0;
    const uint8_t *start = [coder decodeBytesForKey:@"bytes" returnedLength:&length];
    bytes = [[NSData alloc] initWithBytes:start length:length];
    parent = [coder decodeObjectForKey:@"parent"];
    child = [[coder decodeObjectForKey:@"child"] retain];
    content = [[coder decodeObjectForKey:@"content"] retain];
    unkeyed = [[coder decodeObject] retain];
    return self;
}

- (NSString *)notation {
    return [NSString stringWithFormat:@"Sample{%@; %@; %d; %lld; %.9g; %.17g; %@; child %@; parent %@; %@; %@}",
        describe(name), flag ? @"true" : @"false", narrow, (long long)wide, ratio, share, describe(bytes),
        describe(child), parent == nil ? @"nil" : describe(parent->name), describe(content), describe(unkeyed)];
}

@end

// MARK: Notation

static NSString *quoted(NSString *text) {
    NSMutableString *result = [NSMutableString stringWithString:@"\""];
    NSData *utf8 = [text dataUsingEncoding:NSUTF8StringEncoding];
    const uint8_t *bytes = [utf8 bytes];
    for (NSUInteger index = 0; index < [utf8 length]; index++) {
        uint8_t byte = bytes[index];
        if (byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\') {
            [result appendFormat:@"%c", byte];
        } else {
            [result appendFormat:@"\\%02x", byte];
        }
    }
    [result appendString:@"\""];
    return result;
}

static NSString *hexadecimal(NSData *data) {
    NSMutableString *result = [NSMutableString stringWithString:@"<"];
    const uint8_t *bytes = [data bytes];
    for (NSUInteger index = 0; index < [data length]; index++) [result appendFormat:@"%02x", bytes[index]];
    [result appendString:@">"];
    return result;
}

static NSString *number(NSNumber *value) {
    switch (*[value objCType]) {
    case 'f':
    case 'd': return [NSString stringWithFormat:@"%.17g", [value doubleValue]];
    case 'B': return [value boolValue] ? @"true" : @"false";
    case 'Q':
    case 'L': return [NSString stringWithFormat:@"%llu", [value unsignedLongLongValue]];
    default: return [NSString stringWithFormat:@"%lld", [value longLongValue]];
    }
}

static NSString *joined(NSArray *members, BOOL sorted) {
    NSMutableArray *texts = [NSMutableArray array];
    for (id member in members) [texts addObject:describe(member)];
    if (sorted) [texts sortUsingSelector:@selector(compare:)];
    return [texts componentsJoinedByString:@", "];
}

static NSString *entries(NSDictionary *dictionary) {
    NSMutableArray *texts = [NSMutableArray array];
    for (id key in dictionary) {
        [texts addObject:[NSString stringWithFormat:@"%@: %@", describe(key),
            describe([dictionary objectForKey:key])]];
    }
    [texts sortUsingSelector:@selector(compare:)];
    return [texts componentsJoinedByString:@", "];
}

static NSString *mutability(id object, Class class) {
    return [object isKindOfClass:class] ? @"mutable " : @"";
}

static NSString *describe(id object) {
    if (object == nil) return @"nil";
    if ([object isKindOfClass:[Sample class]]) return [object notation];
    if ([object isKindOfClass:[NSNull class]]) return @"null";
    if ([object isKindOfClass:[NSString class]])
        return [mutability(object, [NSMutableString class]) stringByAppendingString:quoted(object)];
    if ([object isKindOfClass:[NSDecimalNumber class]])
        return [NSString stringWithFormat:@"decimal %@", [object descriptionWithLocale:nil]];
    if ([object isKindOfClass:[NSNumber class]]) return number(object);
    if ([object isKindOfClass:[NSData class]])
        return [mutability(object, [NSMutableData class]) stringByAppendingString:hexadecimal(object)];
    if ([object isKindOfClass:[NSDate class]])
        return [NSString stringWithFormat:@"date %.17g", [object timeIntervalSinceReferenceDate]];
    if ([object isKindOfClass:[NSURL class]])
        return [NSString stringWithFormat:@"url %@ on %@", [object relativeString],
            [object baseURL] == nil ? @"nothing" : [[object baseURL] absoluteString]];
    if ([object isKindOfClass:[NSUUID class]])
        return [NSString stringWithFormat:@"uuid %@", [[object UUIDString] uppercaseString]];
    if ([object isKindOfClass:[NSArray class]])
        return [NSString stringWithFormat:@"%@[%@]", mutability(object, [NSMutableArray class]),
            joined(object, NO)];
    if ([object isKindOfClass:[NSOrderedSet class]])
        return [NSString stringWithFormat:@"%@ordered [%@]", mutability(object, [NSMutableOrderedSet class]),
            joined([object array], NO)];
    if ([object isKindOfClass:[NSCountedSet class]]) {
        NSMutableArray *texts = [NSMutableArray array];
        for (id member in object) {
            [texts addObject:[NSString stringWithFormat:@"%@ x %lu", describe(member),
                (unsigned long)[object countForObject:member]]];
        }
        [texts sortUsingSelector:@selector(compare:)];
        return [NSString stringWithFormat:@"counted {%@}", [texts componentsJoinedByString:@", "]];
    }
    if ([object isKindOfClass:[NSSet class]])
        return [NSString stringWithFormat:@"%@{%@}", mutability(object, [NSMutableSet class]),
            joined([object allObjects], YES)];
    if ([object isKindOfClass:[NSDictionary class]])
        return [NSString stringWithFormat:@"%@{%@}", mutability(object, [NSMutableDictionary class]),
            entries(object)];
    if ([object isKindOfClass:[NSIndexSet class]]) {
        NSMutableArray *texts = [NSMutableArray array];
        for (NSUInteger index = [object firstIndex]; index != NSNotFound;
             index = [object indexGreaterThanIndex:index]) {
            [texts addObject:[NSString stringWithFormat:@"%lu", (unsigned long)index]];
        }
        return [NSString stringWithFormat:@"%@indexes %@", mutability(object, [NSMutableIndexSet class]),
            [texts componentsJoinedByString:@" "]];
    }
    if ([object isKindOfClass:[NSIndexPath class]]) {
        NSMutableString *text = [NSMutableString stringWithString:@"path"];
        for (NSUInteger index = 0; index < [object length]; index++)
            [text appendFormat:@" %lu", (unsigned long)[object indexAtPosition:index]];
        return text;
    }
    if ([object isKindOfClass:[NSAttributedString class]]) {
        NSMutableString *text = [NSMutableString stringWithString:@"attributed"];
        NSUInteger at = 0;
        while (at < [object length]) {
            NSRange run;
            NSDictionary *attributes = [object attributesAtIndex:at effectiveRange:&run];
            [text appendFormat:@" %@ %@", quoted([[object string] substringWithRange:run]), describe(attributes)];
            at = NSMaxRange(run);
        }
        return text;
    }
    if ([object isKindOfClass:[NSLocale class]])
        return [@"locale " stringByAppendingString:[object localeIdentifier]];
    if ([object isKindOfClass:[NSTimeZone class]]) return [@"zone " stringByAppendingString:[object name]];
    if ([object isKindOfClass:[NSError class]])
        return [NSString stringWithFormat:@"error %@ %ld", [object domain], (long)[object code]];
    if ([object isKindOfClass:[NSRegularExpression class]])
        return [NSString stringWithFormat:@"pattern %@ %lu", quoted([object pattern]),
            (unsigned long)[object options]];
    if ([object isKindOfClass:[NSValue class]]) {
        const char *type = [object objCType];
        if (strcmp(type, @encode(NSRange)) == 0) {
            NSRange range = [object rangeValue];
            return [NSString stringWithFormat:@"range %lu %lu", (unsigned long)range.location,
                (unsigned long)range.length];
        }
        if (strcmp(type, @encode(NSPoint)) == 0) {
            NSPoint point = [object pointValue];
            return [NSString stringWithFormat:@"point %.17g %.17g", point.x, point.y];
        }
        if (strcmp(type, @encode(NSSize)) == 0) {
            NSSize size = [object sizeValue];
            return [NSString stringWithFormat:@"size %.17g %.17g", size.width, size.height];
        }
        if (strcmp(type, @encode(NSRect)) == 0) {
            NSRect rect = [object rectValue];
            return [NSString stringWithFormat:@"rect %.17g %.17g %.17g %.17g", rect.origin.x, rect.origin.y,
                rect.size.width, rect.size.height];
        }
    }
    return [@"a " stringByAppendingString:NSStringFromClass([object class])];
}

// MARK: Objects

static Sample *sample(NSString *name) {
    Sample *made = [[Sample new] autorelease];
    made->name = [name retain];
    made->flag = YES;
    made->narrow = INT32_MIN;
    made->wide = INT64_MAX;
    made->ratio = 0.1f;
    made->share = 0.1;
    made->bytes = [[NSData alloc] initWithBytes:"\x00\x80\xff" length:3];
    made->unkeyed = @"unkeyed";
    return made;
}

static id objectsByName(void) {
    NSMutableDictionary *all = [NSMutableDictionary dictionary];
    NSURL *base = [NSURL URLWithString:@"https://example.org/a/"];
    NSMutableArray *shared = [NSMutableArray arrayWithObjects:@"one", [NSNumber numberWithInt:2], nil];
    Sample *parent = sample(@"parent");
    Sample *child = sample(@"child");
    parent->child = [child retain];
    child->parent = parent;
    child->content = [[NSMutableArray arrayWithObjects:[NSNull null], @"x", nil] retain];
    NSMutableIndexSet *ranges = [NSMutableIndexSet indexSetWithIndexesInRange:NSMakeRange(1, 3)];
    [ranges addIndexesInRange:NSMakeRange(300, 2)];
    NSUInteger steps[] = {4, 8, 300};
    NSMutableAttributedString *attributed =
        [[[NSMutableAttributedString alloc] initWithString:@"plain bold"] autorelease];
    [attributed addAttribute:@"Weight" value:[NSNumber numberWithInt:700] range:NSMakeRange(6, 4)];

#define SET(NAME, OBJECT) [all setObject:(OBJECT) forKey:@NAME]
    SET("string", @"text \"quoted\"");
    SET("empty-string", @"");
    SET("unicode-string", [NSString stringWithUTF8String:"L\xc3\xa4nge \xf0\x9f\x8f\x99 \xe9\x80\x9a\xe3\x82\x8a"]);
    SET("null-string", @"$null");
    SET("mutable-string", [NSMutableString stringWithString:@"text"]);
    SET("integer", [NSNumber numberWithInt:42]);
    SET("negative-integer", [NSNumber numberWithInt:-42]);
    SET("wide-integer", [NSNumber numberWithLongLong:INT64_MIN]);
    SET("unsigned-integer", [NSNumber numberWithUnsignedLongLong:UINT64_MAX]);
    SET("real", [NSNumber numberWithDouble:0.1]);
    SET("float", [NSNumber numberWithFloat:1.5f]);
    SET("boolean", [NSNumber numberWithBool:YES]);
    SET("data", [NSData dataWithBytes:"\x00\xff\x80" length:3]);
    SET("mutable-data", [NSMutableData dataWithBytes:"abc" length:3]);
    SET("date", [NSDate dateWithTimeIntervalSinceReferenceDate:100.25]);
    SET("url", [NSURL URLWithString:@"https://example.org/a?b=c#d"]);
    SET("relative-url", [NSURL URLWithString:@"b?c#d" relativeToURL:base]);
    SET("uuid", [[[NSUUID alloc] initWithUUIDString:@"00010203-0405-0607-0809-0A0B0C0D0E0F"] autorelease]);
    SET("null", [NSNull null]);
    SET("array", ([NSArray arrayWithObjects:@"a", [NSNumber numberWithInt:1], [NSArray array], nil]));
    SET("mutable-array", [NSMutableArray arrayWithObject:@"a"]);
    SET("set", ([NSSet setWithObjects:@"a", @"b", [NSNumber numberWithInt:1], nil]));
    SET("mutable-set", [NSMutableSet setWithObject:@"a"]);
    SET("dictionary", ([NSDictionary dictionaryWithObjectsAndKeys:@"v", @"k", [NSNull null], @"n", nil]));
    SET("mutable-dictionary", ([NSMutableDictionary dictionaryWithObjectsAndKeys:@"v", @"k", nil]));
    SET("shared", ([NSArray arrayWithObjects:shared, shared, nil]));
    SET("object", parent);

    SET("ordered-set", ([NSOrderedSet orderedSetWithObjects:@"b", @"a", nil]));
    SET("mutable-ordered-set", ([NSMutableOrderedSet orderedSetWithObjects:@"b", @"a", nil]));
    SET("counted-set", ([NSCountedSet setWithArray:[NSArray arrayWithObjects:@"a", @"a", @"b", nil]]));
    SET("index-set", [NSIndexSet indexSetWithIndexesInRange:NSMakeRange(1, 3)]);
    SET("mutable-index-set", ranges);
    SET("index-path", [NSIndexPath indexPathWithIndexes:steps length:3]);
    SET("range", [NSValue valueWithRange:NSMakeRange(3, 4)]);
    SET("point", [NSValue valueWithPoint:NSMakePoint(1.5, -2)]);
    SET("size", [NSValue valueWithSize:NSMakeSize(1.5, 2)]);
    SET("rect", [NSValue valueWithRect:NSMakeRect(1, 2, 3.5, 4)]);
    SET("decimal", [NSDecimalNumber decimalNumberWithString:@"-1234.5678"]);
    SET("attributed-string", attributed);
    SET("locale", [[[NSLocale alloc] initWithLocaleIdentifier:@"de_CH"] autorelease]);
    SET("time-zone", [NSTimeZone timeZoneWithName:@"Europe/Zurich"]);
    SET("error", [NSError errorWithDomain:@"Domain" code:7 userInfo:nil]);
    SET("regular-expression", [NSRegularExpression regularExpressionWithPattern:@"a+" options:1 error:NULL]);
#undef SET
    return all;
}

// MARK: Commands

static int readArchive(NSString *file) {
    NSData *data = [NSData dataWithContentsOfFile:file];
    if (data == nil) return 2;
    puts([describe([NSKeyedUnarchiver unarchiveObjectWithData:data]) UTF8String]);
    return 0;
}

static int writeArchives(NSString *folder) {
    NSDictionary *all = objectsByName();
    for (NSString *name in all) {
        id object = [all objectForKey:name];
        @try {
            NSMutableData *data = [NSMutableData data];
            NSKeyedArchiver *archiver = [[NSKeyedArchiver alloc] initForWritingWithMutableData:data];
            [archiver setClassName:@"KeyedArchiveTests.GNUstepSample" forClass:[Sample class]];
            [archiver encodeObject:object forKey:@"root"];
            [archiver finishEncoding];
            [data writeToFile:[folder stringByAppendingPathComponent:name] atomically:NO];
            printf("%s\t%s\n", [name UTF8String], [describe(object) UTF8String]);
        } @catch (NSException *exception) {
            printf("%s\traised %s\n", [name UTF8String], [[exception name] UTF8String]);
        }
    }
    return 0;
}

int main(int count, char **arguments) {
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    int code = 2;
    [NSKeyedUnarchiver setClass:[Sample class] forClassName:@"KeyedArchiveTests.GNUstepSample"];
    if (count == 3) {
        NSString *path = [NSString stringWithUTF8String:arguments[2]];
        @try {
            if (strcmp(arguments[1], "read") == 0) code = readArchive(path);
            if (strcmp(arguments[1], "write") == 0) code = writeArchives(path);
        } @catch (NSException *exception) {
            printf("raised %s: %s\n", [[exception name] UTF8String], [[exception reason] UTF8String]);
            code = 1;
        }
    }
    if (code == 2) fputs("usage: archives read FILE | archives write FOLDER\n", stderr);
    [pool release];
    return code;
}
