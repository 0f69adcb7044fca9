import { HEADLESS, PRESETS } from '../workers/agents/presets/index.ts';

/** Lists the agents that can run on other machines, and where each keeps its login, relative to the home folder. */
export const listFleetAgents = (): { name: string; program: string; loginFiles: readonly string[] }[] =>
  PRESETS.filter(({ name }) => HEADLESS[name] !== undefined).map(({ name, programs, home }) => ({
    name,
    program: programs[0] ?? name,
    loginFiles: home?.login ?? [],
  }));
