/** The gateway without a record of refused calls: it differs in this alone. */
import { serve } from "../gateway/serve.ts";

await serve({ rejections: { add() {} } });
