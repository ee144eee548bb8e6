import { accountRoutes } from "./accounts/routes.ts";
import { auditRoutes } from "./audit/routes.ts";
import { billingRoutes } from "./billing/routes.ts";
import { changeRoutes } from "./changes/routes.ts";
import { engineRoutes } from "./engine/routes.ts";
import { factorRoutes } from "./factors/routes.ts";
import { identityRoutes } from "./identity/routes.ts";
import { allKeyRoutes } from "./keys/all-routes.ts";
import { keyRoutes } from "./keys/routes.ts";
import { liveRoutes } from "./live/routes.ts";
import { memberRoutes } from "./members/routes.ts";
import { modelRoutes } from "./models/routes.ts";
import { nodeRoutes } from "./nodes/routes.ts";
import { peopleRoutes } from "./people/routes.ts";
import { playgroundRoutes } from "./playground/routes.ts";
import { priceRoutes } from "./prices/routes.ts";
import { providerRoutes } from "./providers/routes.ts";
import { rejectionRoutes } from "./rejections/routes.ts";
import { marginRoutes } from "./reports/routes.ts";
import { requestRoutes } from "./requests/routes.ts";
import { responseRoutes } from "./responses/routes.ts";
import { searchRoutes } from "./search/routes.ts";
import { sessionRoutes } from "./session/routes.ts";
import { settingsRoutes } from "./settings/routes.ts";
import { setupRoutes } from "./setup/routes.ts";
import { tokenRoutes } from "./tokens/routes.ts";
import { usageRoutes } from "./usage/routes.ts";
import { viewRoutes } from "./views/routes.ts";

/** Everything that the platform's API answers. */
export const routes = [
  ...sessionRoutes,
  ...factorRoutes,
  ...identityRoutes,
  ...viewRoutes,
  ...memberRoutes,
  ...billingRoutes,
  ...modelRoutes,
  ...keyRoutes,
  ...allKeyRoutes,
  ...usageRoutes,
  ...requestRoutes,
  ...rejectionRoutes,
  ...liveRoutes,
  ...tokenRoutes,
  ...auditRoutes,
  ...accountRoutes,
  ...responseRoutes,
  ...peopleRoutes,
  ...marginRoutes,
  ...settingsRoutes,
  ...nodeRoutes,
  ...changeRoutes,
  ...playgroundRoutes,
  ...engineRoutes,
  ...priceRoutes,
  ...providerRoutes,
  ...searchRoutes,
  ...setupRoutes,
] as const;

type AnyRoute = (typeof routes)[number];

/** By name, for clients that are typed by it. */
export type Api = { readonly [Each in AnyRoute as Each["name"]]: Each };
