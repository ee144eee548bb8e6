/** Why a program rejects the certificate of a server, by the error codes of the runtime and of TLS. */
export const certificateTrouble = {
  expired: /CERT_HAS_EXPIRED/,
  notYetValid: /CERT_NOT_YET_VALID/,
  otherName: /ERR_TLS_CERT_ALTNAME_INVALID/,
  selfSigned: /SELF_SIGNED_CERT/,
  unknownAuthority:
    /UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|CERT_(UNTRUSTED|REJECTED|SIGNATURE_FAILURE|CHAIN)|ISSUER_MISMATCH/,
} as const;

export type CertificateTrouble = keyof typeof certificateTrouble;

const kinds: readonly CertificateTrouble[] = [
  "expired",
  "notYetValid",
  "otherName",
  "selfSigned",
  "unknownAuthority",
];

/** Undefined if the certificate is not the reason. */
export function troubleOf(code: string): CertificateTrouble | undefined {
  return kinds.find((kind) => certificateTrouble[kind].test(code));
}
