import { setDefaultTimeout } from "bun:test";
import { chatClientChecks } from "./chat-client.ts";
import { callChecks } from "./openai/calls.ts";
import { chatChecks } from "./openai/chat.ts";
import { clientOf } from "./openai/client.ts";
import { completionChecks } from "./openai/completions.ts";
import { embeddingChecks } from "./openai/embeddings.ts";
import { errorChecks } from "./openai/errors.ts";
import { retryChecks } from "./openai/retries.ts";
import { speechAndModelChecks } from "./openai/speech-and-models.ts";
import { streamChecks } from "./openai/streams.ts";
import { toolChecks } from "./openai/tools.ts";
import { openStage } from "./stage.ts";
import { clientSuite } from "./suite.ts";

setDefaultTimeout(60_000);

clientSuite("openai", (check) => {
  const stage = openStage();
  chatClientChecks(check, stage, clientOf(stage));
  for (const define of [
    chatChecks,
    streamChecks,
    toolChecks,
    completionChecks,
    embeddingChecks,
    speechAndModelChecks,
    callChecks,
    errorChecks,
    retryChecks,
  ])
    define(check, stage);
});
