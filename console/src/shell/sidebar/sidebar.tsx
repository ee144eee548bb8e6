import { useMediaQuery } from "@mantine/hooks";
import { lazyDialog } from "../lazy-dialog.tsx";
import { Brand, NavigationLinks } from "./navigation-links.tsx";
import classes from "./sidebar.module.css";

interface SidebarProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

const SidebarDrawer = lazyDialog<SidebarProps>(
  async () => (await import("./sidebar-drawer.tsx")).SidebarDrawer,
);

/** On a narrow screen it is a drawer that the header's button opens. */
export function Sidebar({ isOpen, onClose }: SidebarProps) {
  const isNarrow = useMediaQuery("(max-width: 960px)", undefined, {
    getInitialValueInEffect: false,
  });
  if (isNarrow === true) return <SidebarDrawer isOpen={isOpen} onClose={onClose} />;
  return (
    <nav aria-label="Pages" className={classes.sidebar}>
      <Brand />
      <NavigationLinks />
    </nav>
  );
}
