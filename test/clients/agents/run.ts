/** The test file that `npm run test:clients` has Bun run; `npm test` does not find it by its name. */

import { agents } from "./agents.ts";
import { agentSuite } from "./suite.ts";

for (const agent of agents) agentSuite(agent);
