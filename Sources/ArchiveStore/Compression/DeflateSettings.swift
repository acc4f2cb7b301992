import CZlib

/// How hard, and with how much memory, an input of some size is deflated.
///
/// Chosen from figures for keyed archives: µs, then bytes left; streams reused; zlib 1.2.13, a 2-vCPU
/// machine.
///
///     level window memory | 262 B     1,015 B    2 KiB         4 KiB         10,151 B     101,727 B
///       1     2^12   5    | 4.7 232   11.7 882   17.8 1,442    33.7 2,838    137 7,444    1,876 58,390
///       1     2^15   8    | 5.0 232   12.0 882   17.6 1,442    24.4 2,800     50 7,585    1,200 61,381
///       1     2^15   9    |                      18.2 1,442    25.2 2,800     51 7,580    1,092 60,008
///       3     2^15   8    | 5.0 232   12.0 882                                55 7,569    1,920 67,036
///       6     2^15   8    | 5.3 232   13.0 881                                63 7,534    3,911 66,036
///       9     2^15   8    | 5.3 232   12.8 881                                66 7,534    5,807 66,032
///
/// So level 1 unless another one is asked for: higher levels save under 1 %, if anything. Level 1 itself is that of own
/// code, ``OwnDeflater``. The small window costs no bytes on small input, and a stream takes 32 KiB instead of 384 KiB;
/// deflating 1 KiB with a fresh stream takes 15 µs against 55 µs, for the moments when the pool is empty.
struct DeflateSettings {
    let level: Int32
    /// Negative, for streams without zlib's header and trailer: see `StreamOfRuns`.
    let windowBits: Int32
    let memoryLevel: Int32

    static func small(level: Int) -> DeflateSettings {
        DeflateSettings(level: Int32(level), windowBits: -12, memoryLevel: 5)
    }

    static func large(level: Int) -> DeflateSettings {
        DeflateSettings(level: Int32(level), windowBits: -15, memoryLevel: 9)
    }

    /// Inputs of up to this many bytes are deflated with `small`.
    static let largestSmallInput = 2048
}
