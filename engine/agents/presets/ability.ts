import type { Preset, RunWish } from './preset.ts';

/** In words: `only with the gateway` where its own login would be hidden. */
type Told = 'yes' | 'with the gateway' | '';

/** What svc can do with an agent, as docs/presets.md shows it. */
export interface Ability {
  headless: boolean;
  interactive: boolean;
  acp: boolean;
  gateway: boolean;
  mcp: Told;
  hooks: Told;
  resume: boolean;
  usage: boolean;
}

const LINE = { command: 'svc', args: [] };
const NOTHING: RunWish = { mcp: null, gateway: null, hooks: null, folder: '/', env: {} };
const PARTS = {
  mcp: { mcp: { ...LINE, env: {} } },
  hooks: {
    hooks: { 'pre-write': LINE, 'post-tool': LINE, 'pre-compact': LINE, 'session-start': LINE },
  },
};
const ROUTED = { gateway: { url: 'http://127.0.0.1', key: '' } };

/** Whether configuring a part changes the run's setup. */
const makesDifference = (preset: Preset, part: keyof typeof PARTS, base: RunWish): boolean =>
  JSON.stringify(preset.setUpRun(base)) !== JSON.stringify(preset.setUpRun({ ...base, ...PARTS[part] }));

function findAnswer(preset: Preset, part: keyof typeof PARTS): Told {
  if (makesDifference(preset, part, NOTHING)) return 'yes';
  const canRoute = preset.cannot.gateway === undefined;
  return canRoute && makesDifference(preset, part, { ...NOTHING, ...ROUTED }) ? 'with the gateway' : '';
}

export const describeAbility = (preset: Preset): Ability => ({
  headless: preset.headless !== null,
  interactive: true,
  acp: preset.acp !== null,
  gateway: preset.cannot.gateway === undefined,
  mcp: findAnswer(preset, 'mcp'),
  hooks: findAnswer(preset, 'hooks'),
  resume: preset.resume !== null,
  usage: preset.reader !== null && preset.cannot.usage === undefined,
});
