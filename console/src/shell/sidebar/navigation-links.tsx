import { Link } from "@tanstack/react-router";
import { Logo } from "../../components/layout/logo.tsx";
import { useChosenAccountId, useSession } from "../../session.tsx";
import { placesFor } from "./navigation.ts";
import classes from "./sidebar.module.css";

export function Brand() {
  return (
    <Link to="/" className={classes.brand}>
      <Logo size={24} />
      svc gateway
    </Link>
  );
}

/** Everywhere one can go, in groups. */
export function Places() {
  const { user, version } = useSession();
  const groups = placesFor(user, useChosenAccountId());
  return (
    <div className={classes.places}>
      {groups.map(({ label, places }) => (
        <section key={label} aria-label={label}>
          <h2 className={classes.group}>{label}</h2>
          <ul>
            {places.map(({ to, icon: PageIcon, label }) => (
              <li key={to}>
                <Link to={to} className={classes.place} activeProps={{ "aria-current": "page" }}>
                  <PageIcon size={17} />
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <p className={classes.version}>Version {version}</p>
    </div>
  );
}
