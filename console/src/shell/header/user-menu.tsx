import { Menu, VisuallyHidden } from "@mantine/core";
import { IconLogout, IconUser } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { sessionKey, useChange } from "../../queries.ts";
import { useUser } from "../../session.tsx";
import classes from "./user-menu.module.css";

export function UserMenu() {
  const { name, email } = useUser();
  const navigate = useNavigate();
  const client = useQueryClient();
  const leave = useChange("DELETE /api/session", {
    onDone: ({ provider_url: url }) => {
      client.setQueryData(sessionKey, (old: object) => ({ ...old, user: null }));
      // Nothing that was seen stays in this tab for whoever signs in next.
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
      sessionStorage.clear();
      if (url === null) void navigate({ to: "/sign-in", search: {} });
      else location.assign(url);
    },
  });
  const initials = (name === "" ? email : name)
    .split(/[\s.@]+/)
    .slice(0, 2)
    .map((word) => word[0] ?? "")
    .join("")
    .toUpperCase();
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <button type="button" className={classes.target}>
          <VisuallyHidden>You: {name === "" ? email : name}</VisuallyHidden>
          <span aria-hidden="true">{initials}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={classes.who}>
          <strong>{name}</strong>
          <span>{email}</span>
        </div>
        <Menu.Divider />
        <Menu.Item component={Link} to="/me" leftSection={<IconUser size={16} />}>
          My profile
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => leave.mutate(undefined)}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
