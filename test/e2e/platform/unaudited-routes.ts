/** They only look, or begin what another route completes. */
const reading = [
  "POST /api/invites/look",
  "POST /api/session/oidc",
  "POST /api/session/passkey-options",
  "POST /api/me/identity",
  "POST /api/me/verify/passkey",
  "POST /api/me/totp/setup",
  "POST /api/me/passkeys/setup",
];
/** They need a database that several nodes share; see src/platform/nodes/routes.test.ts. */
const ofNodes = ["POST /api/nodes/:name/drain", "POST /api/nodes/:name/resume"];

/** It is answered before it does anything; see src/platform/mail/routes.test.ts. */
const answeredFirst = ["POST /api/session/forgot"];

/** Its body is a form; see test/e2e/oidc/back-channel.test.ts. */
const ofProviders = ["POST /api/session/oidc/back-channel"];

export const unaudited: readonly string[] = [
  ...reading,
  ...answeredFirst,
  ...ofNodes,
  ...ofProviders,
];
