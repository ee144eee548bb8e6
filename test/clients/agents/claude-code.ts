import { badRequests } from "../../fake/recordings.ts";
import type { Agent } from "./agent.ts";
import { anthropic } from "./vendors/anthropic.ts";
import { compatibleServer } from "./vendors/compatible-server.ts";
import { gemini } from "./vendors/gemini.ts";
import { openaiForOthers } from "./vendors/openai-responses.ts";

export const claudeCode: Agent = {
  client: "@anthropic-ai/claude-code",
  dialect: "messages",
  connect: { tool: "claude-code", file: "settings.json" },
  scenarios: [
    // With names that it does not know, it sends system messages in mid-conversation.
    { vendor: compatibleServer, model: "local-coder" },
    { vendor: gemini, model: "gemini-3-flash" },
    { vendor: openaiForOthers, model: "gpt-5.5" },
    { vendor: anthropic, model: "claude-sonnet-4-5", remark: "a budget for thinking" },
    { vendor: anthropic, model: "claude-opus-4-6", remark: "adaptive thinking" },
    {
      vendor: compatibleServer,
      model: "local-coder",
      remark: "context full",
      full: badRequests.llamaContextTooLong,
    },
    {
      vendor: anthropic,
      model: "claude-sonnet-4-5",
      remark: "context full",
      full: badRequests.anthropicTooLong,
    },
  ],
  tools: () => ({
    read: (path) => ({ name: "Read", arguments: { file_path: path } }),
    edit: (path) => ({
      name: "Edit",
      arguments: { file_path: path, old_string: "world", new_string: "moon" },
    }),
    run: (command) => ({ name: "Bash", arguments: { command, description: "Run it" } }),
  }),
  start: ({ key, prompt, home }) => ({
    words: [
      "claude",
      "-p",
      prompt,
      "--output-format",
      "json",
      "--permission-mode",
      "acceptEdits",
      "--allowedTools",
      "Bash",
      "Read",
      "Edit",
    ],
    environment: {
      CLAUDE_CONFIG_DIR: home,
      SVC_API_KEY: key,
      CLAUDE_CODE_MAX_RETRIES: "0",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_TELEMETRY: "1",
    },
  }),
  read: (stdout) => {
    const { result, usage } = JSON.parse(stdout);
    return {
      lastWords: String(result),
      usage: {
        // In this dialect the input leaves out what came from the cache.
        input: usage.input_tokens + usage.cache_read_input_tokens,
        cached: usage.cache_read_input_tokens,
        output: usage.output_tokens,
      },
    };
  },
};
