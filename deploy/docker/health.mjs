/**
 * The health check of the image, which has no curl: exits with 0 if the gateway is ready for calls.
 * For another address, pass it: health.mjs http://127.0.0.1:8081/healthz
 */
const { SVC_PORT: port, SVC_TLS_CERT: certificate } = process.env;
const origin = `${certificate ? "https" : "http"}://127.0.0.1:${port || "8080"}`;
const address = process.argv[2] ?? `${origin}/readyz`;
try {
  // The certificate is for the public name, not for this address of the container itself.
  const { ok, status } = await fetch(address, {
    signal: AbortSignal.timeout(4_000),
    tls: { rejectUnauthorized: false },
  });
  process.stdout.write(`${address}: ${status}\n`);
  process.exit(ok ? 0 : 1);
} catch (error) {
  process.stdout.write(`${address}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
