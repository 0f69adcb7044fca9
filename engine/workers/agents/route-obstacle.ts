import { SvcError } from '../../core/base/errors.ts';
import { locateAgent } from './locate-agent.ts';
import type { Preset } from './presets/index.ts';

/** Explains why the model calls of an agent cannot go through the gateway, in words that follow "because"; null if they can. */
export function findRouteObstacle(template: string, agent: string): string | null {
  const { words, started, preset, at } = locateAgent(template, agent);
  const program = words[started.at] ?? words[0] ?? '';
  if (preset === null) return `svc does not know how to route ${program}`;
  if (preset.cannot.gateway !== undefined) return preset.cannot.gateway;
  if (at === null && preset.isRoutedByOptions)
    return `${preset.name} takes its route as options, which cannot be passed to a different program (${program})`;
  if (started.isCleared) return `its command clears the environment, which holds the key of the run`;
  const variables = listRouteVariables(preset);
  const changed = started.changes.find((name) => variables.includes(name));
  return changed === undefined ? null : `its command changes ${changed}, which the route uses`;
}

const listRouteVariables = (preset: Preset): string[] =>
  Object.keys(
    preset.setUpRun({
      mcp: null,
      hooks: null,
      gateway: { url: 'http://127.0.0.1', key: '' },
      folder: '/',
      env: {},
    }).env,
  );

/** Throws `gateway_unroutable` if the model calls of an agent cannot go through the gateway. */
export function checkRoutable(template: string, agent: string): void {
  const why = findRouteObstacle(template, agent);
  if (why !== null) throw unroutableError(agent, why);
}

/** Creates the error for an agent whose model calls cannot go through the gateway. @param why follows "because" */
export const unroutableError = (agent: string, why: string): SvcError =>
  new SvcError('gateway_unroutable', `${agent} cannot be routed through the gateway, because ${why}`, {
    hint: `correct its command in agents.cmds, or set agents.auth.${agent} to account`,
    data: { agent },
  });
