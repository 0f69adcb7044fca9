import { HEADLESS, PRESETS } from '../workers/agents/presets/index.ts';

/** Lists the agents that can run on other machines, and where each keeps its login, relative to the home folder. */
export const listFleetAgents = (): { name: string; program: string; loginFiles: readonly string[] }[] =>
  PRESETS.filter(({ name }) => HEADLESS[name] !== undefined).map(({ name, programs, home }) => ({
    name,
    program: programs[0] ?? name,
    loginFiles: home?.login ?? [],
  }));

/** Lists the agents of a machine in a sentence: `claude 2.1.0, codex (not logged in)`; `none` without one. */
export const describeMachineAgents = (
  agents: readonly { name: string; version?: string | null; logged_in: boolean | null }[],
): string =>
  agents
    .map(
      ({ name, version = null, logged_in: isLoggedIn }) =>
        `${name}${version === null ? '' : ` ${version}`}${isLoggedIn === false ? ' (not logged in)' : ''}`,
    )
    .join(', ') || 'none';
