import { findRouteObstacle } from '../workers/agents/index.ts';
import { findPreset } from '../workers/agents/presets/index.ts';
import { suggestName } from './nearest.ts';
import type { ConfigFinding } from './problems.ts';
import type { Config } from './schema.ts';
import { listSecrets } from './secrets.ts';

/** Checks keys against each other: errors stop the load, warnings are only reported. */
export function crossCheckConfig(config: Config): { errors: ConfigFinding[]; warnings: ConfigFinding[] } {
  const warnings: ConfigFinding[] = checkSharedSecrets(config);
  return {
    errors: [...checkAgents(config), ...checkTemplates(config, warnings), ...checkPeople(config, warnings)],
    warnings,
  };
}

function checkAgents({
  agents: { cmds, interactive, acp, transport, auth, notify, default_preset },
}: Config): ConfigFinding[] {
  const found: ConfigFinding[] = [];
  const known = [...new Set([...Object.keys(cmds), ...Object.keys(interactive), ...Object.keys(acp)])];
  for (const [section, map] of Object.entries({ transport, auth, notify })) {
    for (const preset of Object.keys(map)) {
      if (known.includes(preset)) continue;
      found.push({
        path: ['agents', section, preset],
        key: true,
        message: sayUnknown('preset', preset, known),
      });
    }
  }
  for (const [preset, way] of Object.entries(transport)) {
    if (way !== 'acp' || Object.hasOwn(acp, preset) || !known.includes(preset)) continue;
    found.push({
      path: ['agents', 'transport', preset],
      message: `transport acp needs an entry agents.acp.${preset}`,
    });
  }
  for (const preset of known) {
    const isSet = Object.hasOwn(auth, preset);
    if ((isSet ? auth[preset] : findPreset(preset)?.auth) !== 'gateway') continue;
    const template = transport[preset] === 'acp' ? acp[preset] : cmds[preset];
    const why =
      template === undefined
        ? (findPreset(preset)?.cannot.gateway ?? null)
        : findRouteObstacle(template, preset);
    if (why === null) continue;
    found.push({
      path: ['agents', isSet ? 'auth' : 'cmds', preset],
      message: `gateway_unroutable: ${preset} cannot be routed through the gateway, because ${why}; use account`,
    });
  }
  const unknown =
    default_preset !== '' && explainUnrunnable(default_preset, { cmds, transport, interactive });
  if (unknown) found.push({ path: ['agents', 'default_preset'], message: unknown });
  return found;
}

/** Says what the name could mean, otherwise which names there are. */
const sayUnknown = (what: string, name: string, known: readonly string[]): string =>
  `unknown ${what}${suggestName(name, known) || `; known: ${known.join(', ')}`}`;

type Presets = Pick<Config['agents'], 'cmds' | 'transport' | 'interactive'>;

/** Returns why a preset cannot run a task, or nothing. */
function explainUnrunnable(preset: string, { cmds, transport, interactive }: Presets): string | undefined {
  if (Object.hasOwn(cmds, preset) || (Object.hasOwn(transport, preset) && transport[preset] === 'acp'))
    return undefined;
  return Object.hasOwn(interactive, preset)
    ? `${preset} only runs interactively; give it a command in agents.cmds or choose another preset`
    : sayUnknown('preset', preset, Object.keys(cmds));
}

/** Commands of /chat, so a template of that name cannot be reached there. */
const CHAT_WORDS = ['approve', 'deny', 'status'];

function checkTemplates(config: Config, warnings: ConfigFinding[]): ConfigFinding[] {
  const found: ConfigFinding[] = [];
  const projects = [config.project.name, ...config.projects.map(({ id }) => id)];
  for (const [name, { agent, prompt, project }] of Object.entries(config.webhook.templates)) {
    const path = ['webhook', 'templates', name];
    if (agent === undefined && prompt === undefined) {
      found.push({ path, message: 'a template needs an agent or a prompt' });
    }
    const wrong = agent !== undefined && explainUnrunnable(agent, config.agents);
    if (wrong) found.push({ path: [...path, 'agent'], message: wrong });
    if (project !== undefined && !projects.includes(project)) {
      found.push({ path: [...path, 'project'], message: sayUnknown('project', project, projects) });
    }
    if (CHAT_WORDS.includes(name)) {
      warnings.push({
        path,
        key: true,
        message: `/chat uses ${name} as a command, so it can never start this template`,
      });
    }
  }
  return found;
}

/** Checks that the secrets of a map differ, because it is useless otherwise. */
function checkSharedSecrets({ webhook: { secret_env } }: Config): ConfigFinding[] {
  if (typeof secret_env === 'string') return [];
  const named = listSecrets(secret_env);
  return named.flatMap(({ route, names }, at) => {
    const other = named.slice(0, at).find((each) => each.names.some((name) => names.includes(name)));
    if (other === undefined) return [];
    const message = `shares a variable with ${other.route}: a sender for one can sign for the other`;
    return [{ path: ['webhook', 'secret_env', String(route)], message }];
  });
}

function checkPeople({ policy, projects, ai }: Config, warnings: ConfigFinding[]): ConfigFinding[] {
  const found: ConfigFinding[] = [];
  if (policy.mode === 'allowlist' && policy.actors.length === 0) {
    found.push({
      path: ['policy', 'actors'],
      message: 'policy.mode allowlist without an actor would refuse everyone',
    });
  }
  if (policy.mode !== 'allowlist' && policy.actors.some((actor) => !/^(?:chat|codehost):/.test(actor))) {
    warnings.push({
      path: ['policy', 'actors'],
      message: 'applies only to the chat and the code host until policy.mode is allowlist',
    });
  }
  found.push(...findRepeated(['projects'], 'id', projects));
  found.push(...findRepeated(['ai', 'providers'], 'name', ai.providers), ...checkProviderNames(ai));
  ai.providers.forEach((provider, at) => {
    if (provider.api_key === '') return;
    warnings.push({
      path: ['ai', 'providers', at, 'api_key'],
      message: 'a key in a file is easily shared; use api_key_env',
    });
  });
  if (ai.passthrough.anthropic.api_key !== '') {
    warnings.push({
      path: ['ai', 'passthrough', 'anthropic', 'api_key'],
      message: 'a key in a file is easily shared; use api_key_env',
    });
  }
  return found;
}

/** Checks names of providers, by which usage, health and routes are distinguished. */
function checkProviderNames({ providers, ollama, passthrough }: Config['ai']): ConfigFinding[] {
  const taken = new Map<string, string>();
  if (ollama.host !== '') taken.set('ollama', 'ai.ollama.host');
  if (passthrough.anthropic.base_url !== '') taken.set('anthropic', 'ai.passthrough.anthropic');
  return providers.flatMap(({ name, enabled }, at) => {
    const key = enabled === false ? undefined : taken.get(name);
    if (key === undefined) return [];
    const message = `is also the name of the provider that ${key} sets; choose another, or remove one of the two`;
    return [{ path: ['ai', 'providers', at, 'name'], message }];
  });
}

function findRepeated<N extends string>(
  path: string[],
  name: N,
  entries: readonly Record<N, string>[],
): ConfigFinding[] {
  return entries.flatMap((entry, at) => {
    const first = entries.findIndex((other) => other[name] === entry[name]);
    return first === at
      ? []
      : [{ path: [...path, at, name], message: `repeats ${path.join('.')}[${first}].${name}` }];
  });
}
