import { Button, Menu } from "@mantine/core";
import { IconBookmark, IconPlus, IconSettings } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../../queries.ts";
import { useSearchText } from "../../search.ts";
import { lazyDialog } from "../../shell/lazy-dialog.tsx";
import { type SavedView, searchOf, toSearchText } from "./search-text.ts";
import type { ViewDialogProps } from "./view-dialogs.tsx";

const ViewDialogs = lazyDialog<ViewDialogProps>(
  async () => (await import("./view-dialogs.tsx")).ViewDialogs,
);

interface SavedViewsProps {
  readonly page: SavedView["page"];
  /** Undefined where the page shows all accounts. */
  readonly account: string | undefined;
  /** As the buttons beside it. */
  readonly size?: "xs" | "sm";
}

/** The filters of this page that one has saved: opens them, and saves those on screen. */
export function SavedViews({ page, account, size = "xs" }: SavedViewsProps) {
  const views = useApi("GET /api/me/views");
  const [search] = useSearchText();
  const navigate = useNavigate();
  const [open, setOpen] = useState<"save" | "manage">();
  const own = (views.data ?? []).filter(
    (view) => view.page === page && view.account === (account ?? null),
  );
  const present = toSearchText(search);
  const current = own.find((view) => view.search === present);
  return (
    <>
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <Button size={size} variant="default" leftSection={<IconBookmark size={14} />}>
            {current?.name ?? "Views"}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {own.length === 0 && <Menu.Label>No saved views yet</Menu.Label>}
          {own.map((view) => (
            <Menu.Item
              key={view.id}
              aria-current={view === current || undefined}
              onClick={() => void navigate({ to: ".", search: searchOf(view.search) })}
            >
              <span className="anywhere">{view.name}</span>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<IconPlus size={14} />} onClick={() => setOpen("save")}>
            Save current view
          </Menu.Item>
          {own.length > 0 && (
            <Menu.Item leftSection={<IconSettings size={14} />} onClick={() => setOpen("manage")}>
              Manage views
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <ViewDialogs
        isOpen={open !== undefined}
        open={open}
        onClose={() => setOpen(undefined)}
        target={{ page, account, search: present }}
        views={own}
      />
    </>
  );
}
