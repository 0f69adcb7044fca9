import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SvcError } from '../../../core/base/errors.ts';
import { isJsonObject } from '../../../core/base/json-object.ts';
import { findRouteLimits, type ModelLimits } from '../../../core/models/index.ts';
import { createOpencodeReader } from '../streams/opencode.ts';
import { TO_OPENCODE } from './notify.ts';
import { buildOpencodePlugin, OPENCODE_HOOKS } from './opencode-plugin.ts';
import { type GatewayRoute, KEY_VARIABLE, type Preset, type RunSetup, withArguments } from './preset.ts';

export const opencode: Preset = {
  name: 'opencode',
  programs: ['opencode'],
  // Words with spaces get its own quotes on the way to the model; text that it reads is exact.
  headless: 'opencode run --format json --auto --title={{name}} < {{prompt_file}}',
  headlessLong: null,
  unasked: ['--auto'],
  interactive: 'opencode --hostname 127.0.0.1 --port {{notify_port}}',
  acp: 'opencode acp',
  notify: TO_OPENCODE,
  reader: createOpencodeReader,
  resume: (argv, id) => withArguments(argv, [`--session=${id}`]),
  resumeInteractive: (argv, id) => withArguments(argv, [`--session=${id}`]),
  hooks: OPENCODE_HOOKS,
  setUpRun({ mcp, gateway, hooks, folder, env }) {
    const files: RunSetup['files'] = [];
    const more: Record<string, string> = {};
    const parts: Config[] = [];
    if (mcp !== null) {
      const { command, args, env: environment } = mcp;
      parts.push({
        mcp: { svc: { type: 'local', command: [command, ...args], environment, enabled: true } },
      });
    }
    if (gateway !== null || hooks !== null) {
      const path = join(folder, 'opencode-plugin.mjs');
      files.push({ path, text: buildOpencodePlugin(hooks) });
      parts.push({ plugin: [pathToFileURL(path).href], autoupdate: false, share: 'disabled' });
      more.OPENCODE_DISABLE_AUTOUPDATE = '1';
    }
    if (gateway !== null) {
      parts.push(buildOpencodeRoute(gateway, readPresent(env.OPENCODE_CONFIG_CONTENT)));
      more[KEY_VARIABLE] = gateway.key;
      // Its list of models and prices is useless to a route, and is fetched from elsewhere.
      more.OPENCODE_DISABLE_MODELS_FETCH = '1';
    }
    if (parts.length === 0) return { args: [], env: {}, files: [] };
    const config = parts.reduce(mergeConfig, readPresent(env.OPENCODE_CONFIG_CONTENT));
    return { args: [], env: { ...more, OPENCODE_CONFIG_CONTENT: JSON.stringify(config) }, files };
  },
  auth: 'account',
  home: {
    own: ['.config/opencode', '.local/share/opencode', '.local/state/opencode', '.cache/opencode'],
    copied: [],
    login: ['.local/share/opencode/auth.json', '.local/share/opencode/mcp-auth.json'],
    settings: [
      'opencode.json',
      'opencode.jsonc',
      'config.json',
      'AGENTS.md',
      'agent',
      'command',
      'plugin',
      'skill',
    ].map((name) => `.config/opencode/${name}`),
  },
  cannot: {},
};

type Config = Record<string, unknown>;

/** A route names no model: use the person's choice, requested at the gateway, otherwise `svc`. */
function buildOpencodeRoute(
  { url, models }: GatewayRoute,
  { model: chosen, small_model: chosenSmall }: Config,
): Config {
  const keepModel = (value: unknown): string =>
    typeof value === 'string' && value !== '' ? trimProvider(value) : 'svc';
  const model = keepModel(chosen);
  const small = typeof chosenSmall === 'string' ? keepModel(chosenSmall) : model;
  return {
    model: `svc/${model}`,
    small_model: `svc/${small}`,
    provider: {
      svc: {
        npm: '@ai-sdk/openai-compatible',
        name: 'svc',
        options: { baseURL: `${url}/v1`, apiKey: `{env:${KEY_VARIABLE}}` },
        models: Object.fromEntries(
          [model, small].map((name) => [name, describeLimits(findRouteLimits(models, name))]),
        ),
      },
    },
  };
}

const MOST_OUTPUT = 32_000;

/** Without a window it never compacts. It requires both numbers, and reserves the size of an answer in the window. */
const describeLimits = ({ context, output }: ModelLimits): Config =>
  context === null
    ? {}
    : { limit: { context, output: output ?? Math.min(MOST_OUTPUT, Math.floor(context / 4)) } };

/** Without the provider before it. */
const trimProvider = (model: string): string => model.slice(model.indexOf('/') + 1);

/** The variable may already hold the person's own configuration. */
function readPresent(text: string | undefined): Config {
  let config: unknown = {};
  try {
    if (text) config = JSON.parse(text);
  } catch {
    config = null;
  }
  const isFit =
    isJsonObject(config) &&
    ['mcp', 'provider'].every((key) => config[key] === undefined || isJsonObject(config[key])) &&
    (config.plugin === undefined || Array.isArray(config.plugin));
  if (isFit) return config as Config;
  throw new SvcError(
    'config_invalid',
    'OPENCODE_CONFIG_CONTENT is set to something that is not a JSON configuration',
    { hint: 'unset it, or correct it' },
  );
}

/** Merges configuration: lists and objects are joined one level deep; otherwise the later one wins. */
function mergeConfig(config: Config, part: Config): Config {
  const all = { ...config };
  for (const [key, value] of Object.entries(part)) {
    const before = all[key];
    if (Array.isArray(before) && Array.isArray(value)) all[key] = [...before, ...value];
    else if (isJsonObject(before) && isJsonObject(value)) all[key] = { ...before, ...value };
    else all[key] = value;
  }
  return all;
}
