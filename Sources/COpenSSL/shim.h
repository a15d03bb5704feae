#pragma once

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Before OpenSSL 3.0.3, an HMAC context that is reinitialised without a key continues with the previous message.
#if OPENSSL_VERSION_NUMBER < 0x30000030L
#error "OpenSSL 3.0.3 or newer is needed"
#endif

// Functions that wrap OpenSSL's macros, because Swift does not import macros with arguments.

static inline int co_set_protocols(SSL_CTX *context, int lowest, int highest) {
  return SSL_CTX_set_min_proto_version(context, lowest) == 1 && SSL_CTX_set_max_proto_version(context, highest) == 1;
}
/// Makes connections free their buffers while these are empty. A write may send only a part of its bytes, and may be
/// repeated with the same bytes at another address.
static inline void co_set_modes(SSL_CTX *context) {
  SSL_CTX_set_mode(
    context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
/// Makes a read return after a record without application data. By default, the read continues with the next record
/// that has arrived.
static inline void co_set_no_auto_retry(SSL_CTX *context) { SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY); }
static inline void co_set_options(SSL_CTX *context) {
  SSL_CTX_set_options(
    context,
    SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
}
/// Makes a read take as many bytes from the socket as fit in the buffer, not only those of one record.
static inline void co_set_read_ahead(SSL_CTX *context) { SSL_CTX_set_read_ahead(context, 1); }
static inline int co_set_groups(SSL_CTX *context, const char *groups) {
  return (int)SSL_CTX_set1_groups_list(context, groups);
}
static inline void co_set_session_cache_off(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}
/// Passes new sessions to `callback`, which returns 1 if it takes over the reference.
static inline void co_set_client_sessions(SSL_CTX *context, int (*callback)(SSL *, SSL_SESSION *)) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
  SSL_CTX_sess_set_new_cb(context, callback);
}
static inline void co_set_server_name_callback(SSL_CTX *context, int (*callback)(SSL *, int *, void *)) {
  SSL_CTX_set_tlsext_servername_callback(context, callback);
}
/// Adds a certificate to the chain that is sent, and retains it.
static inline int co_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}
static inline int co_set_host_name(SSL *connection, const char *name) {
  return (int)SSL_set_tlsext_host_name(connection, name);
}
static inline void co_set_message_argument(SSL *connection, void *argument) {
  SSL_set_msg_callback_arg(connection, argument);
}
static inline void co_set_owner(SSL *connection, void *owner) { SSL_set_app_data(connection, owner); }
static inline void *co_owner(const SSL *connection) { return SSL_get_app_data(connection); }
/// Sets HMAC-SHA256 with this key. Written in C because the parameters contain pointers to C strings.
static inline int co_set_hmac_key(EVP_MAC_CTX *context, const unsigned char *key, size_t count) {
  OSSL_PARAM parameters[] = {
    OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)key, count),
    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
    OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_CTX_set_params(context, parameters);
}
/// Prints the subject in the format of RFC 4514; everything except printable ASCII is escaped.
static inline int co_print_subject(BIO *output, const X509 *certificate) {
  return X509_NAME_print_ex(output, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) >= 0;
}
static inline int co_name_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline GENERAL_NAME *co_name(const GENERAL_NAMES *names, int index) {
  return sk_GENERAL_NAME_value(names, index);
}
/// Returns the DNS name of a subject alternative name, or NULL for a name of another type.
static inline const ASN1_STRING *co_host_name(const GENERAL_NAME *name) {
  return name->type == GEN_DNS ? name->d.dNSName : NULL;
}
static inline void co_free_names(GENERAL_NAMES *names) { GENERAL_NAMES_free(names); }
