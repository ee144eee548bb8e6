import { Menu, VisuallyHidden } from "@mantine/core";
import { IconBuilding, IconCheck, IconSelector } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAccounts, useChosenAccountId, useUser } from "../../session.tsx";
import classes from "./account-switcher.module.css";

const searchableFrom = 8;

/** Which account the pages are about; the operator may look at all of them at once. */
export function AccountSwitcher() {
  const user = useUser();
  const accounts = useAccounts();
  const chosen = useChosenAccountId();
  const navigate = useNavigate();
  const [wanted, setWanted] = useState("");
  const current = accounts.find(({ id }) => id === chosen);
  const label = current?.name ?? (user.is_operator ? "All accounts" : "Choose account");
  const shown = accounts.filter(({ name, id }) =>
    `${name} ${id}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  const open = (account: string) =>
    void navigate({ to: "/a/$account/overview", params: { account } });
  return (
    <Menu position="bottom-start" width={280} onClose={() => setWanted("")}>
      <Menu.Target>
        <button type="button" className={classes.target}>
          <VisuallyHidden>Account: </VisuallyHidden>
          <span className={classes.mark} aria-hidden="true">
            {current === undefined ? <IconBuilding size={14} /> : initial(current.name)}
          </span>
          <span className={classes.name}>{label}</span>
          <IconSelector size={14} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {accounts.length >= searchableFrom && (
          <Menu.Search
            aria-label="Search accounts"
            placeholder="Search accounts"
            value={wanted}
            onChange={(event) => setWanted(event.currentTarget.value)}
          />
        )}
        {user.is_operator && (
          <>
            <Menu.Item
              leftSection={<IconBuilding size={16} />}
              onClick={() => void navigate({ to: "/operator/overview" })}
            >
              All accounts
            </Menu.Item>
            <Menu.Divider />
          </>
        )}
        <div className={classes.list}>
          {shown.map(({ id, name, role }) => (
            <Menu.Item
              key={id}
              onClick={() => open(id)}
              leftSection={<span className={classes.mark}>{initial(name)}</span>}
              rightSection={id === chosen && <IconCheck size={16} />}
            >
              <span className={classes.item}>{name}</span>
              {!user.is_operator && <small className={classes.role}>{role}</small>}
            </Menu.Item>
          ))}
          {shown.length === 0 && <p className={classes.none}>No matches.</p>}
        </div>
      </Menu.Dropdown>
    </Menu>
  );
}

const initial = (name: string) => (name.trim()[0] ?? "?").toUpperCase();
