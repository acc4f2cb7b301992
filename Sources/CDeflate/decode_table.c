#include "decode_table.h"

#include <string.h>

/// The next code of as many bits, the first bit lowest: adds one at the highest of them, and carries down.
static inline unsigned next_code(unsigned code, unsigned length) {
    unsigned zeros = code ^ ((1u << length) - 1);
    // After the last code there is none.
    if (zeros == 0) return 0;
    unsigned carry = 1u << (31 - (unsigned)__builtin_clz(zeros));
    return (code & (carry - 1)) | carry;
}

/// How many bits the places of a subtable have that begins with a code of `length` bits, `bits` of them the table's.
static unsigned subtable_bits(const uint16_t *left, unsigned length, unsigned longest, unsigned bits) {
    int room = 1 << (length - bits);
    while (length < longest && (room -= left[length]) > 0) {
        room <<= 1;
        length++;
    }
    return length - bits;
}

unsigned decode_table_make(
    uint32_t *table, unsigned most_bits, const uint32_t *entries, const uint8_t *lengths, unsigned count,
    bool may_be_partial) {
    // Most symbols have no code.
    uint16_t used[ALL_LITERAL_SYMBOLS], symbols[ALL_LITERAL_SYMBOLS];
    unsigned used_count = 0;
    for (unsigned symbol = 0; symbol < count; symbol++) {
        used[used_count] = (uint16_t)symbol;
        used_count += lengths[symbol] != 0;
    }
    uint16_t numbers[LONGEST_CODE + 1] = {0};
    for (unsigned index = 0; index < used_count; index++) numbers[lengths[used[index]]]++;
    unsigned longest = LONGEST_CODE;
    while (longest > 1 && numbers[longest] == 0) longest--;
    int room = 1;
    unsigned places[LONGEST_CODE + 2];
    places[1] = 0;
    for (unsigned length = 1; length <= longest; length++) {
        room = 2 * room - numbers[length];
        if (room < 0) return 0;
        places[length + 1] = places[length] + numbers[length];
    }
    if (room > 0 && (!may_be_partial || longest > 1)) return 0;
    for (unsigned index = 0; index < used_count; index++) symbols[places[lengths[used[index]]]++] = used[index];

    // The table for codes of so many bits is the one for a bit less, twice, with the codes of this length.
    unsigned bits = longest < most_bits ? longest : most_bits;
    const uint16_t *next = symbols;
    unsigned code = 0;
    table[0] = SPECIAL_ENTRY;
    for (unsigned length = 1; length <= bits; length++) {
        unsigned half = 1u << (length - 1);
        memcpy(table + half, table, half * sizeof table[0]);
        for (unsigned left = numbers[length]; left > 0; left--) {
            table[code] = entries[*next++] + length * 0x101;
            code = next_code(code, length);
        }
    }
    // Longer codes are complete, so each subtable is filled before the next one begins.
    unsigned prefix = ~0u, start = 0, end = 1u << bits;
    for (unsigned length = bits + 1; length <= longest; length++) {
        while (numbers[length] > 0) {
            if ((code & ((1u << bits) - 1)) != prefix) {
                prefix = (code & ((1u << bits) - 1));
                unsigned places = subtable_bits(numbers, length, longest, bits);
                start = end;
                end += 1u << places;
                table[prefix] = SPECIAL_ENTRY | SUBTABLE_ENTRY | start << 16 | places << 8 | bits;
            }
            uint32_t entry = entries[*next++] + (length - bits) * 0x101;
            for (unsigned place = start + (code >> bits); place < end; place += 1u << (length - bits)) table[place] = entry;
            numbers[length]--;
            code = next_code(code, length);
        }
    }
    return bits;
}

uint32_t literal_entries[ALL_LITERAL_SYMBOLS], distance_entries[ALL_DISTANCE_SYMBOLS];
uint32_t header_entries[HEADER_SYMBOLS];
decode_tables fixed_tables;

// Before anything can call the functions that need them, so no thread sees them incomplete.
__attribute__((constructor)) static void make_fixed_tables(void) {
    for (unsigned symbol = 0; symbol < ALL_LITERAL_SYMBOLS; symbol++) {
        uint32_t entry = SPECIAL_ENTRY;
        if (symbol < END_OF_BLOCK) entry = LITERAL_ENTRY | symbol << 16;
        if (symbol == END_OF_BLOCK) entry = SPECIAL_ENTRY | END_ENTRY;
        if (symbol > END_OF_BLOCK && symbol < LITERAL_SYMBOLS) {
            entry = (uint32_t)length_base[symbol - 257] << 16 | length_bits[symbol - 257];
        }
        literal_entries[symbol] = entry;
    }
    for (unsigned symbol = 0; symbol < ALL_DISTANCE_SYMBOLS; symbol++) {
        distance_entries[symbol] =
            symbol < DISTANCE_SYMBOLS ? (uint32_t)distance_base[symbol] << 16 | distance_bits[symbol] : SPECIAL_ENTRY;
    }
    for (unsigned symbol = 0; symbol < HEADER_SYMBOLS; symbol++) header_entries[symbol] = symbol << 16;

    uint8_t lengths[ALL_LITERAL_SYMBOLS];
    for (unsigned symbol = 0; symbol < ALL_LITERAL_SYMBOLS; symbol++) {
        lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
    }
    fixed_tables.literal_bits = decode_table_make(
        fixed_tables.literals, LITERAL_BITS, literal_entries, lengths, ALL_LITERAL_SYMBOLS, false);
    memset(lengths, 5, ALL_DISTANCE_SYMBOLS);
    fixed_tables.distance_bits = decode_table_make(
        fixed_tables.distances, DISTANCE_BITS, distance_entries, lengths, ALL_DISTANCE_SYMBOLS, false);
}
