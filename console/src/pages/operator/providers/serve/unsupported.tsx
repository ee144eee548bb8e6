import classes from "./serve.module.css";

/** Models of the vendor that cannot be called here. */
export function Unsupported({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <details className={classes["unsupported"]}>
      <summary>{names.length} not supported</summary>
      {/* A scrolling region must be reachable by keyboard. */}
      <ul tabIndex={0} aria-label="Models that are not supported">
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </details>
  );
}

const mostNamed = 3;

/** Says that nothing was found, and what is not supported of what was searched for. */
export function NoMatch({ unsupported }: { readonly unsupported: readonly string[] }) {
  const named = unsupported.slice(0, mostNamed).join(", ");
  const more = unsupported.length - mostNamed;
  return (
    <p className={classes["none"]}>
      No models match.
      {named !== "" && ` Not supported: ${named}${more > 0 ? ` and ${more} more` : ""}.`}
    </p>
  );
}
