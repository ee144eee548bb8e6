import { Drawer } from "@mantine/core";
import { Brand, NavigationLinks } from "./navigation-links.tsx";

interface SidebarDrawerProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The sidebar where there is no room for one. */
export function SidebarDrawer({ isOpen, onClose }: SidebarDrawerProps) {
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      size={280}
      // Its links lead to the page's title, and closing it back to its button: see the frame.
      returnFocus={false}
      title={<Brand />}
      closeButtonProps={{ "aria-label": "Close menu" }}
    >
      <nav aria-label="Pages">
        <NavigationLinks />
      </nav>
    </Drawer>
  );
}
