import type { ModelParts } from "./models.ts";
import { isSame, type RouteDraft } from "./routes.ts";
import type { Remarks, Source } from "./source.ts";

const maxPriority = 100;

/** The routes of the models that LiteLLM falls back to, behind the model's own. */
export function addFallbacks(options: {
  readonly models: ReadonlyMap<string, ModelParts>;
  readonly sections: readonly Source[];
  readonly remarks: Remarks;
}): void {
  const { models, sections, remarks } = options;
  // As they are before any is added: a fallback of a fallback is not one's own.
  const plain = new Map([...models].map(([name, { routes }]) => [name, [...routes]]));
  const extend = (name: string, others: readonly string[], line: number) => {
    const model = models.get(name);
    if (model === undefined)
      return remarks.note(line, `fallbacks of ${name}: there is no such model`);
    for (const other of others.filter((one) => one !== name)) {
      const behind = models.get(other);
      const routes = plain.get(other);
      if (behind === undefined || routes === undefined)
        remarks.note(line, `fallback of ${name} to ${other}: there is no such model`);
      else if (behind.endpoint !== model.endpoint || behind.input !== model.input)
        remarks.note(line, `fallback of ${name} to ${other}: it is for ${behind.endpoint}`);
      else {
        append(model.routes, routes);
        remarks.note(
          line,
          `fallback of ${name} to ${other}: its routes stand behind those of ${name}, whose price and name stay`,
        );
      }
    }
  };
  for (const section of sections) {
    for (const item of section.items("fallbacks"))
      for (const name of item.names()) {
        const others = item.texts(name);
        if (name === "*") for (const each of models.keys()) extend(each, others, item.line(name));
        else extend(name, others, item.line(name));
        if (item.items(name).some((one) => one.names().length > 0))
          remarks.note(
            item.line(name),
            `fallbacks of ${name}: those with fields of their own are not taken over`,
          );
      }
    const general = section.texts("default_fallbacks");
    if (general.length > 0)
      for (const each of models.keys()) extend(each, general, section.line("default_fallbacks"));
  }
}

function append(routes: RouteDraft[], more: readonly RouteDraft[]): void {
  const last = Math.max(0, ...routes.map(({ priority = 1 }) => priority));
  for (const route of more) {
    const priority = Math.min(maxPriority, last + (route.priority ?? 1));
    if (!routes.some((one) => isSame(one, route))) routes.push({ ...route, priority });
  }
}

/** Another name for a model is a model of its own here, with the same routes and price. */
export function addAliases(options: {
  readonly models: Map<string, ModelParts>;
  readonly aliases: Source;
  readonly remarks: Remarks;
}): void {
  const { models, aliases, remarks } = options;
  for (const alias of aliases.names()) {
    const item = aliases.inner(alias);
    const target = aliases.text(alias) ?? item.text("model") ?? "";
    const line = aliases.line(alias);
    const found = models.get(target);
    if (models.has(alias)) remarks.note(line, `alias ${alias}: there is a model of that name`);
    else if (found === undefined) remarks.note(line, `alias ${alias}: there is no model ${target}`);
    else {
      models.set(alias, { ...found, line, routes: [...found.routes] });
      const hidden = item.text("hidden")?.toLowerCase() === "true";
      remarks.note(
        line,
        `alias ${alias} is a model of its own, with the routes and the price of ${target}${hidden ? "; it is listed, though LiteLLM hid it" : ""}`,
      );
    }
  }
}

const retries = "targets are tried again, and taken out while they fail, without being told";
const observed = "every call leaves a receipt: svc receipt list, svc report margin";
const budgets = "budgets stand on keys and accounts here: svc key create --budget";

/** What people should know of a setting that is not taken over. */
const explanations: Readonly<Record<string, string>> = {
  master_key: "keys are made here: svc key create",
  database_url: "this gateway keeps its own data: see SVC_DATA_DIR",
  success_callback: observed,
  failure_callback: observed,
  callbacks: observed,
  service_callback: observed,
  num_retries: retries,
  allowed_fails: retries,
  cooldown_time: retries,
  retry_policy: retries,
  max_retries: retries,
  retry_after: retries,
  max_budget: budgets,
  budget_duration: budgets,
  max_user_budget: budgets,
  max_internal_user_budget: budgets,
  routing_strategy: "priority and weight of the routes decide",
  drop_params: "fields that a model does not know never fail a request here",
  set_verbose: "see SVC_LOG_LEVEL",
  json_logs: "logs are JSON unless they go to a terminal",
  cache: "answers are not cached",
  cache_params: "answers are not cached",
  context_window_fallbacks: "a request that is too long for a model is refused",
  content_policy_fallbacks: "a request that a vendor's filter refuses is refused",
  default_team_settings: "accounts and keys take the place of teams",
  store_model_in_db: "models that LiteLLM keeps in its database are not in the file",
};

/** One line for each setting that nobody has read. Values are not told: they may be secrets. */
export function noteSettings(root: Source, remarks: Remarks): void {
  for (const name of ["litellm_settings", "router_settings", "general_settings"]) {
    const section = root.inner(name);
    for (const field of section.unused()) {
      const why = Object.hasOwn(explanations, field) ? explanations[field] : undefined;
      remarks.note(
        section.line(field),
        `${name}.${field} is not taken over${why === undefined ? "" : `: ${why}`}`,
      );
    }
  }
  const variables = root.inner("environment_variables").names();
  if (variables.length > 0)
    remarks.note(
      root.line("environment_variables"),
      `environment_variables are not taken over: set them where the gateway runs (${variables.join(", ")})`,
    );
  if (root.has("include"))
    remarks.note(root.line("include"), "include: the files named there are not read: import each");
  for (const name of root.unused()) remarks.note(root.line(name), `${name} is not taken over`);
}
