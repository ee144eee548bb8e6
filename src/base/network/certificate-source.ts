import type { Log } from "../log.ts";
import { Problem } from "../problem.ts";
import {
  type Certificate,
  type CertificateFiles,
  type CertificateTexts,
  readCertificate,
  readCertificateFiles,
  toCertificate,
} from "./certificate.ts";

/** What a listener needs of a certificate that can change while it listens. */
export interface ListenerCertificate {
  readonly current: Certificate;
  /** Called with each certificate that takes the place of another. */
  readonly listeners: Set<(next: Certificate) => void>;
}

export interface CertificateSourceOptions {
  readonly files: CertificateFiles;
  readonly log: Log;
  readonly nowMs: () => number;
  /** How often the files are looked at; 0: never by itself. */
  readonly everyMs?: number;
}

const usuallyEveryMs = 2_000;

/**
 * The certificate of this process, which follows its files. They are read again and again instead
 * of being watched: certbot and Kubernetes swap links in folders above, and network file systems
 * report nothing. The two files cannot be read at one instant, so a wrong pair counts only when it
 * is the same at the next look. It never replaces a certificate that works.
 */
export class CertificateSource implements ListenerCertificate {
  readonly listeners = new Set<(next: Certificate) => void>();
  readonly #options: CertificateSourceOptions;
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #current: Certificate;
  /** What was found wrong, and whether that was logged. */
  #wrong: { readonly state: string; isLogged: boolean } | undefined;

  /** Throws a Problem where the files cannot be used. */
  constructor(options: CertificateSourceOptions) {
    const { files, log, nowMs, everyMs = usuallyEveryMs } = options;
    this.#options = options;
    this.#current = readCertificate(files);
    const { expiresMs, startsMs } = this.#current;
    if (expiresMs <= nowMs())
      log.warn("the TLS certificate has expired; clients will refuse it until it is replaced", {
        file: files.certPath,
        expired: toTime(expiresMs),
      });
    else if (startsMs > nowMs())
      log.warn("the TLS certificate is not valid yet; check the clock", {
        file: files.certPath,
        valid_from: toTime(startsMs),
      });
    if (everyMs === 0) return;
    this.#timer = setInterval(() => this.look(), everyMs);
    this.#timer.unref();
  }

  get current(): Certificate {
    return this.#current;
  }

  /** Reads the files; a good pair that is a new one replaces the current. */
  look(): void {
    const { files, log, nowMs } = this.#options;
    const found = textsIn(files);
    if (!(found instanceof Problem) && isSame(found, this.#current)) {
      this.#wrong = undefined;
      return;
    }
    const next = found instanceof Problem ? found : checked(found, this.#options);
    if (next instanceof Problem)
      return this.#note(next, found instanceof Problem ? next.message : found.cert + found.key);
    const failure = this.#hand(next);
    if (failure !== undefined) return this.#note(failure, next.cert + next.key);
    this.#wrong = undefined;
    this.#current = next;
    log.info("the TLS certificate was replaced", {
      file: files.certPath,
      expires: toTime(next.expiresMs),
      ...(next.startsMs > nowMs() ? { valid_from: toTime(next.startsMs) } : {}),
    });
  }

  close(): void {
    clearInterval(this.#timer);
    this.listeners.clear();
  }

  /** One listener that fails keeps the old certificate current, so that the next look tries again. */
  #hand(next: Certificate): Problem | undefined {
    try {
      for (const listener of this.listeners) listener(next);
      return undefined;
    } catch (cause) {
      const message = `Cannot listen with the new certificate: ${String(cause)}.`;
      return new Problem({ code: "failed", message, cause });
    }
  }

  #note({ message }: Problem, content: string): void {
    const state = Bun.hash(content).toString();
    if (this.#wrong?.state !== state) {
      this.#wrong = { state, isLogged: false };
      return;
    }
    if (this.#wrong.isLogged) return;
    this.#wrong.isLogged = true;
    this.#options.log.warn("the TLS certificate on disk cannot be used; the old one stays", {
      reason: message,
    });
  }
}

function textsIn(files: CertificateFiles): CertificateTexts | Problem {
  try {
    return readCertificateFiles(files);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function checked(
  texts: CertificateTexts,
  { files, nowMs }: CertificateSourceOptions,
): Certificate | Problem {
  try {
    const next = toCertificate(texts, files);
    if (next.expiresMs > nowMs()) return next;
    const message = `SVC_TLS_CERT: the certificate in ${files.certPath} expired on ${toTime(next.expiresMs)}. Request a new one.`;
    return new Problem({ code: "invalid", message });
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

const isSame = (one: CertificateTexts, other: CertificateTexts) =>
  one.cert === other.cert && one.key === other.key;

const toTime = (ms: number) => new Date(ms).toISOString();
