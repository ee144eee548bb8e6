import { fromVariable, keyVariable, setKey, type Target, type Tool } from "../tool.ts";

const cursor: Tool = {
  name: "cursor",
  title: "Cursor",
  dialect: "chat",
  holdsKey: false,
  connect: ({ baseUrl, model }) => ({
    steps: [
      "Open Cursor Settings, Models, API Keys.",
      "Turn on OpenAI API Key and paste an API key. svc key create --account NAME creates one.",
      `Turn on Override OpenAI Base URL and enter ${baseUrl}`,
      `Under Models, add the custom model ${model} and select it in the chat.`,
      "Cursor calls the gateway from its own servers, so the address must be reachable from the internet.",
    ],
  }),
};

const continueTool: Tool = {
  name: "continue",
  title: "Continue",
  dialect: "chat",
  holdsKey: true,
  connect: ({ baseUrl, model, key }, { named }) => ({
    file: {
      format: "yaml",
      paths: [named("CONTINUE_GLOBAL_DIR", ".continue", "config.yaml")],
      defaults: { name: "svc", version: "1.0.0", schema: "v1" },
      settings: {},
      entries: [
        {
          path: ["models"],
          by: "name",
          entry: {
            name: `svc ${model}`,
            provider: "openai",
            model,
            apiBase: baseUrl,
            apiKey: key ?? `\${{ secrets.${keyVariable} }}`,
            roles: ["chat", "edit", "apply"],
          },
        },
      ],
    },
    steps: [
      ...(key === undefined
        ? [`Add the line ${keyVariable}=KEY to ~/.continue/.env, with an API key.`]
        : []),
      `Select svc ${model} in the chat.`,
    ],
  }),
};

/** Cline and Roo Code have the same form. */
const inExtension = ({ baseUrl, model }: Target) => ({
  steps: [
    "Open the settings of the extension.",
    "API Provider: OpenAI Compatible",
    `Base URL: ${baseUrl}`,
    "API Key: an API key. svc key create --account NAME creates one.",
    `Model ID: ${model}`,
  ],
});

const cline: Tool = {
  name: "cline",
  title: "Cline",
  dialect: "chat",
  holdsKey: false,
  connect: inExtension,
};

const roo: Tool = {
  name: "roo",
  title: "Roo Code",
  dialect: "chat",
  holdsKey: false,
  connect: inExtension,
};

const zed: Tool = {
  name: "zed",
  title: "Zed",
  dialect: "chat",
  holdsKey: false,
  connect: ({ baseUrl, model, contextTokens }, { named }) => ({
    file: {
      format: "json",
      paths: [named("XDG_CONFIG_HOME", ".config", "zed/settings.json")],
      settings: { language_models: { openai_compatible: { svc: { api_url: baseUrl } } } },
      entries: [
        {
          path: ["language_models", "openai_compatible", "svc", "available_models"],
          by: "name",
          entry: { name: model, display_name: model, max_tokens: contextTokens ?? 128_000 },
        },
      ],
    },
    steps: [
      // Zed makes the name of the variable out of the provider's.
      `${setKey} Or enter the key in Zed: agent: open settings, LLM Providers, svc.`,
      ...(contextTokens === undefined
        ? ["max_tokens is the size of the context. Change it to that of your model."]
        : []),
      `Select ${model} in the agent panel.`,
    ],
  }),
};

const openWebui: Tool = {
  name: "open-webui",
  title: "Open WebUI",
  dialect: "chat",
  holdsKey: false,
  connect: ({ baseUrl, model }) => ({
    environment: { OPENAI_API_BASE_URL: baseUrl, OPENAI_API_KEY: fromVariable },
    steps: [
      setKey,
      "Start Open WebUI with these variables. It reads them at its first start and then keeps its own settings: change those in Admin Panel, Settings, Connections.",
      `Select ${model} in the chat.`,
    ],
  }),
};

const librechat: Tool = {
  name: "librechat",
  title: "LibreChat",
  dialect: "chat",
  holdsKey: true,
  connect: ({ baseUrl, model, key }) => ({
    file: {
      format: "yaml",
      paths: ["librechat.yaml"],
      defaults: { version: "1.3.17" },
      settings: {},
      entries: [
        {
          path: ["endpoints", "custom"],
          by: "name",
          entry: {
            name: "svc",
            apiKey: key ?? `\${${keyVariable}}`,
            baseURL: baseUrl,
            models: { default: [model], fetch: true },
            titleConvo: true,
            titleModel: model,
            modelDisplayLabel: "svc",
          },
        },
      ],
    },
    steps: [
      ...(key === undefined ? [`Add the line ${keyVariable}=KEY to LibreChat's .env file.`] : []),
      "Restart LibreChat. In a container, use an address that it can reach.",
    ],
  }),
};

export const apps: readonly Tool[] = [cursor, continueTool, cline, roo, zed, openWebui, librechat];
