/**
 * Runs before the first paint, as a file of its own because the page's policy lets no inline
 * script run: the page never flashes in the other colors. It is no module: those wait.
 */
{
  const kept = localStorage.getItem("svc-color-scheme");
  const isDark =
    kept === "dark" || (kept !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light");
}
