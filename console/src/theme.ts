import {
  type CSSVariablesResolver,
  createTheme,
  localStorageColorSchemeManager,
  type MantineColorsTuple,
} from "@mantine/core";

const lagoon: MantineColorsTuple = [
  "#e9f7f7",
  "#d2eeef",
  "#a6dde0",
  "#76cacf",
  "#4cb8bf",
  "#27a0a8",
  "#0f7d87",
  "#0b6d76",
  "#0a5961",
  "#08464d",
];
const red: MantineColorsTuple = [
  "#fdf0ef",
  "#fbdedd",
  "#f5bbb9",
  "#ef9693",
  "#e97370",
  "#dd514e",
  "#c93434",
  "#b42323",
  "#971b1b",
  "#7a1515",
];
const gray: MantineColorsTuple = [
  "#f6f8f8",
  "#eff2f2",
  "#e5e9e9",
  "#d9dede",
  "#c8cfcf",
  "#a4adae",
  "#5d6769",
  "#474f51",
  "#2d3435",
  "#171b1c",
];
const dark: MantineColorsTuple = [
  "#e2e8e8",
  "#c0c9ca",
  "#9aa5a7",
  "#788486",
  "#2c3436",
  "#222a2b",
  "#1a2021",
  "#141819",
  "#0d1011",
  "#080a0b",
];

export const theme = createTheme({
  respectReducedMotion: true,
  colors: { lagoon, red, gray, dark },
  primaryColor: "lagoon",
  // White letters have contrast enough on either.
  primaryShade: { light: 7, dark: 6 },
  defaultRadius: "md",
  radius: { xs: "4px", sm: "6px", md: "8px", lg: "12px", xl: "16px" },
  fontFamily:
    'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Open Sans", sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", SFMono-Regular, Menlo, "Cascadia Mono", "DejaVu Sans Mono", Consolas, monospace',
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  headings: { fontWeight: "620" },
  cursorType: "pointer",
  focusRing: "auto",
  components: {
    Button: { defaultProps: { size: "sm" } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } },
    Modal: {
      defaultProps: {
        centered: true,
        radius: "lg",
        overlayProps: { backgroundOpacity: 0.4 },
        closeButtonProps: { "aria-label": "Close" },
      },
    },
    Fieldset: { defaultProps: { mx: 0 }, styles: { legend: { fontWeight: 550 } } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false } },
    // Its placeholder for the first focus is an element that no menu may have.
    Menu: { defaultProps: { shadow: "md", radius: "md", withInitialFocusPlaceholder: false } },
  },
});

/** What the components of the library read; our own are in styles/global.css. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-text": "#171b1c",
    "--mantine-color-body": "#ffffff",
    "--mantine-color-dimmed": "#5d6769",
    "--mantine-color-placeholder": "#6c7678",
    "--mantine-color-default-border": "#d9dede",
    "--mantine-color-anchor": "#0b6d76",
    "--mantine-color-error": "#b42323",
  },
  dark: {
    "--mantine-color-text": "#e2e8e8",
    "--mantine-color-body": "#141819",
    "--mantine-color-dimmed": "#9aa5a7",
    "--mantine-color-placeholder": "#8b9698",
    "--mantine-color-default-border": "#2c3436",
    "--mantine-color-anchor": "#76cacf",
    "--mantine-color-error": "#ff8f87",
  },
});

export const colorSchemeManager = localStorageColorSchemeManager({ key: "svc-color-scheme" });

/** The page's policy lets in only style elements that carry it. */
export const styleNonce =
  document.querySelector<HTMLMetaElement>("meta[name=nonce]")?.content ?? "";

// Where the scroll lock of modals and menus looks for it.
Object.assign(globalThis, { __webpack_nonce__: styleNonce });
