// Reads and writes keyed archives with GNUstep, an implementation that shares nothing with this package:
//
//     archives read FILE       prints the root object of an archive
//     archives write FOLDER    writes an archive for each kind of object, and prints them
//     archives behave          prints the behaviour in situations where implementations are known to differ
//
// Objects are printed in a notation of one line, in which equal ones look alike; GNUstepNotation.swift has it too.

#import <Foundation/Foundation.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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

// MARK: Behaviours

/// An archive by hand: its objects after `$null`, in the notation of OpenStep, in which `@n` is a reference.
static NSData *archiveOf(NSString *objects) {
    NSMutableString *xml = [NSMutableString stringWithString:
        @"<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\"><dict>"
        @"<key>$archiver</key><string>NSKeyedArchiver</string><key>$version</key><integer>100000</integer>"
        @"<key>$top</key><dict><key>root</key>@1</dict><key>$objects</key><array><string>$null</string>"];
    [xml appendString:objects];
    [xml appendString:@"</array></dict></plist>"];
    for (int uid = 99; uid >= 0; uid--) {
        [xml replaceOccurrencesOfString:[NSString stringWithFormat:@"@%d", uid]
            withString:[NSString stringWithFormat:@"<dict><key>CF$UID</key><integer>%d</integer></dict>", uid]
            options:0 range:NSMakeRange(0, [xml length])];
    }
    return [xml dataUsingEncoding:NSUTF8StringEncoding];
}

static NSString *readRoot(NSString *objects) {
    return describe([NSKeyedUnarchiver unarchiveObjectWithData:archiveOf(objects)]);
}

static NSKeyedUnarchiver *reading(void (*encode)(NSKeyedArchiver *)) {
    NSMutableData *data = [NSMutableData data];
    NSKeyedArchiver *archiver = [[NSKeyedArchiver alloc] initForWritingWithMutableData:data];
    encode(archiver);
    [archiver finishEncoding];
    return [[NSKeyedUnarchiver alloc] initForReadingWithData:data];
}

static void nothing(NSKeyedArchiver *coder) {}
static void seven(NSKeyedArchiver *coder) { [coder encodeInt:7 forKey:@"a"]; }
static void wide(NSKeyedArchiver *coder) { [coder encodeInt64:1LL << 40 forKey:@"a"]; }
static void large(NSKeyedArchiver *coder) { [coder encodeDouble:1e300 forKey:@"a"]; }
static void twice(NSKeyedArchiver *coder) {
    [coder encodeInt:1 forKey:@"a"];
    [coder encodeInt:2 forKey:@"a"];
}
static void dollar(NSKeyedArchiver *coder) { [coder encodeInt:1 forKey:@"$class"]; }
static void shared(NSKeyedArchiver *coder) {
    Sample *one = sample(@"one");
    [coder encodeObject:[NSArray arrayWithObjects:one, one, nil] forKey:@"a"];
}
static void equalStrings(NSKeyedArchiver *coder) {
    [coder encodeObject:[NSArray arrayWithObjects:[NSMutableString stringWithString:@"a"],
        [NSMutableString stringWithString:@"a"], nil] forKey:@"a"];
}
static void conditionalFirst(NSKeyedArchiver *coder) {
    Sample *one = sample(@"one");
    [coder encodeConditionalObject:one forKey:@"a"];
    [coder encodeObject:one forKey:@"b"];
}
static void conditionalOnly(NSKeyedArchiver *coder) { [coder encodeConditionalObject:sample(@"one") forKey:@"a"]; }
static void circle(NSKeyedArchiver *coder) {
    Sample *one = sample(@"one");
    one->child = one;
    [coder encodeObject:one forKey:@"a"];
}
static void chain(NSKeyedArchiver *coder) {
    Sample *node = sample(@"end");
    for (int step = 1; step < 20000; step++) {
        Sample *outer = sample(@"node");
        outer->child = node;
        node = outer;
    }
    [coder encodeObject:node forKey:@"a"];
}

static NSString *identity(NSArray *pair) {
    return [pair objectAtIndex:0] == [pair objectAtIndex:1] ? @"one object" : @"two objects";
}

