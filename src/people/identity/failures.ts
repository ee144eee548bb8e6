import { Problem } from "../../base/problem.ts";

/** Nobody was signed in, because of what the identity provider answered. */
export class IdentityRefused extends Problem {
  /** For the log. */
  readonly detail: string;

  constructor(reason: string, detail: string, options: { readonly cause?: unknown } = {}) {
    super({
      code: "invalid",
      message: `Sign-in was refused by this platform. The identity provider answered, but ${reason}.`,
      cause: options.cause,
    });
    this.detail = detail;
  }
}

/** The provider signed in somebody who may not enter. */
export class IdentityNotAllowed extends Problem {
  constructor(message: string) {
    super({ code: "conflict", message });
  }
}

/** The provider did not answer, or not in a way that can be used. */
export class IdentityUnavailable extends Problem {
  readonly detail: string;

  constructor(name: string, detail: string, cause?: unknown) {
    super({
      code: "busy",
      message: `${name} does not respond correctly. Try again in a minute; if it stays like this, an operator can run svc doctor.`,
      cause,
    });
    this.detail = detail;
  }
}
