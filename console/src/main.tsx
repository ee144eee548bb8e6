import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import "./styles/global.css";
import "./styles/utilities.css";
import { request } from "./api.ts";
import { browserSession } from "./browser-session.ts";
import { watchNetwork } from "./live/connection.ts";
import { createQueryClient, sessionKey } from "./queries.ts";
import { router } from "./router.tsx";
import { colorSchemeManager, cssVariables, styleNonce, theme } from "./theme.ts";

const container = document.getElementById("app");
if (container === null) throw new Error("The page has no root element.");
const client = createQueryClient();
watchNetwork();
// Beside the loading of the page, not after it.
void client.prefetchQuery({
  queryKey: sessionKey,
  queryFn: () => request("GET /api/session", {}),
});
// Another tab has signed in or out, perhaps as somebody else: nothing shown here may outlive that.
browserSession.onChange(() => void client.resetQueries());
createRoot(container).render(
  <MantineProvider
    theme={theme}
    cssVariablesResolver={cssVariables}
    colorSchemeManager={colorSchemeManager}
    defaultColorScheme="auto"
    getStyleNonce={() => styleNonce}
  >
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>,
);
