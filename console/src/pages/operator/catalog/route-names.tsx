import type { Reply } from "../../../api.ts";
import { ServingBadge } from "../../../components/table/model-state.tsx";
import classes from "./page.module.css";

type Route = Reply<"GET /api/catalog">[number]["routes"][number];

/** Who is asked, in this order; only what is not well says more. */
export function RouteNames({ routes }: { readonly routes: readonly Route[] }) {
  if (routes.length === 0) return <span className={classes.words}>None</span>;
  const sorted = routes.toSorted((one, other) => one.priority - other.priority);
  const shown = sorted.slice(0, 3);
  return (
    <span className={classes.routes}>
      {shown.map((route) => (
        <span key={`${route.provider}/${route.model}`} className={classes.route}>
          <code>
            {route.provider}/{route.model}
          </code>
          <RouteState route={route} />
        </span>
      ))}
      {sorted.length > shown.length && (
        <span className={classes.words}>and {sorted.length - shown.length} more</span>
      )}
    </span>
  );
}

function RouteState({ route }: { readonly route: Route }) {
  // The state of the model says the rest.
  return route.state === "failing" || route.state === "paused" ? (
    <ServingBadge state={route.state} />
  ) : null;
}
