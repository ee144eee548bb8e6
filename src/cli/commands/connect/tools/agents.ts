import { fromVariable, keyVariable, setKey, type Tool } from "../tool.ts";

const claudeCode: Tool = {
  name: "claude-code",
  title: "Claude Code",
  dialect: "messages",
  holdsKey: true,
  connect: ({ rootUrl, model, contextTokens, key }, { named }) => ({
    file: {
      format: "json",
      paths: [named("CLAUDE_CONFIG_DIR", ".claude", "settings.json")],
      settings: {
        ...(key === undefined ? { apiKeyHelper: `printenv ${keyVariable}` } : {}),
        env: {
          ANTHROPIC_BASE_URL: rootUrl,
          ...(key === undefined ? {} : { ANTHROPIC_AUTH_TOKEN: key }),
          ANTHROPIC_MODEL: model,
          // Names such as opus and haiku are used for tasks in the background, too.
          ANTHROPIC_DEFAULT_OPUS_MODEL: model,
          ANTHROPIC_DEFAULT_SONNET_MODEL: model,
          ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
          ...(contextTokens === undefined
            ? {}
            : { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(contextTokens) }),
        },
      },
      rivals: [
        ["env", "ANTHROPIC_API_KEY"],
        key === undefined ? ["env", "ANTHROPIC_AUTH_TOKEN"] : ["apiKeyHelper"],
      ],
    },
    steps: [
      ...(key === undefined ? [setKey] : []),
      "Unset ANTHROPIC_API_KEY and ANTHROPIC_AUTH_TOKEN in your shell.",
      "Run claude. /status shows the address and the model.",
    ],
  }),
};

const codex: Tool = {
  name: "codex",
  title: "Codex",
  dialect: "responses",
  holdsKey: false,
  connect: ({ baseUrl, model, contextTokens }, { named }) => ({
    file: {
      format: "toml",
      paths: [named("CODEX_HOME", ".codex", "config.toml")],
      settings: {
        model,
        model_provider: "svc",
        // For models that it does not know, it assumes 272,000 tokens, and compacts too late.
        ...(contextTokens === undefined ? {} : { model_context_window: contextTokens }),
        // It is on by default, and the gateway rejects tools that a vendor bills apart from tokens.
        web_search: "disabled",
        model_providers: {
          svc: { name: "svc", base_url: baseUrl, env_key: keyVariable, wire_api: "responses" },
        },
      },
    },
    steps: [setKey, "Run codex."],
  }),
};

const opencode: Tool = {
  name: "opencode",
  title: "OpenCode",
  dialect: "chat",
  holdsKey: true,
  connect: ({ baseUrl, model, key }, { named }) => ({
    file: {
      format: "json",
      paths: [
        named("XDG_CONFIG_HOME", ".config", "opencode/opencode.json"),
        named("XDG_CONFIG_HOME", ".config", "opencode/opencode.jsonc"),
      ],
      defaults: { $schema: "https://opencode.ai/config.json" },
      settings: {
        model: `svc/${model}`,
        provider: {
          svc: {
            npm: "@ai-sdk/openai-compatible",
            name: "svc",
            options: { baseURL: baseUrl, apiKey: key ?? `{env:${keyVariable}}` },
            models: { [model]: { name: model } },
          },
        },
      },
    },
    steps: [...(key === undefined ? [setKey] : []), "Run opencode."],
  }),
};

const aider: Tool = {
  name: "aider",
  title: "Aider",
  dialect: "chat",
  holdsKey: true,
  connect: ({ baseUrl, model, key }, { home }) => ({
    file: {
      format: "yaml",
      paths: [home(".aider.conf.yml")],
      settings: {
        model: `openai/${model}`,
        "openai-api-base": baseUrl,
        ...(key === undefined ? {} : { "openai-api-key": key }),
      },
      rivals: key === undefined ? [["openai-api-key"]] : [],
    },
    ...(key === undefined ? { environment: { OPENAI_API_KEY: fromVariable } } : {}),
    steps: [...(key === undefined ? [setKey] : []), "Run aider in your project."],
  }),
};

const llm: Tool = {
  name: "llm",
  title: "llm (Python)",
  dialect: "chat",
  holdsKey: false,
  connect: ({ baseUrl, model }, { named, isMac }) => ({
    file: {
      format: "yaml",
      paths: [
        named(
          "LLM_USER_PATH",
          isMac ? "Library/Application Support/io.datasette.llm" : ".config/io.datasette.llm",
          "extra-openai-models.yaml",
        ),
      ],
      settings: {},
      entries: [
        {
          path: [],
          by: "model_id",
          entry: {
            model_id: `svc/${model}`,
            model_name: model,
            api_base: baseUrl,
            api_key_name: "svc",
          },
        },
      ],
    },
    steps: [
      setKey,
      `Store the key: llm keys set svc --value "$${keyVariable}"`,
      `Try it: llm -m svc/${model} "Hello"`,
    ],
  }),
};

export const agents: readonly Tool[] = [claudeCode, codex, opencode, aider, llm];
