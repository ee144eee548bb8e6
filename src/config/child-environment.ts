export type Environment = Readonly<Record<string, string | undefined>>;

/** What a process needs of the machine, whatever it does. */
const machine = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TMPDIR",
  "TMP",
  "TEMP",
  "TZ",
  "LANG",
  "LANGUAGE",
  "TERM",
  "NO_COLOR",
  "FORCE_COLOR",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_RUNTIME_DIR",
  "LD_LIBRARY_PATH",
  "DYLD_LIBRARY_PATH",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  "NODE_OPTIONS",
  "NODE_ENV",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
];
/** The settings that the engine reads. */
const engine = [
  "SVC_CONFIG",
  "SVC_DATA_DIR",
  "SVC_CACHE_DIR",
  "SVC_LOG_LEVEL",
  "SVC_ENGINE",
  "SVC_ENGINE_IDLE_S",
  "SVC_ENGINE_QUEUE",
];
/** How the libraries behind the models are tuned: threads, memory, graphics cards. */
const tuning =
  /^(LC|BUN|OMP|KMP|MKL|OPENBLAS|BLIS|GGML|LLAMA|ORT|CUDA|NVIDIA|HIP|HSA|ROCM|ROCR|VK|MALLOC)_/;
const npm = /^(npm_config_|npm_(execpath|node_execpath)$|(npm|node_auth)_token$)/i;
/** Some vendors' keys begin like the names above. */
const secret = /key|token|secret|password|passwd|credential|auth/i;

/**
 * The variables that a process of ours is started with. The engine runs native libraries and
 * packages of third parties: it gets what it needs by name, and never the master secret, a
 * vendor's key or the address of a database. An installer also gets npm's settings, with the
 * tokens of a registry; a command that prints a key and an export get none of our settings.
 */
export function childEnvironment(
  environment: Environment,
  purpose: "engine" | "installer" | "command",
): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    const isPassed =
      isOfMachine(name) ||
      (purpose !== "command" && engine.includes(name)) ||
      (tuning.test(name) && !secret.test(name)) ||
      (purpose === "installer" && npm.test(name));
    if (isPassed && value !== undefined) passed[name] = value;
  }
  return passed;
}

const isOfMachine = (name: string) =>
  machine.includes(name) || /^(https?|all|no)_proxy$/.test(name);
