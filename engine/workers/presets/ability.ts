import type { Preset } from './preset.ts';

/** What svc can do with an agent, as docs/presets.md shows it. */
export interface Ability {
  headless: boolean;
  interactive: boolean;
  acp: boolean;
  gateway: boolean;
  mcp: boolean;
  hooks: boolean;
  resume: boolean;
  usage: boolean;
}

/** Programs that tell of no tokens in what they print. */
const SILENT = ['copilot', 'cursor', 'droid', 'kimi'];

export const abilityOf = ({ name, headless, acp, cannot, resume, reader }: Preset): Ability => ({
  headless: headless !== null,
  interactive: true,
  acp: acp !== null,
  gateway: cannot.gateway === undefined,
  mcp: cannot.mcp === undefined,
  hooks: cannot.hooks === undefined,
  resume: resume !== null,
  usage: reader !== null && !SILENT.includes(name),
});