static NSString *behaviour(int number, const char **name) {
// A number below zero asks for the name alone.
#define IS(NUMBER, NAME) \
    ((number == NUMBER || number == -1 - NUMBER) && (*name = NAME, number == NUMBER))
    if (IS(0, "`decodeObject` of a key that is not there"))
        return describe([reading(nothing) decodeObjectForKey:@"a"]);
    if (IS(1, "`decodeObject` of a number that was encoded inline"))
        return describe([reading(seven) decodeObjectForKey:@"a"]);
    if (IS(2, "a number above the type that is asked for"))
        return [NSString stringWithFormat:@"%d", [reading(wide) decodeInt32ForKey:@"a"]];
    if (IS(3, "a real above the integer that is asked for"))
        return [NSString stringWithFormat:@"%lld", (long long)[reading(large) decodeInt64ForKey:@"a"]];
    if (IS(4, "a `Double` above `Float`"))
        return [NSString stringWithFormat:@"%g", [reading(large) decodeFloatForKey:@"a"]];
    if (IS(5, "a key that is encoded twice"))
        return [reading(twice) decodeIntForKey:@"a"] == 2 ? @"the last value" : @"the first value";
    if (IS(6, "keys that begin with `$`"))
        return [reading(dollar) decodeIntForKey:@"$class"] == 1 ? @"equal" : @"another value";
    if (IS(7, "an object referred to twice")) return identity([reading(shared) decodeObjectForKey:@"a"]);
    if (IS(8, "two equal mutable strings")) return identity([reading(equalStrings) decodeObjectForKey:@"a"]);
    if (IS(9, "a conditional object that is encoded later")) {
        NSKeyedUnarchiver *reader = reading(conditionalFirst);
        id first = [reader decodeObjectForKey:@"a"];
        return first != nil && first == [reader decodeObjectForKey:@"b"] ? @"one object" : @"nil";
    }
    if (IS(10, "a conditional object that is never encoded"))
        return describe([reading(conditionalOnly) decodeObjectForKey:@"a"]);
    if (IS(11, "an object that refers to itself")) {
        Sample *one = [reading(circle) decodeObjectForKey:@"a"];
        return one->child == one ? @"equal" : @"another value";
    }
    if (IS(12, "a chain of 20,000 objects"))
        return [reading(chain) decodeObjectForKey:@"a"] == nil ? @"nil" : @"equal";
    if (IS(13, "a class that the program does not have"))
        return readRoot(@"<dict><key>$class</key>@2</dict><dict><key>$classname</key><string>Unheard</string></dict>");
    if (IS(14, "a dictionary with more keys than values"))
        return readRoot(@"<dict><key>NS.keys</key><array>@3@4</array><key>NS.objects</key><array>@3</array>"
            @"<key>$class</key>@2</dict><dict><key>$classname</key><string>NSDictionary</string></dict>"
            @"<string>a</string><string>b</string>");
    if (IS(15, "a set in itself"))
        return readRoot(@"<dict><key>NS.objects</key><array>@1</array><key>$class</key>@2</dict>"
            @"<dict><key>$classname</key><string>NSMutableSet</string></dict>");
    if (IS(16, "bytes that are not a property list"))
        return describe([NSKeyedUnarchiver
            unarchiveObjectWithData:[@"garbage" dataUsingEncoding:NSUTF8StringEncoding]]);
    if (IS(17, "an archive in XML")) return [readRoot(@"<string>text</string>") isEqual:@"\"text\""] ? @"equal" : @"another value";
#undef IS
    return nil;
}

/// Each in a process of its own, which may end as it likes.
static int behave(void) {
    const char *name = "";
    for (int number = 0; number < 18; number++) {
        int ends[2];
        if (pipe(ends) != 0) return 1;
        pid_t child = fork();
        if (child == 0) {
            NSString *text;
            alarm(10);
            @try {
                text = behaviour(number, &name);
            } @catch (NSException *exception) {
                text = [@"raises " stringByAppendingString:[exception name]];
            }
            const char *bytes = [text UTF8String];
            if (write(ends[1], bytes, strlen(bytes)) < 0) _exit(1);
            _exit(0);
        }
        close(ends[1]);
        char found[256];
        ssize_t length = read(ends[0], found, sizeof found - 1);
        found[length < 0 ? 0 : length] = 0;
        close(ends[0]);
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status))
            strcpy(found, WTERMSIG(status) == SIGALRM ? "does not end" : "ends the process");
        behaviour(-1 - number, &name);
        printf("%s\t%s\n", name, found);
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
    if (count == 2 && strcmp(arguments[1], "behave") == 0) code = behave();
    if (code == 2) fputs("usage: archives read FILE | archives write FOLDER | archives behave\n", stderr);
    [pool release];
    return code;
}
