import { setDefaultTimeout } from "bun:test";
import { callChecks } from "./openai/calls.ts";
import { chatChecks } from "./openai/chat.ts";
import { completionChecks } from "./openai/completions.ts";
import { embeddingChecks } from "./openai/embeddings.ts";
import { errorChecks } from "./openai/errors.ts";
import { retryChecks } from "./openai/retries.ts";
import { speechAndModelChecks } from "./openai/speech-and-models.ts";
import { streamChecks } from "./openai/streams.ts";
import { structureChecks, toolChecks } from "./openai/tools.ts";
import { openStage } from "./stage.ts";
import { clientSuite } from "./suite.ts";

setDefaultTimeout(60_000);

clientSuite("openai", (check) => {
  const stage = openStage();
  for (const define of [
    chatChecks,
    streamChecks,
    toolChecks,
    structureChecks,
    completionChecks,
    embeddingChecks,
    speechAndModelChecks,
    callChecks,
    errorChecks,
    retryChecks,
  ])
    define(check, stage);
});
