import { badRequests } from "../../fake/recordings.ts";
import type { Agent } from "./agent.ts";
import { anthropic } from "./vendors/anthropic.ts";
import { compatibleServer } from "./vendors/compatible-server.ts";
import { gemini } from "./vendors/gemini.ts";
import { openaiResponses } from "./vendors/openai-responses.ts";

/** A name that it knows: it offers `apply_patch` then, a tool for free text. */
const known = "gpt-5.5";

const patch = `*** Begin Patch
*** Update File: note.txt
@@
-hello world
+hello moon
*** End Patch
`;

export const codex: Agent = {
  client: "@openai/codex",
  dialect: "responses",
  connect: { tool: "codex", file: "config.toml" },
  // By default it offers a tool that OpenAI bills apart from tokens, which the gateway refuses.
  setting: 'web_search = "disabled"',
  scenarios: [
    { vendor: compatibleServer, model: "local-coder" },
    { vendor: compatibleServer, model: known, remark: "editing with its own patch tool" },
    { vendor: gemini, model: "gemini-3-flash" },
    { vendor: anthropic, model: "claude-sonnet-4-5" },
    { vendor: openaiResponses, model: known },
    {
      vendor: compatibleServer,
      model: "local-coder",
      remark: "context nearly full",
      full: "counted",
    },
    {
      vendor: compatibleServer,
      model: "local-coder",
      remark: "context full",
      full: badRequests.llamaContextTooLong,
    },
    {
      vendor: openaiResponses,
      model: known,
      remark: "context full",
      full: badRequests.contextTooLong,
    },
  ],
  endsWhenRefused: true,
  tools: (model) => ({
    read: (path) => ({ name: "exec_command", arguments: { cmd: `cat '${path}'` } }),
    edit: (path) =>
      model === known
        ? { name: "apply_patch", arguments: {}, freeText: patch }
        : { name: "exec_command", arguments: { cmd: `printf 'hello moon\\n' > '${path}'` } },
    run: (command) => ({ name: "exec_command", arguments: { cmd: command } }),
  }),
  start: ({ prompt, home, key, isResumed }) => ({
    words: [
      "codex",
      "exec",
      ...(isResumed ? ["resume", "--last"] : []),
      "--skip-git-repo-check",
      // It runs in a folder made for it; its own sandbox needs privileges that containers lack.
      "--dangerously-bypass-approvals-and-sandbox",
      "--json",
      // A failure is to be seen, and nothing else than the gateway is to be called.
      ...[
        "check_for_update_on_startup=false",
        "analytics.enabled=false",
        "model_providers.svc.request_max_retries=0",
        "model_providers.svc.stream_max_retries=0",
      ].flatMap((setting) => ["-c", setting]),
      prompt,
    ],
    environment: { CODEX_HOME: home, SVC_API_KEY: key },
  }),
  read: (stdout) => {
    const events = stdout
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
    const said = events.filter(({ item }) => item?.type === "agent_message");
    const { usage } = events.findLast(({ type }) => type === "turn.completed") ?? {};
    return {
      lastWords: String(said.at(-1)?.item.text),
      usage: {
        input: usage?.input_tokens,
        cached: usage?.cached_input_tokens,
        output: usage?.output_tokens,
        reasoning: usage?.reasoning_output_tokens,
      },
    };
  },
};
