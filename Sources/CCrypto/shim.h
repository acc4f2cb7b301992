#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

// Whether the processor has instructions for AES. Without them a table of AES is slow, and tells keys by its timing.
static inline int crypto_has_aes(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
#elif defined(__aarch64__) && defined(__linux__)
    return (getauxval(AT_HWCAP) & (1 << 3)) != 0;
#else
    return 0;
#endif
}
