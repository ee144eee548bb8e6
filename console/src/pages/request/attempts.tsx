import { Panel } from "../../components/layout/panel.tsx";
import { OutcomeBadge } from "../../components/table/state-badge.tsx";
import { providerName } from "../../format/provider-name.ts";
import classes from "./page.module.css";
import type { Receipt } from "./receipt.ts";

type Attempt = Receipt["attempts"][number];

/** Who was asked, in their order; operators see by which provider. */
export function Attempts({ receipt }: { readonly receipt: Receipt }) {
  const { attempts } = receipt;
  return (
    <Panel title="Attempts" about={aboutOf(attempts.length)}>
      {attempts.length > 0 && (
        <ol className={classes.attempts} aria-label="Attempts">
          {attempts.map((attempt) => (
            <li key={attempt.number}>
              <span className={classes.number}>{attempt.number}</span>
              <Target attempt={attempt} />
              <OutcomeBadge outcome={attempt.outcome} words={attempt.outcome_words} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function aboutOf(count: number): string {
  if (count === 0) return "No provider was called.";
  return count === 1 ? "1 attempt." : `${count} attempts, in order.`;
}

function Target({ attempt }: { readonly attempt: Attempt }) {
  const { provider, model, key, detail } = attempt;
  // Members do not see the provider.
  if (provider === undefined) return null;
  return (
    <div className={classes.attempt}>
      <p>
        {provider === null ? (
          "No target available"
        ) : (
          <>
            <strong>{providerName(provider)}</strong> <code>{model}</code>
            {typeof key === "string" && <span className="soft small"> Key {key}</span>}
          </>
        )}
      </p>
      {typeof detail === "string" && <p className="soft small">{detail}</p>}
    </div>
  );
}
