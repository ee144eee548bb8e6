import { type CertificateTrouble, troubleOf } from "../../base/network/certificate-trouble.ts";
import type { Settings } from "../../config/settings.ts";
import { type Delivered, deliver } from "../../telemetry/otlp/delivery.ts";
import type { Checks } from "./checks.ts";

const askMs = 5_000;
/** An empty request for each signal, which OTLP allows. */
const bodies = {
  traces: '{"resourceSpans":[]}',
  metrics: '{"resourceMetrics":[]}',
  logs: '{"resourceLogs":[]}',
} as const;

/** Posts an empty request of each signal to the collector, as the gateway would. */
export async function checkTelemetry(checks: Checks, settings: Settings): Promise<void> {
  const { otlpUrl, otlpHeaders = {}, otlpCompression, otlpSignals } = settings;
  if (otlpUrl === undefined)
    return checks.skipped("No OpenTelemetry collector is set (SVC_OTLP_URL)");
  const { host } = new URL(otlpUrl);
  const answers = await Promise.all(
    otlpSignals.map(async (signal) => {
      const url = `${otlpUrl}/v1/${signal}`;
      const isCompressed = otlpCompression === "gzip";
      const to = { url, headers: otlpHeaders, isCompressed, timeoutMs: askMs };
      return { signal, answer: await deliver(to, bodies[signal]) };
    }),
  );
  const taken = answers.filter(({ answer }) => answer.kind === "taken");
  if (taken.length > 0)
    checks.ok(
      `The collector ${host} accepts ${taken.map(({ signal }) => signal).join(", ")} (no data was sent)`,
    );
  // One finding per cause: a collector that is off refuses all signals alike.
  const causes = Map.groupBy(
    answers.filter(({ answer }) => answer.kind !== "taken"),
    ({ answer }) => answer.reason,
  );
  for (const [reason, failed] of causes) {
    const [first] = failed;
    if (first === undefined) continue;
    const signals = failed.map(({ signal }) => signal).join(", ");
    checks.problem(
      `${signals} do not reach ${host}: ${reason}.`,
      `${adviceFor(first.answer)} Calls are served without it; what cannot be sent is dropped and counted.`,
    );
  }
}

const authorityAdvice =
  "For an authority of your own, set NODE_EXTRA_CA_CERTS to the file of its certificate.";

const certificateAdvice: Readonly<Record<CertificateTrouble, string>> = {
  expired: "Renew the certificate of the collector, and check the clock of this machine.",
  notYetValid: "Check the clock of this machine and of the collector.",
  otherName: "Use a host name in SVC_OTLP_URL for which the certificate of the collector is valid.",
  selfSigned: authorityAdvice,
  unknownAuthority: authorityAdvice,
};

function adviceFor(answer: Delivered): string {
  if (answer.kind === "taken") return "";
  const { status, code = "" } = answer;
  if (status === undefined) {
    const trouble = troubleOf(code);
    return trouble === undefined
      ? "Start the collector, or correct host and port of SVC_OTLP_URL (OTLP over HTTP usually has port 4318, gRPC 4317)."
      : certificateAdvice[trouble];
  }
  if (status === 401 || status === 403)
    return "Set what the collector asks for in SVC_OTLP_HEADERS.";
  if (status === 404 || status === 405 || (status >= 300 && status < 400))
    return "Correct the path of SVC_OTLP_URL, to which /v1/traces and the like are added, or leave out the signal in SVC_OTLP_SIGNALS.";
  return "See the log of the collector: it answers, but cannot take data.";
}
