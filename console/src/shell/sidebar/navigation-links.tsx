import { Link } from "@tanstack/react-router";
import { Logo } from "../../components/layout/logo.tsx";
import { useChosenAccountId, useSession } from "../../session.tsx";
import { navigationFor } from "./navigation.ts";
import classes from "./sidebar.module.css";

export function Brand() {
  return (
    <Link to="/" className={classes.brand}>
      <Logo size={24} />
      svc gateway
    </Link>
  );
}

/** Links to all pages, in groups. */
export function NavigationLinks() {
  const { user, version } = useSession();
  const groups = navigationFor(user, useChosenAccountId());
  return (
    <div className={classes.links}>
      {groups.map(({ label, links }) => (
        <section key={label} aria-label={label}>
          <h2 className={classes.group}>{label}</h2>
          <ul>
            {links.map(({ to, icon: PageIcon, label }) => (
              <li key={to}>
                <Link to={to} className={classes.link} activeProps={{ "aria-current": "page" }}>
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
