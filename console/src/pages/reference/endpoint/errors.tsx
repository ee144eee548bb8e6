import type { Endpoint } from "../document.ts";
import classes from "./endpoint.module.css";
import { Words } from "./words.tsx";

interface Refused {
  readonly status: string;
  readonly code: string | undefined;
  readonly when: string;
}

/** The platform's own: the same for all of its endpoints. */
const ofPlatform: readonly Refused[] = [
  { status: "400", code: "invalid", when: "Something in the request is wrong; `field` names it." },
  { status: "401", code: "not_signed_in", when: "Neither a session nor a token came with it." },
  {
    status: "403",
    code: "not_allowed",
    when: "The role, or the scopes of the token, are too small.",
  },
  { status: "403", code: "wrong_origin", when: "A page of another site asked for a change." },
  { status: "404", code: "not_found", when: "It is not there, or not yours to see." },
  { status: "409", code: "conflict", when: "It does not go with what is there already." },
  {
    status: "429",
    code: "too_many_tries",
    when: "Too many failed sign-ins; `retry-after` says how long.",
  },
  { status: "503", code: "busy", when: "Not now; the same request may work in a moment." },
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

/** The code of its example is the one that is met most. */
function ofDocument({ replies }: Endpoint): readonly Refused[] {
  return replies
    .filter(({ status }) => !status.startsWith("2"))
    .map(({ status, description, contents }) => ({
      status: status === "default" ? "other" : status,
      // Of the others there are many: their example is but one of them.
      code: status === "default" ? undefined : codeOf(contents[0]?.example),
      when:
        status === "default"
          ? "400 for what is wrong in the request (`param` names the field), 404, 405, 413, 415 for what cannot be read, 502, 503, 504 when nobody could answer; `code` says which."
          : description,
    }));
}

function codeOf(example: unknown): string | undefined {
  const { error } = (example ?? {}) as { readonly error?: { readonly code?: string } };
  return error?.code;
}
