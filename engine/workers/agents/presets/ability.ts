import type { Preset, RunWish } from './preset.ts';

/** As text: `only with the gateway` if its own login would be hidden. */
type Told = 'yes' | 'with the gateway' | '';

/** An agent's abilities with svc, as docs/extend/presets.md shows them. */
export interface AgentAbility {
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

interface AbilityOptions {
  /** True if its command takes options; see `locateAgent`. */
  takesOptions?: boolean;
}

/** Reports whether configuring a part changes the run's setup. */
function makesDifference(
  preset: Preset,
  part: keyof typeof PARTS,
  base: RunWish,
  { takesOptions = true }: AbilityOptions,
): boolean {
  const describeSetup = (wish: RunWish): string => {
    const { args, env, files } = preset.setUpRun(wish);
    if (takesOptions) return JSON.stringify({ args, env, files });
    const isNamed = (path: string): boolean =>
      Object.values(env).some((value) => value !== '' && path.startsWith(value));
    return JSON.stringify({ env, files: files.filter(({ path }) => isNamed(path)) });
  };
  return describeSetup(base) !== describeSetup({ ...base, ...PARTS[part] });
}

function findAnswer(preset: Preset, part: keyof typeof PARTS, options: AbilityOptions): Told {
  if (makesDifference(preset, part, NOTHING, options)) return 'yes';
  const canRoute = preset.cannot.gateway === undefined;
  return canRoute && makesDifference(preset, part, { ...NOTHING, ...ROUTED }, options)
    ? 'with the gateway'
    : '';
}

/** Describes an agent's abilities with svc. */
export const describeAbility = (preset: Preset, options: AbilityOptions = {}): AgentAbility => ({
  headless: preset.headless !== null,
  interactive: true,
  acp: preset.acp !== null,
  gateway: preset.cannot.gateway === undefined,
  mcp: findAnswer(preset, 'mcp', options),
  hooks: findAnswer(preset, 'hooks', options),
  resume: preset.resume !== null,
  usage: preset.reader !== null && preset.cannot.usage === undefined,
});
