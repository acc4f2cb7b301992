#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Macros of OpenSSL, and callbacks, which Swift does not see.

// A key with a passphrase is refused: OpenSSL would ask for it at the terminal.
static inline int tls_no_passphrase(char *buffer, int size, int is_writing, void *data) {
    (void)buffer, (void)size, (void)is_writing, (void)data;
    return -1;
}

// The rules of every connection. Returns 1 for success.
static inline int tls_restrict(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_default_passwd_cb(context, tls_no_passphrase);
    return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

static inline int tls_send_server_name(SSL *session, const char *name) {
    return (int)SSL_set_tlsext_host_name(session, name);
}

static inline int tls_reason(unsigned long error) { return ERR_GET_REASON(error); }
