interface PageHeaderOptions {
  /** Of this one reply: style elements without it are not let in. */
  readonly nonce: string;
  /** The gateway, which the playground calls like any client. */
  readonly gatewayUrl: string;
  readonly isHttps: boolean;
}

/** What the browser is told to forbid the console's pages: all that they do not need. */
export function pageHeaders(options: PageHeaderOptions): Readonly<Record<string, string>> {
  const { nonce, gatewayUrl, isHttps } = options;
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src blob: data:",
    "font-src 'self'",
    `connect-src 'self' ${new URL(gatewayUrl).origin}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ];
  return {
    "cache-control": "no-store",
    "content-security-policy": policy.join("; "),
    "content-type": "text/html; charset=utf-8",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    ...(isHttps ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
}
