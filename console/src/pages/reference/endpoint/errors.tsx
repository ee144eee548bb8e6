import type { Endpoint } from "../document.ts";
import classes from "./endpoint.module.css";
import { Words } from "./words.tsx";

interface Refused {
  readonly status: string;
  readonly code: string | undefined;
  readonly when: string;
}

/** The same for all endpoints of the platform. */
const ofPlatform: readonly Refused[] = [
  { status: "400", code: "invalid", when: "The request is invalid. `field` names the field." },
  { status: "401", code: "not_signed_in", when: "The request has no valid session or token." },
  {
    status: "403",
    code: "not_allowed",
    when: "The role or the token's scopes do not allow this.",
  },
  { status: "403", code: "wrong_origin", when: "The request comes from a page on another site." },
  {
    status: "404",
    code: "not_found",
    when: "The resource does not exist or you have no access to it.",
  },
  { status: "409", code: "conflict", when: "The request conflicts with the current state." },
  {
    status: "429",
    code: "too_many_tries",
    when: "Too many failed sign-ins. Wait for the time in `retry-after`.",
  },
  { status: "503", code: "busy", when: "The server is busy. Try again in a moment." },
];

export function Errors({ endpoint }: { readonly endpoint: Endpoint }) {
  const errors = endpoint.api === "platform" ? ofPlatform : ofDocument(endpoint);
  if (errors.length === 0) return null;
  return (
    <section className={classes.last}>
      <h3>Errors</h3>
      <table className={classes.errors} aria-label="Errors">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Code</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {errors.map(({ status, code, when }) => (
            <tr key={`${status} ${code}`}>
              <th scope="row">{status}</th>
              <td>{code !== undefined && <code>{code}</code>}</td>
              <td>
                <Words text={when} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The example shows the most common code. */
function ofDocument({ replies }: Endpoint): readonly Refused[] {
  return replies
    .filter(({ status }) => !status.startsWith("2"))
    .map(({ status, description, contents }) => ({
      status: status === "default" ? "other" : status,
      // The default reply covers many codes, and its example is only one of them.
      code: status === "default" ? undefined : codeOf(contents[0]?.example),
      when:
        status === "default"
          ? "400, 404, 405, 413 or 415 for an invalid request (`param` names the field). 5xx if the gateway or the provider failed. See `code`."
          : description,
    }));
}

function codeOf(example: unknown): string | undefined {
  const { error } = (example ?? {}) as { readonly error?: { readonly code?: string } };
  return error?.code;
}
