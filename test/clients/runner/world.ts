import { join } from "node:path";
import { startEngineHome } from "../../setup/engine-home.ts";
import { standardManifest, startTestGateway } from "../../setup/harness.ts";
import { createAnswers, limitedMs, speechSeconds } from "./answers.ts";
import { startObserver } from "./observer.ts";

const manifest = `${standardManifest}
  svc-transcribe: { endpoint: transcription, price: { audio_second: "0.0001" }, routes: [{ provider: fake, model: upstream-transcribe }] }
`;

/**
 * What the programs run against: a gateway in front of recorded bytes, one in front of the embedded
 * models, and the observer.
 */
export async function startWorld() {
  const engine = await startEngineHome({ sets: ["text", "chat", "speech"] });
  const gateway = await startTestGateway({ manifest });
  const answers = createAnswers();
  gateway.upstream.replyWith(answers.replyTo);
  const observer = startObserver(gateway.upstream, answers);
  const narrow = await gateway.server.operations.keys.create({
    account: gateway.account,
    models: ["svc-embedding-2"],
  });
  return {
    environment: {
      SVC_BASE_URL: gateway.baseUrl,
      SVC_API_KEY: gateway.key,
      SVC_NARROW_KEY: narrow.key,
      SVC_ENGINE_URL: engine.server.baseUrl,
      SVC_ENGINE_KEY: engine.server.key ?? "",
      SVC_OBSERVER_URL: observer.url,
      SVC_MEDIA_DIR: join(import.meta.dir, "..", "..", "fixtures", "media"),
      SVC_LIMITED_MS: String(limitedMs),
      SVC_SPEECH_SECONDS: String(speechSeconds),
    },
    async stop() {
      await observer.stop();
      await gateway.stop();
      await engine.stop();
    },
  };
}
